"""Lexers of Pygments for the languages of `manual.colours`, with which the site colours programs."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.lexers import LEXERS
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from manual.colours import KERNEL, TABLA, TENSOR_COMPREHENSIONS, TINYTC, Colours, Kind, Match, Region, Rule, Words

# Pygments takes every name of this list for a lexer.
__all__ = ["KernelLexer", "TablaLexer", "TensorComprehensionsLexer", "TinytcLexer"]

TOKENS: dict[Kind, Any] = {
    "comment": Comment.Single,
    "definition": Comment.Preproc,
    "keyword": Keyword,
    "function": Name.Builtin,
    "number": Number,
    "string": String.Double,
    "variable": Name.Variable,
    "name": Name,
    "operator": Operator,
    "punctuation": Punctuation,
}


def _rule(rule: Rule) -> tuple[Any, Any]:
    token = TOKENS[rule.kind]
    match rule:
        case Words(words=listed):
            return words(listed, prefix=r"\b", suffix=r"\b"), token
        case Match(pattern=pattern):
            return pattern, token
        case Region(start=start, end=end):
            return rf"{re.escape(start)}(?:.|\n)*?(?:{re.escape(end)}|\Z)", token


def _tokens(colours: Colours) -> dict[str, list[Any]]:
    return {"root": [*map(_rule, colours.rules), (r"\s+", Text), (r".", Text)]}


class TablaLexer(RegexLexer):
    """Programs in the TABLA language."""

    name, aliases, filenames = TABLA.name, (TABLA.alias,), tuple(f"*{end}" for end in TABLA.ends)
    tokens: ClassVar = _tokens(TABLA)


class TensorComprehensionsLexer(RegexLexer):
    """Functions in Tensor Comprehensions."""

    name, aliases = TENSOR_COMPREHENSIONS.name, (TENSOR_COMPREHENSIONS.alias,)
    filenames = tuple(f"*{end}" for end in TENSOR_COMPREHENSIONS.ends)
    tokens: ClassVar = _tokens(TENSOR_COMPREHENSIONS)


class KernelLexer(RegexLexer):
    """Texts of kernels."""

    name, aliases, filenames = KERNEL.name, (KERNEL.alias,), tuple(f"*{end}" for end in KERNEL.ends)
    tokens: ClassVar = _tokens(KERNEL)


class TinytcLexer(RegexLexer):
    """Functions in the language of the Tiny Tensor Compiler."""

    name, aliases, filenames = TINYTC.name, (TINYTC.alias,), tuple(f"*{end}" for end in TINYTC.ends)
    tokens: ClassVar = _tokens(TINYTC)


LEXER_CLASSES = (TablaLexer, TensorComprehensionsLexer, KernelLexer, TinytcLexer)
"""The lexers in the order of `manual.colours.LANGUAGES`."""


def register() -> None:
    """Let Pygments find the lexers of this module by their names."""
    for lexer in LEXER_CLASSES:
        LEXERS[lexer.__name__] = (__name__, lexer.name, tuple(lexer.aliases), tuple(lexer.filenames), ())
