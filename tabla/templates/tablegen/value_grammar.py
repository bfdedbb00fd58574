"""The productions of types and values (reference, section 1.3, "Types", and 1.4, "Values and expressions").

They are read by PLY through `grammar`, which has the statements.
"""

from __future__ import annotations

from typing import Any

from tabla.templates.tablegen import syntax as s


def p_type_word(p: Any) -> None:
    """type : BIT
    | INT
    | STRING
    | CODE
    | DAG"""
    p[0] = s.TypeName(at=p.lexpos(1), end=p.lexpos(1), kind=p[1])


def p_type_bits(p: Any) -> None:
    """type : BITS '<' INTEGER '>'"""
    p[0] = s.TypeName(at=p.lexpos(1), end=p.lexpos(4), kind="bits", width=p[3])


def p_type_list(p: Any) -> None:
    """type : LIST '<' type '>'"""
    p[0] = s.TypeName(at=p.lexpos(1), end=p.lexpos(4), kind="list", element=p[3])


def p_type_class(p: Any) -> None:
    """type : ID"""
    p[0] = s.TypeName(at=p.lexpos(1), end=p.lexpos(1), kind="class", name=p[1])


def p_range_piece(p: Any) -> None:
    """range_piece : value
    | value ELLIPSIS value
    | value '-' value
    | value INTEGER"""
    if len(p) == 2:
        p[0] = s.RangePiece(first=p[1])
    elif len(p) == 4:
        p[0] = s.RangePiece(first=p[1], last=p[3])
    else:
        last = s.Integer(at=p.lexpos(2), end=p.lexpos(2), value=-p[2])
        p[0] = s.RangePiece(first=p[1], last=last, joined=True)


def p_value(p: Any) -> None:
    """value : simple
    | braces
    name_value : simple"""
    p[0] = p[1]


def p_bit_selection(p: Any) -> None:
    """value : value '{' range_list '}'"""
    p[0] = s.BitSelection(at=p[1].at, open=p.lexpos(2), end=p.lexpos(4), base=p[1], pieces=tuple(p[3]))


def p_element_selection(p: Any) -> None:
    """value : value '[' range_list comma ']'
    name_value : name_value '[' range_list comma ']'"""
    p[0] = s.ElementSelection(
        at=p[1].at, open=p.lexpos(2), end=p.lexpos(5), base=p[1], pieces=tuple(p[3]), trailing_comma=p[4]
    )


def p_comma(p: Any) -> None:
    """comma :
    | ','"""
    p[0] = len(p) > 1


def p_field_selection(p: Any) -> None:
    """value : value '.' ID
    name_value : name_value '.' ID"""
    p[0] = s.FieldSelection(at=p[1].at, end=p.lexpos(3), base=p[1], field=p[3])


def p_paste(p: Any) -> None:
    """value : value PASTE name_value %prec END_OF_VALUE
    | value TRAILING_PASTE
    name_value : name_value PASTE name_value %prec END_OF_VALUE
    | name_value TRAILING_PASTE"""
    right = p[3] if len(p) > 3 else None
    end = p.lexpos(2) if right is None else right.end
    p[0] = s.Paste(at=p[1].at, hash=p.lexpos(2), end=end, left=p[1], right=right)


def p_simple_name(p: Any) -> None:
    """simple : ID"""
    p[0] = s.Name(at=p.lexpos(1), end=p.lexpos(1), text=p[1])


def p_simple_integer(p: Any) -> None:
    """simple : INTEGER"""
    p[0] = s.Integer(at=p.lexpos(1), end=p.lexpos(1), value=p[1])


def p_simple_truth(p: Any) -> None:
    """simple : TRUE
    | FALSE"""
    p[0] = s.Integer(at=p.lexpos(1), end=p.lexpos(1), value=int(p[1] == "true"))


