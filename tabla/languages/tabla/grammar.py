"""The sentences of TABLA: PLY rules from tokens to the tree of `syntax`.

A name followed by parentheses is a call, any other name a variable, so that function names stay free for
variables (``pi = 3.14159;`` is legal). Precedence, lowest first: comparisons, ``+ -``, ``* /``, unary minus.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tabla.languages.production import Production
from tabla.languages.tabla.lexer import tokens
from tabla.languages.tabla.operators import Operator
from tabla.languages.tabla.syntax import (
    Assignment,
    Broken,
    Call,
    Declaration,
    GradientDeclaration,
    IteratorDeclaration,
    Link,
    Literal,
    Negation,
    Operation,
    Order,
    Range,
    Reference,
)

__all__ = ["precedence", "start", "tokens"]


start = "program"

precedence = (
    ("left", "LESS", "GREATER", "LESS_EQUAL", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"),
    ("left", "PLUS", "MINUS"),
    ("left", "TIMES", "DIVIDE"),
    ("right", "NEGATIVE"),
)


def p_program(p: Production) -> None:
    """program : items"""
    p[0] = tuple(p[1])


def p_items_none(p: Production) -> None:
    """items :"""
    p[0] = []


def p_items_more(p: Production) -> None:
    """items : items item SEMICOLON"""
    p[1].append(p[2])
    p[0] = p[1]


def p_items_empty(p: Production) -> None:
    """items : items SEMICOLON"""
    p[0] = p[1]


def p_items_broken(p: Production) -> None:
    """items : items error SEMICOLON"""
    p.parser.errok()
    p[1].append(Broken(span=p[3].span))
    p[0] = p[1]


def p_item_declaration(p: Production) -> None:
    """item : kind variables"""
    p[0] = Declaration(kind=p[1], variables=tuple(p[2]), span=p[1].span.to(p[2][-1].span))


def p_kind(p: Production) -> None:
    """kind : MODEL_INPUT
    | MODEL_OUTPUT
    | MODEL"""
    p[0] = p[1]


def p_list_one(p: Production) -> None:
    """variables : variable
    links : link
    ranges : range
    arguments : expression"""
    p[0] = [p[1]]


def p_list_more(p: Production) -> None:
    """variables : variables COMMA variable
    links : links COMMA link
    ranges : ranges COMMA range
    arguments : arguments COMMA expression"""
    p[1].append(p[3])
    p[0] = p[1]


def p_item_gradient(p: Production) -> None:
    """item : GRADIENT links"""
    p[0] = GradientDeclaration(links=tuple(p[2]), span=p[1].span.to(p[2][-1].span))


def p_link(p: Production) -> None:
    """link : variable ARROW variable"""
    p[0] = Link(gradient=p[1], model=p[3], span=p[1].span.to(p[3].span))


def p_link_loose(p: Production) -> None:
    """link : variable"""
    p[0] = Link(gradient=p[1], model=None, span=p[1].span)


def p_item_iterator(p: Production) -> None:
    """item : ITERATOR ranges"""
    p[0] = IteratorDeclaration(ranges=tuple(p[2]), span=p[1].span.to(p[2][-1].span))


def p_range(p: Production) -> None:
    """range : NAME LBRACKET expression COLON expression RBRACKET
    | NAME LBRACKET expression COLON expression RBRACKET order"""
    order = Order(p[7].text) if len(p) == 8 else None
    p[0] = Range(name=p[1], ends=(p[3], p[5]), order=order, span=p[1].span.to(p[len(p) - 1].span))


def p_order(p: Production) -> None:
    """order : IN_ORDER
    | IN_REVERSE_ORDER"""
    p[0] = p[1]


def p_range_missing(p: Production) -> None:
    """range : NAME
    | NAME LBRACKET expression RBRACKET"""
    p[0] = Range(name=p[1], ends=None, span=p[1].span.to(p[len(p) - 1].span))


def p_item_assignment(p: Production) -> None:
    """item : variable ASSIGN expression"""
    p[0] = Assignment(target=p[1], value=p[3], span=p[1].span.to(p[3].span))


def p_variable(p: Production) -> None:
    """variable : NAME subscripts"""
    last = p[2][-1][1] if p[2] else p[1].span
    subscripts = tuple(expression for expression, _ in p[2])
    depth = 1 + max((expression.depth for expression in subscripts), default=0)
    p[0] = Reference(name=p[1], subscripts=subscripts, depth=depth, span=p[1].span.to(last))


def p_subscripts_none(p: Production) -> None:
    """subscripts :"""
    p[0] = []


def p_subscripts_more(p: Production) -> None:
    """subscripts : subscripts LBRACKET expression RBRACKET"""
    p[1].append((p[3], p[4].span))
    p[0] = p[1]


def p_expression_variable(p: Production) -> None:
    """expression : variable"""
    p[0] = p[1]


def p_expression_literal(p: Production) -> None:
    """expression : NUMBER"""
    p[0] = Literal(value=Fraction(p[1].text), span=p[1].span)


def p_expression_parentheses(p: Production) -> None:
    """expression : LPAREN expression RPAREN"""
    p[0] = replace(p[2], span=p[1].span.to(p[3].span))


def p_expression_negation(p: Production) -> None:
    """expression : MINUS expression %prec NEGATIVE"""
    p[0] = Negation(operand=p[2], depth=p[2].depth + 1, span=p[1].span.to(p[2].span))


def p_expression_operation(p: Production) -> None:
    """expression : expression PLUS expression
    | expression MINUS expression
    | expression TIMES expression
    | expression DIVIDE expression
    | expression LESS expression
    | expression GREATER expression
    | expression LESS_EQUAL expression
    | expression GREATER_EQUAL expression
    | expression EQUAL expression
    | expression NOT_EQUAL expression"""
    p[0] = Operation(
        operator=Operator(p[2].text),
        left=p[1],
        right=p[3],
        # A chain a + b + c leans to the left and is walked in a loop: only its operands count as levels.
        depth=max(p[1].depth + (not isinstance(p[1], Operation)), p[3].depth + 1),
        span=p[1].span.to(p[3].span),
    )


def p_expression_call(p: Production) -> None:
    """expression : NAME subscripts LPAREN arguments RPAREN
    | NAME subscripts LPAREN RPAREN"""
    arguments = tuple(p[4]) if len(p) == 6 else ()
    subscripts = tuple(expression for expression, _ in p[2])
    p[0] = Call(
        name=p[1],
        subscripts=subscripts,
        arguments=arguments,
        depth=1 + max((expression.depth for expression in (*subscripts, *arguments)), default=0),
        span=p[1].span.to(p[len(p) - 1].span),
    )
