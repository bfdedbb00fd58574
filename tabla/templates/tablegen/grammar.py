"""The LALR grammar of TableGen: statements here, types and values in `value_grammar` (reference, section 1.5).

Each function below is one production: its docstring is the rule that PLY reads, its body builds the node of
`syntax`. ``p.lexpos(n)`` is the token index of terminal ``n``.
"""

# PLY's production objects are untyped, so this module alone leaves its parameters as Any.
from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from ply import yacc  # type: ignore[import-untyped]

from tabla.base.lexemes import require_docstrings
from tabla.templates.tablegen import syntax as s
from tabla.templates.tablegen import value_grammar
from tabla.templates.tablegen.lexer import literals as _literals
from tabla.templates.tablegen.lexer import tokens as _lexer_tokens

tokens = tuple(sorted(set(_lexer_tokens) - {"INCLUDE", "FAULT"}))
literals = _literals
start = "file"

precedence = (
    # "(op [1])" and "(op {1})": what may be a suffix is one, as in the reference tool.
    ("nonassoc", "END_OF_VALUE"),
    # The right side of a paste takes every suffix and every further paste.
    ("nonassoc", "[", "{", ".", "PASTE", "TRAILING_PASTE", "TEXT"),
    # An else belongs to the nearest if.
    ("nonassoc", "THEN"),
    ("nonassoc", "ELSE"),
)


def p_file(p: Any) -> None:
    """file :
    | file statement"""
    # Finished statements are handed over at once: they are evaluated before a later syntax error is reported.
    if len(p) == 3:
        p.lexer.statements.append(p[2])


def p_list_start(p: Any) -> None:
    """statements :
    items :"""
    p[0] = []


def p_list_one(p: Any) -> None:
    """declarations : declaration
    references : reference
    range_list : range_piece
    bindings : binding
    values : value
    arguments : argument
    clauses : clause
    dag_arguments : dag_argument"""
    p[0] = [p[1]]


def p_list_more(p: Any) -> None:
    """statements : statements statement
    items : items item"""
    p[1].append(p[2])
    p[0] = p[1]


def p_list_comma(p: Any) -> None:
    """declarations : declarations ',' declaration
    references : references ',' reference
    range_list : range_list ',' range_piece
    bindings : bindings ',' binding
    values : values ',' value
    arguments : arguments ',' argument
    clauses : clauses ',' clause
    dag_arguments : dag_arguments ',' dag_argument"""
    p[1].append(p[3])
    p[0] = p[1]


def p_statement(p: Any) -> None:
    """statement : class
    | def
    | multiclass
    | defm
    | let
    | foreach
    | if
    | defset
    | deftype
    | defvar
    | assert
    | dump
    item : defvar
    | assert
    | dump"""
    p[0] = p[1]


def p_class(p: Any) -> None:
    """class : CLASS ID template_arguments body"""
    p[0] = s.ClassStatement(at=p.lexpos(2), keyword=p.lexpos(1), name=p[2], arguments=p[3], body=p[4])


def p_template_arguments(p: Any) -> None:
    """template_arguments :
    | '<' declarations '>'"""
    p[0] = tuple(p[2]) if len(p) > 1 else ()


def p_body(p: Any) -> None:
    """body : parents ';'
    | parents '{' items '}'"""
    p[0] = s.Body(parents=p[1], items=tuple(p[3]) if len(p) > 3 else ())


def p_parents(p: Any) -> None:
    """parents :
    | ':' references"""
    p[0] = tuple(p[2]) if len(p) > 1 else ()


def p_reference(p: Any) -> None:
    """reference : ID"""
    p[0] = s.Reference(at=p.lexpos(1), end=p.lexpos(1), name=p[1])


def p_reference_arguments(p: Any) -> None:
    """reference : ID '<' '>'
    | ID '<' arguments '>'
    instance : ID '<' '>'
    | ID '<' arguments '>'"""
    last = len(p) - 1
    arguments = tuple(p[3]) if last == 4 else ()
    p[0] = s.Reference(at=p.lexpos(1), end=p.lexpos(last), name=p[1], arguments=arguments)


def p_argument(p: Any) -> None:
    """argument : value
    | ID '=' value"""
    p[0] = s.Argument(value=p[1]) if len(p) == 2 else s.Argument(value=p[3], name=p[1])


def p_item_declaration(p: Any) -> None:
    """item : declaration ';'"""
    p[0] = p[1]


