"""The losses that programs learn from by their options, and the name of the label that these compare with."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, get_args

from tabla.base.source import TablaValueError

Loss = Literal["cross-entropy", "mse"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
LABEL = "label"
"""The name of the label, which is new in a program that learns by its options."""


def checked_loss(loss: str | None, rate: Fraction | None, what: str) -> tuple[Loss, Fraction]:
    """Return the loss and the learning rate that options give to `what` learns, a model or a program.

    One that is missing or wrong is a `TablaError`.
    """
    if loss is None:
        raise TablaValueError(f"a {what} that learns needs a loss", hint=f"add --loss {' or --loss '.join(LOSSES)}")
    if rate is None:
        raise TablaValueError(f"a {what} that learns needs a learning rate", hint="add --learning-rate 0.01")
    for known in LOSSES:
        if loss == known:
            return known, rate
    raise TablaValueError(f"there is no loss '{loss}'", hint=f"use {' or '.join(LOSSES)}")
