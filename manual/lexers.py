"""Lexers of Pygments for programs in TABLA and in Tensor Comprehensions, from the words that the parsers know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.lexers import LEXERS
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from tabla.languages.tabla.lexer import KEYWORDS
from tabla.languages.tc.lexer import KEYWORDS as TC_KEYWORDS
from tabla.templates.template import functions

__all__ = ["TablaLexer", "TensorComprehensionsLexer"]

FUNCTIONS = ("sum", "pi", "max", "min", "norm", *functions())
"""The functions that every notation has, and those of the function unit."""


_REST = ((r"[\[\](){};:,.]", Punctuation), (r"\s+", Text), (r".", Text))


def _known(keywords: Iterable[str]) -> list[tuple[Any, Any]]:
    """Return the rules for what both notations have: definitions, keywords, functions and numbers."""
    return [
        (r"\$\w+", Comment.Preproc),
        (words(tuple(keywords), prefix=r"\b", suffix=r"\b"), Keyword),
        (words(FUNCTIONS, prefix=r"\b", suffix=r"\b"), Name.Builtin),
        (r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+", Number),
    ]


class TablaLexer(RegexLexer):
    """Programs in the TABLA language."""

    name = "TABLA"
    aliases: ClassVar[list[str]] = ["tabla"]
    filenames: ClassVar[list[str]] = ["*.t"]
    tokens: ClassVar = {
        "root": [
            (r"//[^\n]*", Comment.Single),
            (r"/\*(?:.|\n)*?\*/", Comment.Multiline),
            *_known(KEYWORDS),
            (r"\bin\s+(?:reverse\s+)?order\b", Keyword),
            (r"\"[^\"\n]*\"", String.Double),
            (r"[A-Za-z_]\w*'?", Name),
            (r"->|[-+*/<>=!?&|%^]+", Operator),
            *_REST,
        ]
    }


class TensorComprehensionsLexer(RegexLexer):
    """Functions in Tensor Comprehensions."""

    name = "Tensor Comprehensions"
    aliases: ClassVar[list[str]] = ["tc"]
    filenames: ClassVar[list[str]] = ["*.tc"]
    tokens: ClassVar = {
        "root": [
            (r"#[^\n]*", Comment.Single),
            *_known(TC_KEYWORDS),
            (r"[A-Za-z_]\w*", Name),
            (r"(?:max|min)?=!?|->|[-+*/<>=!?&|%^]+", Operator),
            *_REST,
        ]
    }


def register() -> None:
    """Let Pygments find the lexers of this module by their names."""
    for lexer in (TablaLexer, TensorComprehensionsLexer):
        LEXERS[lexer.__name__] = (__name__, lexer.name, tuple(lexer.aliases), tuple(lexer.filenames), ())
