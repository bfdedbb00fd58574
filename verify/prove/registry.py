"""All subjects of the proofs, in the order of the documentation."""

from __future__ import annotations

from verify.prove.subject import Subject
from verify.prove.subjects import (
    axi,
    commands,
    controller,
    counters,
    exponential,
    frames,
    functions,
    generator,
    groups,
    interpolation,
    lane,
    loops,
    prediction,
    programs,
    queues,
    quotient,
    replies,
    requests,
    root,
    rounder,
    serial,
    stream,
    tree,
)

SUBJECTS: tuple[Subject, ...] = (
    *rounder.SUBJECTS,
    *lane.SUBJECTS,
    *root.SUBJECTS,
    *tree.SUBJECTS,
    *generator.SUBJECTS,
    *loops.SUBJECTS,
    *queues.SUBJECTS,
    *serial.SUBJECTS,
    *counters.SUBJECTS,
    *controller.SUBJECTS,
    *prediction.SUBJECTS,
    *axi.SUBJECTS,
    *commands.SUBJECTS,
    *programs.SUBJECTS,
    *groups.SUBJECTS,
    *stream.SUBJECTS,
    *frames.SUBJECTS,
    *requests.SUBJECTS,
    *replies.SUBJECTS,
    *quotient.SUBJECTS,
    *functions.SUBJECTS,
    *exponential.SUBJECTS,
    *interpolation.SUBJECTS,
)


def named(name: str) -> Subject:
    """Return the subject of this name."""
    return next(subject for subject in SUBJECTS if subject.name == name)
