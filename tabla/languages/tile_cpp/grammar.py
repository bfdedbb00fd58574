"""The sentences of C++ that Tile functions have: PLY rules from tokens to the tree of `syntax`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from tabla.base.lexemes import Lexeme
from tabla.languages.production import Production
from tabla.languages.tile_cpp.lexer import tokens
from tabla.languages.tile_cpp.syntax import (
    Assignment,
    Binary,
    Binding,
    Block,
    Braces,
    Broken,
    Call,
    Choice,
    Constant,
    Construct,
    Declaration,
    Element,
    Evaluation,
    Expression,
    For,
    ForEach,
    Function,
    If,
    Leave,
    Member,
    Name,
    Parameter,
    Return,
    Type,
    Unary,
    Variable,
)

__all__ = ["precedence", "start", "tokens"]


start = "unit"

precedence = (
    ("nonassoc", "ALONE"),
    ("nonassoc", "ELSE"),
    ("right", "QUESTION", "COLON"),
    ("left", "OR"),
    ("left", "AND"),
    ("left", "BIT_OR"),
    ("left", "BIT_XOR"),
    ("left", "BIT_AND"),
    ("left", "EQUAL", "NOT_EQUAL"),
    ("left", "LESS", "GREATER", "LESS_EQUAL", "GREATER_EQUAL"),
    ("left", "SHIFT_LEFT", "SHIFT_RIGHT"),
    ("left", "PLUS", "MINUS"),
    ("left", "TIMES", "DIVIDE", "REMAINDER"),
    ("right", "UNARY"),
)


def _depth(operands: Iterable[Expression]) -> int:
    return 1 + max((operand.depth for operand in operands), default=0)


def p_none(p: Production) -> None:
    """unit :
    statements :
    parameters :
    arguments :
    steps :"""
    p[0] = []


def p_more(p: Production) -> None:
    """unit : unit function
    statements : statements statement"""
    p[1].append(p[2])
    p[0] = p[1]


def p_unit_using(p: Production) -> None:
    """unit : unit USING NAMESPACE NAME SEMICOLON
    | unit USING NAME SEMICOLON
    | unit USING TYPE SEMICOLON
    | unit USING VECTOR SEMICOLON
    | unit NAMESPACE NAME ASSIGN NAME SEMICOLON
    | unit SEMICOLON"""
    p[0] = p[1]


def p_unit_namespace(p: Production) -> None:
    """unit : unit NAMESPACE NAME LBRACE unit RBRACE
    | unit NAMESPACE LBRACE unit RBRACE"""
    p[0] = [*p[1], *p[len(p) - 2]]


def p_unit_broken(p: Production) -> None:
    """unit : unit error RBRACE"""
    p[0] = p[1]


def p_list_some(p: Production) -> None:
    """parameters : some_parameters
    arguments : some_arguments
    steps : some_steps"""
    p[0] = p[1]


def p_list_one(p: Production) -> None:
    """some_parameters : parameter
    some_arguments : argument
    variables : variable
    names : NAME
    some_steps : step"""
    p[0] = [p[1]]


def p_list_more(p: Production) -> None:
    """some_parameters : some_parameters COMMA parameter
    some_arguments : some_arguments COMMA argument
    variables : variables COMMA variable
    names : names COMMA NAME
    some_steps : some_steps COMMA step"""
    p[1].append(p[3])
    p[0] = p[1]


def p_specifiers(p: Production) -> None:
    """specifiers :
    | specifiers SPECIFIER"""


def p_function(p: Production) -> None:
    """function : specifiers qualified NAME LPAREN parameters RPAREN block
    | specifiers qualified NAME LPAREN parameters RPAREN SEMICOLON"""
    body = p[7] if isinstance(p[7], Block) else None
    span = p[2].span.to(p[6].span)
    p[0] = Function(type=p[2], name=p[3], parameters=tuple(p[5]), body=body, span=span)


def p_parameter(p: Production) -> None:
    """parameter : qualified NAME
    | qualified NAME ASSIGN argument"""
    default = p[4] if len(p) > 3 else None
    p[0] = Parameter(type=p[1], name=p[2], default=default, span=p[1].span.to(p[2].span))


def p_type(p: Production) -> None:
    """type : TYPE"""
    p[0] = Type(name=p[1].text, span=p[1].span)


def p_type_vector(p: Production) -> None:
    """type : VECTOR LESS type GREATER"""
    p[0] = replace(p[3], vectors=p[3].vectors + 1, span=p[1].span.to(p[4].span))


def p_type_vectors(p: Production) -> None:
    """type : VECTOR LESS VECTOR LESS type SHIFT_RIGHT"""
    p[0] = replace(p[5], vectors=p[5].vectors + 2, span=p[1].span.to(p[6].span))


def p_qualified(p: Production) -> None:
    """qualified : type
    | CONST type
    | type CONST"""
    p[0] = p[1] if isinstance(p[1], Type) else p[2]


def p_qualified_reference(p: Production) -> None:
    """qualified : type BIT_AND
    | type CONST BIT_AND
    | CONST type BIT_AND"""
    p[0] = replace(p[1] if isinstance(p[1], Type) else p[2], reference=True)


def p_block(p: Production) -> None:
    """block : LBRACE statements RBRACE"""
    p[0] = Block(statements=tuple(p[2]), span=p[1].span.to(p[3].span))


def p_statement_block(p: Production) -> None:
    """statement : block"""
    p[0] = p[1]


def p_statement_empty(p: Production) -> None:
    """statement : SEMICOLON"""
    p[0] = Block(statements=(), span=p[1].span)


def p_statement_broken(p: Production) -> None:
    """statement : error SEMICOLON"""
    p[0] = Broken(span=p[2].span)


def p_statement_ended(p: Production) -> None:
    """statement : declaration SEMICOLON
    | step SEMICOLON"""
    p[0] = p[1]


def p_declaration(p: Production) -> None:
    """declaration : qualified variables"""
    p[0] = Declaration(type=p[1], variables=tuple(p[2]), span=p[1].span.to(p[2][-1].span))


def p_declaration_binding(p: Production) -> None:
    """declaration : qualified LBRACKET names RBRACKET ASSIGN argument"""
    p[0] = Binding(names=tuple(p[3]), value=p[6], span=p[1].span.to(p[6].span))


def p_variable(p: Production) -> None:
    """variable : NAME"""
    p[0] = Variable(name=p[1], span=p[1].span)


def p_variable_assign(p: Production) -> None:
    """variable : NAME ASSIGN argument"""
    p[0] = Variable(name=p[1], how="assign", values=(p[3],), span=p[1].span.to(p[3].span))


def p_variable_initialised(p: Production) -> None:
    """variable : NAME LPAREN some_arguments RPAREN
    | NAME LBRACE arguments RBRACE"""
    how: Literal["parentheses", "braces"] = "parentheses" if p[2].text == "(" else "braces"
    p[0] = Variable(name=p[1], how=how, values=tuple(p[3]), span=p[1].span.to(p[4].span))


def p_assigns(p: Production) -> None:
    """assigns : ASSIGN
    | PLUS_ASSIGN
    | MINUS_ASSIGN
    | TIMES_ASSIGN
    | DIVIDE_ASSIGN
    | REMAINDER_ASSIGN
    | AND_ASSIGN
    | OR_ASSIGN
    | XOR_ASSIGN
    | SHIFT_LEFT_ASSIGN
    | SHIFT_RIGHT_ASSIGN"""
    p[0] = p[1]


def p_step_assignment(p: Production) -> None:
    """step : postfix assigns argument"""
    p[0] = Assignment(target=p[1], operator=p[2], value=p[3], span=p[1].span.to(p[3].span))


def p_step_increment(p: Production) -> None:
    """step : postfix INCREMENT
    | postfix DECREMENT
    | INCREMENT postfix
    | DECREMENT postfix"""
    target, sign = (p[1], p[2]) if isinstance(p[2], Lexeme) else (p[2], p[1])
    one = Constant(value=1, span=sign.span)
    operator = Lexeme(text=f"{sign.text[0]}=", span=sign.span)
    p[0] = Assignment(target=target, operator=operator, value=one, span=p[1].span.to(p[2].span))


def p_step(p: Production) -> None:
    """step : expression"""
    p[0] = Evaluation(expression=p[1], span=p[1].span)


def p_statement_return(p: Production) -> None:
    """statement : RETURN SEMICOLON
    | RETURN argument SEMICOLON"""
    value = p[2] if isinstance(p[2], Expression) else None
    p[0] = Return(value=value, span=p[1].span if value is None else p[1].span.to(value.span))


def p_statement_leave(p: Production) -> None:
    """statement : BREAK SEMICOLON
    | CONTINUE SEMICOLON"""
    p[0] = Leave(word=p[1].text, span=p[1].span)


def p_statement_if(p: Production) -> None:
    """statement : IF LPAREN expression RPAREN statement %prec ALONE
    | IF LPAREN expression RPAREN statement ELSE statement"""
    other = p[7] if len(p) > 6 else None
    p[0] = If(condition=p[3], chosen=p[5], other=other, span=p[1].span.to(p[4].span))


def p_begin(p: Production) -> None:
    """begin : steps"""
    p[0] = p[1]


def p_begin_declaration(p: Production) -> None:
    """begin : declaration"""
    p[0] = [p[1]]


def p_condition(p: Production) -> None:
    """condition :
    | expression"""
    p[0] = p[1] if len(p) > 1 else None


def p_statement_for(p: Production) -> None:
    """statement : FOR LPAREN begin SEMICOLON condition SEMICOLON steps RPAREN statement"""
    p[0] = For(begin=tuple(p[3]), condition=p[5], step=tuple(p[7]), body=p[9], span=p[1].span.to(p[8].span))


def p_statement_for_each(p: Production) -> None:
    """statement : FOR LPAREN qualified NAME COLON argument RPAREN statement"""
    p[0] = ForEach(type=p[3], name=p[4], vector=p[6], body=p[8], span=p[1].span.to(p[7].span))


def p_argument(p: Production) -> None:
    """argument : expression
    | braces"""
    p[0] = p[1]


def p_braces(p: Production) -> None:
    """braces : LBRACE arguments RBRACE"""
    p[0] = Braces(items=tuple(p[2]), depth=_depth(p[2]), span=p[1].span.to(p[3].span))


def p_expression_postfix(p: Production) -> None:
    """expression : postfix"""
    p[0] = p[1]


def p_postfix_integer(p: Production) -> None:
    """postfix : INTEGER"""
    p[0] = Constant(value=int(p[1].text, 16 if p[1].text[:2] in ("0x", "0X") else 10), span=p[1].span)


def p_postfix_float(p: Production) -> None:
    """postfix : FLOAT"""
    p[0] = Constant(value=Fraction(p[1].text), span=p[1].span)


def p_postfix_truth(p: Production) -> None:
    """postfix : TRUE
    | FALSE"""
    p[0] = Constant(value=p[1].text == "true", span=p[1].span)


def p_postfix_text(p: Production) -> None:
    """postfix : STRING"""
    p[0] = Constant(value=p[1].text, span=p[1].span)


def p_postfix_name(p: Production) -> None:
    """postfix : NAME"""
    p[0] = Name(text=p[1].text, span=p[1].span)


def p_postfix_parentheses(p: Production) -> None:
    """postfix : LPAREN expression RPAREN"""
    p[0] = replace(p[2], span=p[1].span.to(p[3].span))


def p_postfix_call(p: Production) -> None:
    """postfix : postfix LPAREN arguments RPAREN"""
    p[0] = Call(callee=p[1], arguments=tuple(p[3]), depth=_depth([p[1], *p[3]]), span=p[1].span.to(p[4].span))


def p_postfix_element(p: Production) -> None:
    """postfix : postfix LBRACKET expression RBRACKET"""
    p[0] = Element(vector=p[1], position=p[3], depth=_depth([p[1], p[3]]), span=p[1].span.to(p[4].span))


def p_postfix_member(p: Production) -> None:
    """postfix : postfix DOT NAME"""
    p[0] = Member(value=p[1], name=p[3], depth=_depth([p[1]]), span=p[1].span.to(p[3].span))


def p_postfix_construct(p: Production) -> None:
    """postfix : type LPAREN arguments RPAREN
    | type LBRACE arguments RBRACE"""
    braces = p[2].text == "{"
    span = p[1].span.to(p[4].span)
    p[0] = Construct(type=p[1], arguments=tuple(p[3]), braces=braces, depth=_depth(p[3]), span=span)


def p_postfix_cast(p: Production) -> None:
    """postfix : STATIC_CAST LESS qualified GREATER LPAREN expression RPAREN"""
    p[0] = Construct(type=p[3], arguments=(p[6],), depth=_depth([p[6]]), span=p[1].span.to(p[7].span))


def p_expression_unary(p: Production) -> None:
    """expression : MINUS expression %prec UNARY
    | PLUS expression %prec UNARY
    | NOT expression %prec UNARY
    | TILDE expression %prec UNARY"""
    p[0] = Unary(operator=p[1].text, operand=p[2], depth=_depth([p[2]]), span=p[1].span.to(p[2].span))


def p_expression_cast(p: Production) -> None:
    """expression : LPAREN type RPAREN expression %prec UNARY"""
    p[0] = Construct(type=p[2], arguments=(p[4],), depth=_depth([p[4]]), span=p[1].span.to(p[4].span))


def p_expression_binary(p: Production) -> None:
    """expression : expression OR expression
    | expression AND expression
    | expression BIT_OR expression
    | expression BIT_XOR expression
    | expression BIT_AND expression
    | expression EQUAL expression
    | expression NOT_EQUAL expression
    | expression LESS expression
    | expression GREATER expression
    | expression LESS_EQUAL expression
    | expression GREATER_EQUAL expression
    | expression SHIFT_LEFT expression
    | expression SHIFT_RIGHT expression
    | expression PLUS expression
    | expression MINUS expression
    | expression TIMES expression
    | expression DIVIDE expression
    | expression REMAINDER expression"""
    p[0] = Binary(operator=p[2].text, left=p[1], right=p[3], depth=_depth([p[1], p[3]]), span=p[1].span.to(p[3].span))


def p_expression_choice(p: Production) -> None:
    """expression : expression QUESTION expression COLON expression"""
    p[0] = Choice(
        condition=p[1], chosen=p[3], other=p[5], depth=_depth([p[1], p[3], p[5]]), span=p[1].span.to(p[5].span)
    )