def p_declaration(p: Any) -> None:
    """declaration : field type ID
    | field type ID '=' value"""
    value = p[5] if len(p) > 4 else None
    p[0] = s.Declaration(at=p.lexpos(3), type=p[2], name=p[3], value=value, is_field=p[1])


def p_field(p: Any) -> None:
    """field :
    | FIELD"""
    p[0] = len(p) > 1


def p_item_let(p: Any) -> None:
    """item : LET ID '=' value ';'
    | LET ID '{' range_list '}' '=' value ';'"""
    equals = len(p) - 3
    pieces = tuple(p[4]) if len(p) > 6 else None
    p[0] = s.Binding(at=p.lexpos(2), name=p[2], pieces=pieces, equals=p.lexpos(equals), value=p[equals + 1])


def p_binding(p: Any) -> None:
    """binding : ID '=' value
    | ID '<' range_list '>' '=' value"""
    equals = len(p) - 2
    pieces = tuple(p[3]) if len(p) > 4 else None
    p[0] = s.Binding(at=p.lexpos(1), name=p[1], pieces=pieces, equals=p.lexpos(equals), value=p[equals + 1])


def p_defvar(p: Any) -> None:
    """defvar : DEFVAR ID '=' value ';'"""
    p[0] = s.Defvar(at=p.lexpos(2), name=p[2], value=p[4])


def p_assert(p: Any) -> None:
    """assert : ASSERT value ',' value ';'"""
    p[0] = s.Assert(at=p.lexpos(1), condition=p[2], message=p[4])


def p_dump(p: Any) -> None:
    """dump : DUMP value ';'"""
    p[0] = s.Dump(at=p.lexpos(1), message=p[2])


def p_def(p: Any) -> None:
    """def : DEF name body"""
    p[0] = s.DefStatement(at=p.lexpos(1), name=p[2], body=p[3])


def p_name(p: Any) -> None:
    """name :
    | name_value"""
    p[0] = p[1] if len(p) > 1 else None


def p_multiclass(p: Any) -> None:
    """multiclass : MULTICLASS ID template_arguments parents '{' statements statement '}'
    | MULTICLASS ID template_arguments ':' references ';'"""
    braces = len(p) == 9
    p[0] = s.MulticlassStatement(
        at=p.lexpos(2),
        keyword=p.lexpos(1),
        name=p[2],
        arguments=p[3],
        parents=p[4] if braces else tuple(p[5]),
        statements=(*p[6], p[7]) if braces else (),
    )


def p_defm(p: Any) -> None:
    """defm : DEFM name ':' references ';'"""
    p[0] = s.DefmStatement(at=p.lexpos(1), name=p[2], references=tuple(p[4]))


def p_block(p: Any) -> None:
    """block : statement
    | '{' statements '}'"""
    p[0] = (p[1],) if len(p) == 2 else tuple(p[2])


def p_let(p: Any) -> None:
    """let : LET bindings IN block"""
    p[0] = s.LetStatement(at=p.lexpos(1), bindings=tuple(p[2]), statements=p[4])


def p_foreach(p: Any) -> None:
    """foreach : FOREACH ID '=' range_piece IN block"""
    p[0] = s.ForeachStatement(at=p.lexpos(1), variable=p[2], values=p[4], in_=p.lexpos(5), statements=p[6])


def p_if(p: Any) -> None:
    """if : IF value THEN block %prec THEN
    | IF value THEN block ELSE block"""
    p[0] = s.IfStatement(at=p.lexpos(1), condition=p[2], then=p[4], otherwise=p[6] if len(p) > 5 else None)


def p_defset(p: Any) -> None:
    """defset : DEFSET type ID '=' '{' statements '}'"""
    p[0] = s.DefsetStatement(at=p.lexpos(3), type=p[2], name=p[3], statements=tuple(p[6]))


def p_deftype(p: Any) -> None:
    """deftype : DEFTYPE ID '=' type ';'"""
    p[0] = s.DeftypeStatement(at=p.lexpos(2), name=p[2], type=p[4])


def p_error(token: Any) -> None:
    raise UnexpectedToken(token)


class UnexpectedToken(Exception):
    """The parser cannot go on at this token; None is the end of the input."""

    def __init__(self, token: Any) -> None:
        super().__init__(token)
        self.token = token


@cache
def parser() -> Any:
    """Return the tables. They are built on first use, because it takes a moment and most commands never read a target
    description.
    """
    require_docstrings()
    # PLY wants all productions in one namespace.
    rules = SimpleNamespace(**{**vars(value_grammar), **globals()})
    return yacc.yacc(module=rules, write_tables=False, debug=False, errorlog=yacc.NullLogger())
