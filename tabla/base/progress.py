"""How far long work is. Whoever works tells it; whoever wants to know listens.

The listener is that of the context and no parameter: work is told of at the bottom, in engines and in the search for a
schedule, and shown at the top, in the command line, and nothing between the two would do anything with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Listener(Protocol):
    """Is told that `done` of `total` things of a stage are done. `total` is None if nobody knows how many there are."""

    def __call__(self, stage: str, done: int, total: int | None, unit: str) -> None: ...


_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have `listener` told of all work until the ``with`` block ends."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell(stage: str, done: int = 0, total: int | None = None, unit: str = "") -> None:
    """Tell the listener, if there is one, how far a stage is. `unit` names one of the things, such as ``sample``."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(stage, done, total, unit)


def step(stage: str) -> None:
    """Tell the listener that a stage begins of which nobody knows how far it is."""
    tell(stage)
