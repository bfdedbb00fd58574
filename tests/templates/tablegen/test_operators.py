"""The table of operators: each record makes sense by itself, and an operator that waits prints as it is written."""

from __future__ import annotations

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen
from tabla.templates.tablegen import bang, operators

# Each operator with arguments of its kind. The classes and defs stand in `BEFORE`.
BEFORE = (
    "class T { int n = 3; } def t : T; def o; class U : T;\nclass Waiting<int i, string s, list<int> l, dag d, T r> {\n"
)
CALLS = {
    **dict.fromkeys("add sub mul and or xor shl sra srl".split(), ("int", "i, 2")),
    **dict.fromkeys("eq ne lt le gt ge".split(), ("bit", "i, 2")),
    "not": ("int", "i"), "div": ("int", "i, 2"), "logtwo": ("int", "i"), "strconcat": ("string", 's, "x"'),
    "interleave": ("string", 'l, ","'), "substr": ("string", "s, 1, 2"), "find": ("int", 's, "x", 0'),
    "subst": ("string", '"a", "b", s'), "tolower": ("string", "s"), "toupper": ("string", "s"),
    "match": ("bit", 's, "x"'), "repr": ("string", "i"), "listconcat": ("list<int>", "l, [1]"),
    "listsplat": ("list<int>", "1, i"), "listflatten": ("list<int>", "!foreach(x, [1], l)"),
    "listremove": ("list<int>", "l, [1]"), "range": ("list<int>", "0, i, 1"), "head": ("int", "l"),
    "tail": ("list<int>", "l"), "size": ("int", "l"), "empty": ("int", "l"), "con": ("dag", "d, d"),
    "dag": ("dag", 'o, l, ["a"]'), "getdagop": ("T", "d"), "setdagop": ("dag", "d, o"), "getdagopname": ("string", "d"),
    "setdagopname": ("dag", 'd, "n"'), "getdagarg": ("int", "d, 0"), "getdagname": ("string", "d, 0"),
    "setdagarg": ("dag", "d, 0, 1"), "setdagname": ("dag", 'd, 0, "n"'), "if": ("int", "i, 1, 2"),
    "cond": ("int", "i: 1, 1: 2"), "foreach": ("list<int>", "x, l, !add(x, 1)"), "filter": ("list<int>", "x, l, x"),
    "foldl": ("int", "0, l, x, y, !add(x, y)"), "cast": ("T", "s"), "isa": ("int", "r"), "exists": ("int", "s"),
    "instances": ("list<T>", "s"), "initialized": ("int", "s"),
}  # fmt: skip
# These print their type in angle brackets while they wait; `!getdagop` is written with it, and does not.
TYPED = {"cast": "T", "isa": "U", "exists": "T", "instances": "T", "getdagarg": "int", "getdagop": "T"}


def test_every_operator_is_called_here() -> None:
    assert {one.name for one in operators.OPERATORS.values()} == set(CALLS)
    assert set(operators.OPERATORS) - set(CALLS) == {"getop", "setop"}


def program(name: str, more: str = "") -> str:
    """A class with a field whose value is a call of the operator."""
    type, arguments = CALLS[name]
    given = f"<{TYPED[name]}>" if name in TYPED else ""
    return f"{BEFORE}  {type} a = !{name}{given}({arguments}{more}); }}"


@pytest.mark.parametrize("name", CALLS)
def test_an_operator_prints_as_it_is_written_while_it_waits(name: str) -> None:
    printed = tablegen.written(tablegen.loads(program(name)), "print-records")
    line = next(line for line in printed.splitlines() if line.startswith("  ") and " a = " in line)
    shown = f"<{TYPED[name]}>" if name in TYPED and name != "getdagop" else ""
    assert f"!{name}{shown}(" in line


@pytest.mark.parametrize("name", CALLS)
def test_too_many_arguments_are_refused(name: str) -> None:
    if name == "cond" or operators.OPERATORS[name].associative:
        pytest.skip("it takes any number of arguments")
    with pytest.raises(TablaError):
        tablegen.loads(program(name, ", i, i, i, i"))


def test_each_form_has_a_reader() -> None:
    forms = {one.form for one in operators.OPERATORS.values()}
    assert forms - {"cond"} <= set(bang._READERS)


def test_each_record_has_a_sensible_arity() -> None:
    for one in operators.OPERATORS.values():
        assert 0 <= one.least <= one.most
        assert one.form != "listed" or len(one.operands) == one.most
