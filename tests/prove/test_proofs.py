"""Every subject is proved. The quickest ones are part of every run of the tests."""

from __future__ import annotations

import pytest

from tests.prove.registry import SUBJECTS
from tests.prove.subject import Speed, Subject


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
