"""Lexers of Pygments for programs in TABLA and in Tensor Comprehensions, from the words that the parsers know."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.lexers import LEXERS
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from tabla.languages.tabla.lexer import KEYWORDS
from tabla.languages.tc.lexer import KEYWORDS as TC_KEYWORDS
from tabla.templates.template import functions

__all__ = ["TablaLexer", "TensorComprehensionsLexer"]

FUNCTIONS = ("sum", "pi", "max", "min", "norm", *functions())
"""The functions that every notation has, and those of the function unit."""


class TablaLexer(RegexLexer):
    """Programs in the TABLA language."""

    name = "TABLA"
    aliases: ClassVar[list[str]] = ["tabla"]
    filenames: ClassVar[list[str]] = ["*.t"]
    tokens: ClassVar = {
        "root": [
            (r"//[^\n]*", Comment.Single),
            (r"/\*(?:.|\n)*?\*/", Comment.Multiline),
            (r"\$\w+", Comment.Preproc),
            (words(tuple(KEYWORDS), prefix=r"\b", suffix=r"\b"), Keyword),
            (words(FUNCTIONS, prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+", Number),
            (r"\"[^\"\n]*\"", String.Double),
            (r"[A-Za-z_]\w*'?", Name),
            (r"->|[-+*/<>=!?&|%^]+", Operator),
            (r"[\[\](){};:,.]", Punctuation),
            (r"\s+", Text),
            (r".", Text),
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
            (r"\$\w+", Comment.Preproc),
            (words(tuple(TC_KEYWORDS), prefix=r"\b", suffix=r"\b"), Keyword),
            (words(FUNCTIONS, prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+", Number),
            (r"[A-Za-z_]\w*", Name),
            (r"(?:max|min)?=!?|->|[-+*/<>=!?&|%^]+", Operator),
            (r"[\[\](){};:,.]", Punctuation),
            (r"\s+", Text),
            (r".", Text),
        ]
    }


def register() -> None:
    """Let Pygments find the lexers of this module by their names."""
    for lexer in (TablaLexer, TensorComprehensionsLexer):
        LEXERS[lexer.__name__] = (__name__, lexer.name, tuple(lexer.aliases), tuple(lexer.filenames), ())
