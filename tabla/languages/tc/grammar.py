"""The sentences of Tensor Comprehensions: PLY rules from tokens to the tree of `syntax`.

The grammar is the union of what the language's page and its reference front end accept.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tabla.base.lexemes import Lexeme
from tabla.languages.production import Production
from tabla.languages.tc.lexer import tokens
from tabla.languages.tc.scalars import SCALARS
from tabla.languages.tc.syntax import (
    Apply,
    Binary,
    Broken,
    Call,
    Cast,
    Choice,
    Clause,
    Comprehension,
    Definition,
    Dimension,
    Exists,
    Expression,
    Let,
    Literal,
    Name,
    Parameter,
    Range,
    TensorType,
    Unary,
)

__all__ = ["precedence", "start", "tokens"]


start = "unit"

precedence = (
    ("right", "QUESTION", "COLON"),
    ("left", "OR"),
    ("left", "AND"),
    ("left", "LESS", "GREATER", "LESS_EQUAL", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"),
    ("left", "PLUS", "MINUS"),
    ("left", "TIMES", "DIVIDE", "REMAINDER"),
    ("right", "UNARY"),
)


def _depth(*operands: Expression) -> int:
    return 1 + max((operand.depth for operand in operands), default=0)


def p_none(p: Production) -> None:
    """unit :
    statements :
    clauses :"""
    p[0] = []


def p_unit(p: Production) -> None:
    """unit : unit function
    statements : statements statement"""
    p[1].append(p[2])
    p[0] = p[1]


def p_unit_broken(p: Production) -> None:
    """unit : unit error NEXT_FUNCTION
    statements : statements error NEXT_STATEMENT"""
    p.parser.errok()
    # PLY may have taken the beginning of what is broken for a whole.
    del p[1][p.parser.complete :]
    p[1].append(Broken(span=p[3].span))
    p[0] = p[1]


def p_function(p: Production) -> None:
    """function : DEF NAME LPAREN parameters RPAREN ARROW LPAREN returns RPAREN LBRACE statements RBRACE"""
    p[0] = Definition(
        name=p[2],
        parameters=tuple(p[4]),
        returns=tuple(p[8]),
        statements=tuple(p[11]),
        span=p[1].span.to(p[12].span),
    )


def p_list_none(p: Production) -> None:
    """parameters :
    returns :
    dimensions :
    names :
    arguments :"""
    p[0] = []


def p_list_some(p: Production) -> None:
    """parameters : some_parameters
    returns : some_returns
    dimensions : some_dimensions
    names : some_names
    arguments : some_arguments
    clauses : WHERE some_clauses"""
    p[0] = p[len(p) - 1]


def p_list_one(p: Production) -> None:
    """some_parameters : parameter
    some_returns : return
    some_dimensions : dimension
    some_names : NAME
    some_arguments : expression
    some_clauses : clause"""
    p[0] = [p[1]]


def p_list_more(p: Production) -> None:
    """some_parameters : some_parameters COMMA parameter
    some_returns : some_returns COMMA return
    some_dimensions : some_dimensions COMMA dimension
    some_names : some_names COMMA NAME
    some_arguments : some_arguments COMMA expression
    some_clauses : some_clauses COMMA clause"""
    p[1].append(p[3])
    p[0] = p[1]


def p_parameter(p: Production) -> None:
    """parameter : type NAME
    return : type NAME"""
    p[0] = Parameter(type=p[1], name=p[2], span=p[1].span.to(p[2].span))


def p_return(p: Production) -> None:
    """return : NAME"""
    p[0] = Parameter(type=None, name=p[1], span=p[1].span)


def p_type_scalar(p: Production) -> None:
    """type : TYPE"""
    p[0] = TensorType(scalar=SCALARS[p[1].text], dimensions=(), span=p[1].span)


def p_type(p: Production) -> None:
    """type : TYPE LPAREN dimensions RPAREN"""
    p[0] = TensorType(scalar=SCALARS[p[1].text], dimensions=tuple(p[3]), span=p[1].span.to(p[4].span))


def p_dimension(p: Production) -> None:
    """dimension : NAME
    | INTEGER"""
    p[0] = p[1]


def p_operator(p: Production) -> None:
    """operator : ASSIGN
    | REDUCE"""
    p[0] = p[1]


def p_statement(p: Production) -> None:
    """statement : NAME LPAREN names RPAREN operator expression equivalent clauses"""
    p[0] = _comprehension(p[1], tuple(p[3]), p[5], p[6], p[7], p[8])


def p_statement_bare(p: Production) -> None:
    """statement : NAME operator expression equivalent clauses"""
    p[0] = _comprehension(p[1], None, p[2], p[3], p[4], p[5])


def _comprehension(
    target: Lexeme,
    indices: tuple[Lexeme, ...] | None,
    operator: Lexeme,
    value: Expression,
    equivalent: Lexeme | None,
    clauses: list[Clause],
) -> Comprehension:
    last = clauses[-1].span if clauses else equivalent.span if equivalent is not None else value.span
    return Comprehension(
        target=target,
        indices=indices,
        operator=operator,
        value=value,
        clauses=tuple(clauses),
        equivalent=equivalent,
        span=target.span.to(last),
    )


def p_equivalent_none(p: Production) -> None:
    """equivalent :"""
    p[0] = None


def p_equivalent(p: Production) -> None:
    """equivalent : EQUIVALENT NAME LPAREN arguments RPAREN"""
    p[0] = Lexeme(text=p[2].text, span=p[1].span.to(p[5].span))


def p_statement_call(p: Production) -> None:
    """statement : NAME COMMA some_names ASSIGN NAME LPAREN arguments RPAREN"""
    p[0] = Call(targets=(p[1], *p[3]), function=p[5], arguments=tuple(p[7]), span=p[1].span.to(p[8].span))


def p_clause_range(p: Production) -> None:
    """clause : NAME IN expression COLON expression"""
    p[0] = Range(index=p[1], low=p[3], high=p[5], span=p[1].span.to(p[5].span))


def p_clause_let(p: Production) -> None:
    """clause : NAME ASSIGN expression"""
    p[0] = Let(name=p[1], value=p[3], span=p[1].span.to(p[3].span))


def p_clause_exists(p: Production) -> None:
    """clause : EXISTS expression"""
    p[0] = Exists(element=p[2], span=p[1].span.to(p[2].span))


def p_expression_literal(p: Production) -> None:
    """expression : INTEGER"""
    text = p[1].text
    value = int(text, 16) if text[:2] in ("0x", "0X") else int(text)
    p[0] = Literal(value=Fraction(value), floating=False, span=p[1].span)


def p_expression_float(p: Production) -> None:
    """expression : FLOAT"""
    p[0] = Literal(value=Fraction(p[1].text), floating=True, span=p[1].span)


def p_expression_name(p: Production) -> None:
    """expression : NAME"""
    p[0] = Name(text=p[1].text, span=p[1].span)


def p_expression_dimension(p: Production) -> None:
    """expression : NAME DOT INTEGER"""
    axis = p[3].text
    p[0] = Dimension(tensor=p[1], axis=int(axis) if axis.isdigit() else 99, span=p[1].span.to(p[3].span))


def p_expression_apply(p: Production) -> None:
    """expression : NAME LPAREN arguments RPAREN
    | MIN LPAREN arguments RPAREN
    | MAX LPAREN arguments RPAREN"""
    p[0] = Apply(name=p[1], arguments=tuple(p[3]), depth=_depth(*p[3]), span=p[1].span.to(p[4].span))


def p_expression_cast(p: Production) -> None:
    """expression : TYPE LPAREN expression RPAREN"""
    p[0] = Cast(scalar=SCALARS[p[1].text], operand=p[3], depth=_depth(p[3]), span=p[1].span.to(p[4].span))


def p_expression_parentheses(p: Production) -> None:
    """expression : LPAREN expression RPAREN"""
    p[0] = replace(p[2], span=p[1].span.to(p[3].span))


def p_expression_unary(p: Production) -> None:
    """expression : MINUS expression %prec UNARY
    | NOT expression %prec UNARY"""
    p[0] = Unary(operator=p[1].text, operand=p[2], depth=_depth(p[2]), span=p[1].span.to(p[2].span))


def p_expression_binary(p: Production) -> None:
    """expression : expression OR expression
    | expression AND expression
    | expression LESS expression
    | expression GREATER expression
    | expression LESS_EQUAL expression
    | expression GREATER_EQUAL expression
    | expression EQUAL expression
    | expression NOT_EQUAL expression
    | expression PLUS expression
    | expression MINUS expression
    | expression TIMES expression
    | expression DIVIDE expression
    | expression REMAINDER expression"""
    p[0] = Binary(operator=p[2], left=p[1], right=p[3], depth=_depth(p[1], p[3]), span=p[1].span.to(p[3].span))


def p_expression_choice(p: Production) -> None:
    """expression : expression QUESTION expression COLON expression"""
    p[0] = Choice(condition=p[1], chosen=p[3], other=p[5], depth=_depth(p[1], p[3], p[5]), span=p[1].span.to(p[5].span))