def p_simple_binary(p: Any) -> None:
    """simple : BINARY"""
    value, width = p[1]
    p[0] = s.Binary(at=p.lexpos(1), end=p.lexpos(1), value=value, width=width)


def p_simple_text(p: Any) -> None:
    """simple : texts %prec END_OF_VALUE"""
    at, end, parts = p[1]
    p[0] = s.Text(at=at, end=end, value="".join(parts))


def p_texts(p: Any) -> None:
    """texts : TEXT
    | texts TEXT"""
    if len(p) == 2:
        p[0] = (p.lexpos(1), p.lexpos(1), [p[1]])
    else:
        at, _, parts = p[1]
        p[0] = (at, p.lexpos(2), [*parts, p[2]])


def p_simple_code(p: Any) -> None:
    """simple : CODE_TEXT"""
    p[0] = s.Text(at=p.lexpos(1), end=p.lexpos(1), value=p[1], is_code=True)


def p_simple_question(p: Any) -> None:
    """simple : '?'"""
    p[0] = s.Question(at=p.lexpos(1), end=p.lexpos(1))


def p_simple_instance(p: Any) -> None:
    """simple : instance"""
    p[0] = p[1]


def p_simple_list(p: Any) -> None:
    """simple : '[' ']' element_type
    | '[' values comma ']' element_type"""
    last = len(p) - 1
    items, given = (tuple(p[2]) if last > 3 else ()), p[last]
    end = p.lexpos(last - 1) if given is None else given.end + 1
    p[0] = s.ListLiteral(at=p.lexpos(1), end=end, items=items, element_type=given)


def p_element_type(p: Any) -> None:
    """element_type :
    | '<' type '>'"""
    p[0] = p[2] if len(p) > 1 else None


def p_braces(p: Any) -> None:
    """braces : '{' '}'
    | '{' range_list '}'"""
    last = len(p) - 1
    p[0] = s.Braces(at=p.lexpos(1), end=p.lexpos(last), pieces=tuple(p[2]) if last == 3 else ())


def p_simple_dag(p: Any) -> None:
    """simple : '(' value dag_name ')' %prec END_OF_VALUE
    | '(' value dag_name dag_arguments ')' %prec END_OF_VALUE"""
    last = len(p) - 1
    arguments = tuple(p[4]) if last == 5 else ()
    p[0] = s.DagLiteral(at=p.lexpos(1), end=p.lexpos(last), operator=p[2], operator_name=p[3], arguments=arguments)


def p_dag_name(p: Any) -> None:
    """dag_name : %prec END_OF_VALUE
    | ':' VARIABLE"""
    p[0] = p[2] if len(p) > 1 else None


def p_dag_argument(p: Any) -> None:
    """dag_argument : VARIABLE
    | value
    | value ':' VARIABLE"""
    if isinstance(p[1], str):
        p[0] = s.DagArgument(value=None, name=p[1])
    else:
        p[0] = s.DagArgument(value=p[1], name=p[3] if len(p) > 2 else None)


def p_simple_bang(p: Any) -> None:
    """simple : OPERATOR operator_type '(' values ')'
    | OPERATOR operator_type '(' ')'"""
    last = len(p) - 1
    arguments = tuple(p[4]) if last == 5 else ()
    p[0] = s.Bang(at=p.lexpos(1), end=p.lexpos(last), operator=p[1], type=p[2], arguments=arguments)


def p_operator_type(p: Any) -> None:
    """operator_type :
    | '<' type '>'"""
    p[0] = p[2] if len(p) > 1 else None


def p_simple_cond(p: Any) -> None:
    """simple : COND '(' clauses comma ')'
    | COND '(' ')'"""
    last = len(p) - 1
    p[0] = s.Cond(at=p.lexpos(1), end=p.lexpos(last), clauses=tuple(p[3]) if last > 3 else ())


def p_clause(p: Any) -> None:
    """clause : value ':' value"""
    p[0] = (p[1], p[3])
