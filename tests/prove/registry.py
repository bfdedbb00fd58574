"""All subjects of the proofs, in the order of the documentation."""

from __future__ import annotations

from tests.prove.subject import Subject
from tests.prove.subjects import (
    axi,
    controller,
    counters,
    frames,
    functions,
    generator,
    lane,
    loops,
    queues,
    quotient,
    rounder,
    tree,
)

SUBJECTS: tuple[Subject, ...] = (
    *rounder.SUBJECTS,
    *lane.SUBJECTS,
    *tree.SUBJECTS,
    *generator.SUBJECTS,
    *loops.SUBJECTS,
    *queues.SUBJECTS,
    *counters.SUBJECTS,
    *controller.SUBJECTS,
    *axi.SUBJECTS,
    *frames.SUBJECTS,
    *quotient.SUBJECTS,
    *functions.SUBJECTS,
)


def named(name: str) -> Subject:
    """Return the subject of this name."""
    return next(subject for subject in SUBJECTS if subject.name == name)
