"""Every subject is proved. The quickest ones are part of every run of the tests."""

from __future__ import annotations

import pytest

from verify.prove.registry import SUBJECTS
from verify.prove.subject import Speed, Subject


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_the_hardware_is_still_what_the_proof_expects(subject: Subject) -> None:
    """A change of the hardware tells at once, long before the longer proofs are run again."""
    subject.build().rtlil()
    for mutant in subject.mutants:
        assert mutant.source().count(mutant.before) == 1, mutant


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(subject, id=subject.name, marks=[] if subject.speed is Speed.TEST else [pytest.mark.slow])
        for subject in SUBJECTS
    ],
)
def test_proof(subject: Subject) -> None:
    verdict = subject.proved()
    assert verdict.holds, verdict.found
