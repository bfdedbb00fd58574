"""Learning: the steps that a function asks for while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from numbers import Real

from tabla.languages.tile.places import here, refuse
from tabla.languages.tile.program import Input, Step
from tabla.languages.tile.tensors import Tensor

_steps: ContextVar[list[Step] | None] = ContextVar("steps", default=None)


@contextmanager
def collecting() -> Iterator[list[Step]]:
    """Collect the steps that are asked for inside the block."""
    steps: list[Step] = []
    token = _steps.set(steps)
    try:
        yield steps
    finally:
        _steps.reset(token)


def update(weights: Tensor, gradient: Tensor, rate: float) -> None:
    """Let `weights`, a parameter of the function that stays on chip, be ``weights - rate * gradient`` after this
    sample.
    """
    steps, node = _steps.get(), weights.node
    if steps is None:
        refuse("a step outside a function that is being compiled")
    if not isinstance(node, Input):
        refuse("only a parameter of the function is updated", "hand the weights in as a tensor")
    if gradient.shape != weights.shape:
        refuse(f"the gradient has shape {gradient.shape}, the weights {weights.shape}")
    if not isinstance(rate, Real):
        refuse("the learning rate is not a number")
    steps.append(Step(weights=node, gradient=gradient.node, rate=Fraction(str(rate)), span=here()))
