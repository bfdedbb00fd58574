"""The checklist's output formats, with what the real tool prints for one program written out."""

import json
from pathlib import Path

from tabla.templates import tablegen

PROGRAM = r"""
class A<int n = 3> { int v = n; }
class B<bit b, string s> { bit on = b; string word = s; }
def op;
def Zero : A;
def X : A<7>, B<1, "q"> {
  bits<4> known = { 1, 0, ?, 0 };
  bit set;
  string text = "a \"b\"";
  list<int> numbers = [1, 2];
  A other = Zero;
  dag tree = (op 4:$four, ?:$free, Zero);
  bits<2> Low;
  bits<4> Inst;
  let Inst{1-0} = Low;
  let Inst{3} = set;
  code fragment = [{ x }];
}
multiclass M<int p> { def _x : A<p>; }
defm Y : M<1>;
class C<string s> { string twice = !strconcat(s, s); A made = A<4>; }
"""
RECORDS = """------------- Classes -----------------
class A<int A:n = 3> {
  int v = A:n;
}
class B<bit B:b = ?, string B:s = ?> {
  bit on = B:b;
  string word = B:s;
}
class C<string C:s = ?> {
  string twice = !strconcat(C:s, C:s);
  A made = anonymous_0;
}
------------- Defs -----------------
def X {\t// A B
  int v = 7;
  bit on = 1;
  string word = "q";
  bits<4> known = { 1, 0, ?, 0 };
  bit set = ?;
  string text = "a "b"";
  list<int> numbers = [1, 2];
  A other = Zero;
  dag tree = (op 4:$four, ?:$free, Zero);
  bits<2> Low = { ?, ? };
  bits<4> Inst = { set, ?, Low{1}, Low{0} };
  code fragment = [{ x }];
}
def Y_x {\t// A
  int v = 1;
}
def Zero {\t// A
  int v = 3;
}
def anonymous_0 {\t// A
  int v = 4;
}
def op {
}
"""
DEF_ZERO = {"kind": "def", "def": "Zero", "printable": "Zero"}
FIELDS = {
    "v": 7,
    "on": 1,
    "word": "q",
    "known": [0, None, 0, 1],
    "set": None,
    "text": 'a "b"',
    "numbers": [1, 2],
    "other": DEF_ZERO,
    "tree": {
        "kind": "dag",
        "operator": {"kind": "def", "def": "op", "printable": "op"},
        "args": [[4, "four"], [None, "free"], [DEF_ZERO, None]],
        "printable": "(op 4:$four, ?:$free, Zero)",
    },
    "Low": [None, None],
    "Inst": [
        {"kind": "varbit", "var": "Low", "index": 0, "printable": "Low{0}"},
        {"kind": "varbit", "var": "Low", "index": 1, "printable": "Low{1}"},
        None,
        {"kind": "var", "var": "set", "printable": "set"},
    ],
    "fragment": " x ",
}


def test_print_records() -> None:
    assert tablegen.backend.print_records(tablegen.loads(PROGRAM).keeper) == RECORDS


def test_dump_json() -> None:
    text = tablegen.backend.dump_json(tablegen.loads(PROGRAM).keeper)
    found = json.loads(text)
    assert text.startswith('{"!instanceof":{"A":["X","Y_x","Zero","anonymous_0"],"B":["X"],"C":[]},')
    assert list(found) == sorted(found) and found["!tablegen_json_version"] == 1
    assert {name for name, record in found.items() if name[0] != "!" and record["!anonymous"]} == {"anonymous_0"}
    record = found["X"]
    assert (record.pop("!name"), record.pop("!superclasses"), record.pop("!fields")) == ("X", ["A", "B"], [])
    assert record.pop("!anonymous") is False
    assert record == FIELDS


def test_both_are_the_real_tools(tmp_path: Path, ours, reference) -> None:
    path = tmp_path / "output.td"
    path.write_text(PROGRAM)
    assert ours(path).differs(reference(path)) == ""
    assert reference(path).records == RECORDS
