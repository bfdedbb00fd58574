"""The grammar of kernels: PLY rules from tokens to the tree of `syntax`.

No word is reserved: what ``for`` or ``input`` means is said by its place. So a tensor may have any name.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from tabla.base.lexemes import Lexeme
from tabla.base.source import Label, TablaError
from tabla.languages.expectation import any_of
from tabla.languages.kernel.lexer import tokens
from tabla.languages.kernel.syntax import (
    Assignment,
    Call,
    Declaration,
    Element,
    Literal,
    Operation,
    Range,
    Return,
    Update,
)
from tabla.languages.production import Production

__all__ = ["precedence", "start", "tokens"]

start = "kernel"
precedence = (
    ("left", "COMPARISON"),
    ("left", "PLUS", "MINUS"),
    ("left", "TIMES", "DIVIDE", "MODULO"),
    ("right", "NEGATIVE"),
)


def _expect(lexeme: Any, word: str, *others: str) -> None:
    if lexeme.text != word:
        expected = any_of([repr(each) for each in (word, *others)])
        raise TablaError(f"expected {expected}, not '{lexeme.text}'", Label(lexeme.span), hint=cure(lexeme))


_CURES = {
    "if": "choose between values with select(condition, a, b)",
    "+": "write the sum: y[i] = y[i] + x[i] for i in 0:4;",
    "*": "write the product: y[i] = y[i] * x[i] for i in 0:4;",
    "(": "an element has brackets, x[i], and a function has parentheses, exp(x[i])",
    "and": "join truth values with and(a, b), and conditions with a comma: where i > 0, i < 3",
    "or": "join truth values with or(a, b)",
    "-=": "only models change by -=: update w -= 0.5 * g;",
}
"""What to write instead of a word, where people often write it."""
_EXPONENT = re.compile(r"[eE][0-9]*")


def cure(lexeme: Lexeme) -> str:
    """Return what to write instead of a word that does not fit."""
    before = lexeme.span.source.text[: lexeme.span.start]
    if before[-1:].isdigit() and _EXPONENT.fullmatch(lexeme.text):
        return "a number has no exponent: write 500.0 for 0.5e3"
    return _CURES.get(lexeme.text, "tabla gen --emit kernel prints a kernel as it is written")


def p_kernel(p: Production) -> None:
    """kernel :
    | kernel item"""
    p[0] = [*p[1], p[2]] if len(p) > 1 else []


def p_item_declaration(p: Production) -> None:
    """item : NAME NAME COLON NAME SEMICOLON
    | NAME NAME LBRACKET wholes RBRACKET COLON NAME SEMICOLON"""
    shape, kind = ([], p[4]) if len(p) == 6 else (p[4], p[7])
    sizes = tuple(size for size, _ in shape)
    p[0] = Declaration(role=p[1], name=p[2], shape=sizes, type=kind, span=p[1].span.to(p[len(p) - 1].span))


def p_item_assignment(p: Production) -> None:
    """item : element ASSIGN value SEMICOLON
    | element ASSIGN value for over SEMICOLON"""
    ranges, conditions = p[5] if len(p) > 5 else ((), ())
    span = p[1].span.to(p[3].span)
    p[0] = Assignment(target=p[1], value=p[3], ranges=ranges, conditions=conditions, span=span)


def p_for(p: Production) -> None:
    """for : NAME"""
    _expect(p[1], "for", ";")


def p_item_update(p: Production) -> None:
    """item : NAME NAME LOWER value SEMICOLON"""
    _expect(p[1], "update")
    p[0] = Update(model=p[2], step=p[4], span=p[1].span.to(p[4].span))


def p_item_return(p: Production) -> None:
    """item : NAME names SEMICOLON"""
    _expect(p[1], "return")
    p[0] = Return(names=tuple(p[2]), span=p[1].span.to(p[3].span))


def p_lists(p: Production) -> None:
    """names : NAME
    | names COMMA NAME
    values : value
    | values COMMA value
    ranges : range
    | ranges COMMA range
    wholes : whole
    | wholes COMMA whole"""
    p[0] = [p[1]] if len(p) == 2 else [*p[1], p[3]]


def p_whole(p: Production) -> None:
    """whole : WHOLE
    | MINUS WHOLE"""
    last = p[len(p) - 1]
    value = int(last.text)
    p[0] = (value, last.span) if len(p) == 2 else (-value, last.span)


def p_range(p: Production) -> None:
    """range : NAME in whole COLON whole"""
    (low, _), (high, end) = p[3], p[5]
    p[0] = Range(index=p[1], low=low, high=high, span=p[1].span.to(end))


def p_over(p: Production) -> None:
    """over : ranges
    | ranges where values"""
    p[0] = tuple(p[1]), tuple(p[3]) if len(p) > 2 else ()


def p_where(p: Production) -> None:
    """where : NAME"""
    _expect(p[1], "where", ",", ";")


def p_in(p: Production) -> None:
    """in : NAME"""
    _expect(p[1], "in")


def p_value_infix(p: Production) -> None:
    """value : value PLUS value
    | value MINUS value
    | value TIMES value
    | value DIVIDE value
    | value MODULO value
    | value COMPARISON value"""
    p[0] = Operation(sign=p[2].text, operands=(p[1], p[3]), span=p[1].span.to(p[3].span))


def p_value_negative(p: Production) -> None:
    """value : MINUS value %prec NEGATIVE"""
    span = p[1].span.to(p[2].span)
    # A minus directly before a number belongs to it; in front of a parenthesis it is an operator.
    if isinstance(p[2], Literal) and p[2].span.source.text[p[2].span.start] != "(":
        p[0] = Literal(value=-p[2].value, real=p[2].real, span=span)
    else:
        p[0] = Operation(sign="-", operands=(p[2],), span=span)


def p_value_number(p: Production) -> None:
    """value : REAL
    | WHOLE"""
    p[0] = Literal(value=Fraction(p[1].text), real="." in p[1].text, span=p[1].span)


def p_value_parenthesis(p: Production) -> None:
    """value : LPAREN value RPAREN"""
    span = p[1].span.to(p[3].span)
    # The place of a number in parentheses tells a minus before it that it is an operator.
    p[0] = Literal(value=p[2].value, real=p[2].real, span=span) if isinstance(p[2], Literal) else p[2]


def p_value_other(p: Production) -> None:
    """value : element
    | call"""
    p[0] = p[1]


def p_element(p: Production) -> None:
    """element : NAME
    | NAME LBRACKET values RBRACKET"""
    subscripts = tuple(p[3]) if len(p) > 2 else ()
    p[0] = Element(name=p[1], subscripts=subscripts, span=p[1].span.to(p[4].span) if len(p) > 2 else p[1].span)


def p_call(p: Production) -> None:
    """call : NAME LPAREN values RPAREN
    | NAME LBRACKET over RBRACKET LPAREN value RPAREN"""
    (ranges, conditions), arguments = (((), ()), p[3]) if len(p) == 5 else (p[3], [p[6]])
    span = p[1].span.to(p[len(p) - 1].span)
    p[0] = Call(name=p[1], ranges=ranges, arguments=tuple(arguments), conditions=conditions, span=span)


def p_error(p: Any) -> None:
    """The parser says what does not fit, so nothing is done here."""
