"""All subjects of the proofs, in the order of the documentation."""

from __future__ import annotations

from tests.prove.subject import Subject
from tests.prove.subjects import rounder

SUBJECTS: tuple[Subject, ...] = (*rounder.SUBJECTS,)


def named(name: str) -> Subject:
    """Return the subject of this name."""
    return next(subject for subject in SUBJECTS if subject.name == name)
