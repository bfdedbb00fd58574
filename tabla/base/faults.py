"""Faults of one run, gathered so that a user sees several at once."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from tabla.base.source import Label, Span, TablaError

# A screenful: past this a user mends the first ones before reading on.
_SHOWN = 20
# A comparison takes long, and who has thousands of names of one length is not helped by one of them.
_COMPARED = 2000


class Faults:
    """Gathers faults while a front end goes on reading, so that a user sees several at once."""

    def __init__(self) -> None:
        self._found: list[TablaError] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(
        self,
        message: str,
        span: Span,
        text: str = "",
        *,
        hint: str,
        also: Iterable[Label] = (),
    ) -> None:
        """Note a fault at `span`. `hint` is its cure, and `also` are further places that explain it."""
        self._found.append(TablaError(message, Label(span, text), *also, hint=hint))

    def add_placeless(self, message: str, *, hint: str) -> None:
        """Note a fault of the command line, which has no place in the file."""
        self._found.append(TablaError(message, hint=hint))

    def include(self, fault: TablaError) -> None:
        """Note a fault that was raised."""
        self._found.append(fault)

    def raise_any(self) -> None:
        """Raise the first fault in the order of the text, with the others in its `more`.

        Return if there is no fault.
        """
        if not self._found:
            return
        ordered = sorted(self._found, key=lambda fault: fault.labels[0].span.start if fault.labels else -1)
        first, others = ordered[0], ordered[1:_SHOWN]
        notes = list(first.notes)
        if len(ordered) > _SHOWN:
            notes.append(f"{len(ordered) - _SHOWN} further errors are not shown")
        raise TablaError(first.message, *first.labels, hint=first.hint, notes=notes, more=others)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a hint that offers the nearest of `known`, or None when nothing is near.

    A slip changes, adds or drops a letter or two. So a name is not near one that it only contains, as ``softmax``
    contains ``max``.
    """
    like = [each for each in sorted(known) if abs(len(each) - len(name)) <= 2][:_COMPARED] if len(name) <= 80 else []
    near = get_close_matches(name, like, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else None
