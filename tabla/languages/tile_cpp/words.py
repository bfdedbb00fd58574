"""Messages of Tile, which speak of Python, in the words of C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tabla.base.source import TablaError

_ELEMENT = re.compile(r"\b([A-Za-z]\w*)\[(\(\)|[^\[\]]*)\]")
_OUTPUT = re.compile(r"(?<!auto )\b([A-Z]\w*) = TensorOutput")
_REPLACED = (("[()]", "()"), ("'//'", "'/'"), ("TensorOutput(...)", "TensorOutput with sizes"))


def in_cpp(text: str) -> str:
    """Return a message about Tile with its formulas as C++ writes them: ``O(i)`` for ``O[i]``."""
    text = _ELEMENT.sub(lambda found: f"{found[1]}({found[2].removeprefix('(').removesuffix(')')})", text)
    text = _OUTPUT.sub(r"auto \1 = TensorOutput", text)
    for python, cpp in _REPLACED:
        text = text.replace(python, cpp)
    return text


@contextmanager
def speaking_cpp() -> Iterator[None]:
    """Let faults that are raised inside of the ``with`` block show formulas of C++."""
    try:
        yield
    except TablaError as fault:
        hint = None if fault.hint is None else in_cpp(fault.hint)
        raise TablaError(
            in_cpp(fault.message), *fault.labels, hint=hint, notes=fault.notes, more=fault.more
        ) from fault.__cause__
