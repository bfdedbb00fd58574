"""How each notation writes comments. The preprocessor copies comments without a look inside."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath


@dataclass(frozen=True, slots=True, kw_only=True)
class Comments:
    """What opens a comment to the end of the line, and whether ``/* */`` is one too."""

    line: str
    block: bool = False
    pattern: re.Pattern[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        forms = [re.escape(self.line) + r"[^\n]*"]
        if self.block:
            forms.append(r"/\*(?:.|\n)*?(?:\*/|\Z)")
        object.__setattr__(self, "pattern", re.compile("|".join(forms)))


TABLA = Comments(line="//", block=True)
TENSOR_COMPREHENSIONS = Comments(line="#")
TENSOR_LANGUAGE = Comments(line=";")


def comments_of(name: str) -> Comments:
    """Return the comments of a file by its name: those of ``.t``, of ``.tc``, and in any other text those of the tensor
    language.
    """
    match PurePath(name).suffix:
        case ".t":
            return TABLA
        case ".tc":
            return TENSOR_COMPREHENSIONS
        case _:
            return TENSOR_LANGUAGE
