"""Every mutant is refused by the proof of its subject."""

from __future__ import annotations

from collections import Counter

import pytest

from verify.prove.planted import Mutant
from verify.prove.registry import SUBJECTS
from verify.prove.subject import Subject

PLANTED = [(subject, mutant) for subject in SUBJECTS for mutant in subject.mutants]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("subject", "mutant"), PLANTED, ids=[f"{s.name}-{m.after[:40]}" for s, m in PLANTED])
def test_refused(subject: Subject, mutant: Mutant) -> None:
    verdict = subject.refuted(mutant)
    assert not verdict.holds, f"{mutant} is not refused"


def test_each_group_has_five_mutants() -> None:
    counted = Counter(subject.group for subject, _ in PLANTED)
    assert all(counted[subject.group] >= 5 for subject in SUBJECTS), counted
