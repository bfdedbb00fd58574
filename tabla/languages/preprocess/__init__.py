"""The $-preprocessor: compile-time variables in front of any notation whose regions are braces.

``preprocess`` gives the text that a front end reads; the faults that the front end then finds are shown in the
file by ``Preprocessed.pointing_back``::

    expanded = preprocess(source, {"n": "64"})
    with expanded.pointing_back():
        program = parse(expanded.source)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tabla.base.source import Source
from tabla.languages.preprocess.comments import TABLA, TENSOR_COMPREHENSIONS, TENSOR_LANGUAGE, Comments, comments_of
from tabla.languages.preprocess.expand import Expansion, from_command_line
from tabla.languages.preprocess.positions import Preprocessed
from tabla.languages.preprocess.scopes import MOST_CHARACTERS, TooLong
from tabla.languages.preprocess.values import Definition, Kind, Value

__all__ = [
    "TABLA",
    "TENSOR_COMPREHENSIONS",
    "TENSOR_LANGUAGE",
    "Comments",
    "Definition",
    "Kind",
    "Preprocessed",
    "Value",
    "comments_of",
    "preprocess",
]


def preprocess(
    source: Source,
    defines: Mapping[str, str] = MappingProxyType({}),
    comments: Comments | None = None,
) -> Preprocessed:
    """Replace every ``$name`` of `source` by what it stands for.

    `defines` are those of the command line, ``{"n": "64"}`` for ``-D n=64``. Whether a name that the text does not use
    (`Preprocessed.used`) is a fault is for the caller to say. `comments` are those of the notation; by default the name
    of the source tells which. Raises one `TablaError`, the first in the order of the text, with the others of the same
    run in its `more`, and `TooLong` for a text, or for values, of more than `MOST_CHARACTERS` characters. A text
    without ``$`` is returned as it is.
    """
    if len(source.text) > MOST_CHARACTERS:
        raise TooLong(
            f"'{source.name}' has {len(source.text):,} characters; the limit is {MOST_CHARACTERS:,}",
            hint="is this a program?",
        )
    comments = comments if comments is not None else comments_of(source.name)
    given = from_command_line(defines, comments)
    if "$" not in source.text:
        definitions = tuple(value for value in given.values() if isinstance(value, Definition))
        return Preprocessed(source=source, original=source, definitions=definitions)
    return Expansion(source, comments, given).run()
