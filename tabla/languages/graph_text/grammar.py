"""The sentences of a graph's statements: PLY rules from tokens to the tree of `tree`."""

from __future__ import annotations

from typing import Any

from tabla.languages.graph_text.lexer import tokens
from tabla.languages.graph_text.tree import (
    Bounds,
    Comparison,
    Element,
    Line,
    Node,
    Number,
    Ordinal,
    Parenthesis,
    Power,
    Product,
    Sum,
)
from tabla.languages.production import Production

__all__ = ["precedence", "start", "tokens"]

start = "line"
precedence = (
    ("nonassoc", "COMPARISON"),
    ("left", "PLUS", "MINUS"),
    ("left", "TIMES", "DIVIDE"),
    ("right", "NEGATIVE"),
)


def p_line(p: Production) -> None:
    """line : element ASSIGN value box where"""
    p[0] = Line(target=p[1], value=p[3], box=tuple(p[4]), constraints=tuple(p[5]), span=p[1].span.to(p[3].span))


def p_box(p: Production) -> None:
    """box :
    | FOR ranges"""
    p[0] = p[2] if len(p) > 1 else []


def p_ranges(p: Production) -> None:
    """ranges : range
    | ranges COMMA range"""
    p[0] = [p[1]] if len(p) == 2 else [*p[1], p[3]]


def p_range(p: Production) -> None:
    """range : NAME IN LBRACKET whole COMMA whole RPAREN"""
    p[0] = Bounds(name=p[1].text, low=p[4], high=p[6], span=p[1].span.to(p[7].span))


def p_whole(p: Production) -> None:
    """whole : NUMBER
    | MINUS NUMBER"""
    p[0] = int(p[1].text) if len(p) == 2 else -int(p[2].text)


def p_where(p: Production) -> None:
    """where :
    | WHERE forms"""
    p[0] = p[2] if len(p) > 1 else []


def p_forms(p: Production) -> None:
    """forms : value
    | forms COMMA value"""
    p[0] = [p[1]] if len(p) == 2 else [*p[1], p[3]]


def p_value_comparison(p: Production) -> None:
    """value : value COMPARISON value"""
    p[0] = Comparison(op=p[2].text, left=p[1], right=p[3], span=p[1].span.to(p[3].span))


def p_value_sum(p: Production) -> None:
    """value : value PLUS value
    | value MINUS value"""
    terms = p[1].terms if isinstance(p[1], Sum) else ((1, p[1]),)
    sign = 1 if p[2].text == "+" else -1
    p[0] = Sum(terms=(*terms, (sign, p[3])), span=p[1].span.to(p[3].span))


def p_value_product(p: Production) -> None:
    """value : value TIMES value
    | value DIVIDE value"""
    # A sign in front of a product is that of its first factor here.
    sign, first = p[1].terms[0] if isinstance(p[1], Sum) else (1, p[1])
    factors = first.factors if isinstance(first, Product) else ((False, first),)
    found: Node = Product(factors=(*factors, (p[2].text == "/", p[3])), span=p[1].span.to(p[3].span))
    p[0] = found if sign > 0 else Sum(terms=((-1, found),), span=found.span)


def p_value_negative(p: Production) -> None:
    """value : MINUS value %prec NEGATIVE"""
    p[0] = Sum(terms=((-1, p[2]),), span=p[1].span.to(p[2].span))


def p_value_number(p: Production) -> None:
    """value : NUMBER"""
    p[0] = Number(text=p[1].text, span=p[1].span)


def p_value_power(p: Production) -> None:
    """value : POWER"""
    p[0] = Power(exponent=int(p[1].text.partition("^")[2]), span=p[1].span)


def p_value_ordinal(p: Production) -> None:
    """value : ORDINAL"""
    p[0] = Ordinal(text=p[1].text[1:-1], span=p[1].span)


def p_value_parenthesis(p: Production) -> None:
    """value : LPAREN value RPAREN"""
    p[0] = Parenthesis(inner=p[2], span=p[1].span.to(p[3].span))


def p_value_element(p: Production) -> None:
    """value : element
    | call"""
    p[0] = p[1]


def p_call(p: Production) -> None:
    """call : element LPAREN forms RPAREN"""
    p[0] = Element(name=p[1].name, groups=p[1].groups, arguments=tuple(p[3]), span=p[1].span.to(p[4].span))


def p_element(p: Production) -> None:
    """element : NAME
    | element LBRACKET RBRACKET
    | element LBRACKET forms RBRACKET"""
    if len(p) == 2:
        p[0] = Element(name=p[1].text, groups=(), arguments=None, span=p[1].span)
    else:
        groups = (*p[1].groups, tuple(p[3]) if len(p) == 5 else ())
        p[0] = Element(name=p[1].name, groups=groups, arguments=None, span=p[1].span.to(p[len(p) - 1].span))


def p_error(p: Any) -> None:
    """The reader says what does not fit, so nothing is done here."""
