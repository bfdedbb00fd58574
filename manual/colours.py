"""The colours of the languages: rules that the site (`lexers`) and the grammars for editors (`editors`) share.

The words are those that the parsers know. A pattern is a regular expression of Python, and of its syntax it uses only
what `manual.editors` can say in the syntax of vim: classes, groups without a number, ``*``, ``+``, ``?`` and ``|``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from tabla.languages.kernel.signatures import TYPES
from tabla.languages.kernel.tree import Role
from tabla.languages.tabla.lexer import KEYWORDS
from tabla.languages.tabla.operators import GROUP_FUNCTIONS
from tabla.languages.tc.lexer import KEYWORDS as TC_KEYWORDS
from tabla.languages.tinytc.parser import NAMES
from tabla.languages.tinytc.syntax import INTEGERS, REALS
from tabla.templates.template import functions

Kind: TypeAlias = Literal[
    "comment", "definition", "keyword", "function", "number", "string", "variable", "name", "operator", "punctuation"
]

FUNCTIONS = (*GROUP_FUNCTIONS, *functions())
"""The functions that every notation has, and those of the function unit."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words that have a colour wherever they stand."""

    kind: Kind
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """What a pattern matches on a line."""

    kind: Kind
    pattern: str


@dataclass(frozen=True, slots=True)
class Region:
    """What stands from one text to another, on one line or several."""

    kind: Kind
    start: str
    end: str


Rule: TypeAlias = Words | Match | Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Colours:
    """The colours of a language. At each place of a text, the first rule that matches there holds."""

    name: str
    alias: str
    ends: tuple[str, ...]
    """The ends of its files' names, each with its dot."""
    comment: str
    """What begins a comment that ends with its line."""
    rules: tuple[Rule, ...]


_DEFINITION = Match("definition", r"\$\w+")
_NUMBER = Match("number", r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+")
_STRING = Match("string", r'"[^"\n]*"')
_NAME = Match("name", r"[A-Za-z_]\w*")
_OPERATOR = Match("operator", r"->|[-+*/<>=!?&|%^]+")
_PUNCTUATION = Match("punctuation", r"[\[\](){};:,.]")


def _comment(start: str) -> Match:
    return Match("comment", rf"{start}[^\n]*")


def _words(kind: Kind, words: Iterable[str]) -> Words:
    return Words(kind, tuple(sorted(set(words))))


TABLA = Colours(
    name="TABLA",
    alias="tabla",
    ends=(".t",),
    comment="//",
    rules=(
        _comment("//"),
        Region("comment", "/*", "*/"),
        _DEFINITION,
        _words("keyword", KEYWORDS),
        Match("keyword", r"in[ \t]+(?:reverse[ \t]+)?order"),
        _words("function", FUNCTIONS),
        _NUMBER,
        _STRING,
        Match("name", r"[A-Za-z_]\w*'?"),
        _OPERATOR,
        _PUNCTUATION,
    ),
)
TENSOR_COMPREHENSIONS = Colours(
    name="Tensor Comprehensions",
    alias="tc",
    ends=(".tc",),
    comment="#",
    rules=(
        _comment("#"),
        _DEFINITION,
        _words("keyword", TC_KEYWORDS),
        _words("function", set(FUNCTIONS) - set(TC_KEYWORDS)),
        _NUMBER,
        _NAME,
        _OPERATOR,
        _PUNCTUATION,
    ),
)
KERNEL = Colours(
    name="Kernel",
    alias="kernel",
    ends=(".kernel",),
    comment="//",
    rules=(
        _comment("//"),
        _words("keyword", (*get_args(Role), *TYPES, "for", "in", "where", "update", "return")),
        _words("function", FUNCTIONS),
        _NUMBER,
        Match("name", r"[A-Za-z_][A-Za-z0-9_.']*"),
        _OPERATOR,
        _PUNCTUATION,
    ),
)
TINYTC = Colours(
    name="Tiny Tensor Compiler",
    alias="tinytc",
    ends=(".ir", ".ttc"),
    comment=";",
    rules=(
        _comment(";"),
        _DEFINITION,
        Match("variable", r"[%@]\w+"),
        Match("keyword", rf"(?:{'|'.join(sorted({*REALS, *INTEGERS, 'bool'}))})(?:x[0-9?]+)*"),
        _words("keyword", ("func", "memref", "group", "init", "else", "attributes")),
        _words("function", NAMES),
        _NUMBER,
        _STRING,
        _NAME,
        _OPERATOR,
        _PUNCTUATION,
    ),
)
LANGUAGES = (TABLA, TENSOR_COMPREHENSIONS, KERNEL, TINYTC)
