"""What the checklist of the notes on TableGen has refused: the line of the fault, and a piece of the message."""

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen

REFUSED = {
    "bit 2": ("\ndef X { bit a=2; }", 2, "2 of 'a' .* does not fit"),
    "string escape": ('def X { string a="\\q"; }', 1, "escape"),
    "bits too small": ("def X { bits<2> a=5; }", 1, "5 of 'a' .* does not fit its type 'bits<2>'"),
    "no silent extension": ("def X { bits<8> a=0b1001011; }", 1, "incompatible"),
    "no silent truncation": ("def X { bits<2> a=0b101; }", 1, "incompatible"),
    "bits -9": ("def X { bits<4> a=-9; }", 1, "does not fit"),
    "bits with ? to int": ("class C { bits<2> v={1,?}; int n=v; }\ndef X : C;", 2, "could not be fully resolved"),
    "list of two types": ('def X { list<int> a=[1,"a"]; }', 1, "incompatible types"),
    "wrong class": ("class R; class S; def r : R;\ndef X { S a=r; }", 2, "field 'a' of type 'S'.*'r'.*'R'"),
    "dag operator": ("def X { dag d=(1 2); }", 1, "record"),
    "untyped empty list": ("defvar x=!size([]);", 1, "no type"),
    "bit out of range": ("class V { bits<4> v=1; bit b=v{4}; }", 1, "bit range"),
    "missing field": ("def D;\ndef X { int a=D.f; }", 2, "cannot access field 'f'"),
    "slice out of range": ("defvar l=[1];\ndef X { int c=l[1]; }", 2, "out of range"),
    "variable gone": ("foreach i=[1] in def R#i;\ndef X { int y=i; }", 2, "'i'"),
    "!con of different operators": ("def p; def q; def X { dag d=!con((p),(q)); }", 1, "do not match"),
    "!dag lengths": ('def p; \ndef X { dag d=!dag(p,[1,2],["a"]); }', 2, "could not be fully resolved"),
    "!getop over an argument": (
        "class B; def f : B;\nclass C<dag d> { B b=!getop(d); }\ndef X : C<(f)>;",
        2,
        "incompatible",
    ),
    "!listsplat negative": ("def X { list<int> a=!listsplat(1,-1); }", 1, "-1 times"),
    "!head empty": ("def X { int a=!head([]<int>); }", 1, "empty list"),
    "!head empty later": ("class C<list<int> l> { int a=!head(l); }\ndef X : C<[]>;", 2, "empty list"),
    "!tail empty": ("def X { list<int> a=!tail([]<int>); }", 1, "empty list"),
    "!cond none": ("class C<int x> { int a=!cond(!lt(x,0):1); }\ndef X : C<3>;", 2, "true condition"),
    "let Y=!add(Y,1)": ("class A { int Y=1; }\ndef Z : A { let Y=!add(Y,1); }", 2, "could not be fully resolved"),
    "cycle": ("class A { int X=1; int Y=X; }\ndef Z : A { let X=Y; }", 2, "could not be fully resolved"),
    "missing argument": ("class A<int a>;\ndef X : A;", 2, "not specified.*'A:a'"),
    "too many arguments": ("class A<int a>;\ndef X : A<1,2>;", 2, "too many"),
    "wrong argument": ('class A<int a>;\ndef X : A<"s">;', 2, "expected type int"),
    "same base twice": ("class A;\ndef X : A, A;", 2, "already subclass"),
    "def again": ("def A;\ndef A;", 2, "already exists"),
    "class again": ("class A { int x; }\nclass A { int y; }", 2, "already defined"),
    "class first in defm": ("class C; multiclass R { def a; }\ndefm I : C, R;", 2, "multiclass 'C'"),
    "unterminated comment": ("def X;\n/* /* */", 2, "comment"),
    "!cast of nothing": ('class A;\ndef X { A a=!cast<A>("nope"); }', 2, "nope"),
    "!div by zero": ("def X { int a=!div(1,0); }", 1, "zero"),
    "!logtwo of 0": ("def X { int a=!logtwo(0); }", 1, "not defined"),
    "index of a dag": ("def o; def X { int a=!getdagarg<int>((o 1),1); }", 1, "out of range"),
    "computed index": ("class C<int i, list<int> l=[1,2]> { int a=l[i]; }\ndef X : C<2>;", 2, "out of range"),
    "argument named twice": ("class A<int a>;\ndef X : A<a=1,a=2>;", 2, "twice"),
    "positional after named": ("class A<int a, int b>;\ndef X : A<a=1,2>;", 2, "follow"),
    "no such argument": ("class A<int a>;\ndef X : A<q=1>;", 2, "'q'"),
    "!cond value that does not fit": (
        # The reference tool drops such a value in silence.
        "class C<int i> { bits<2> a=!cond(1:!and(i,3),0:0b01); }\ndef X : C<1>;",
        1,
        "not of type 'bits<2>'",
    ),
}


@pytest.mark.parametrize("row", REFUSED)
def test_refused(row: str) -> None:
    text, line, message = REFUSED[row]
    with pytest.raises(TablaError, match=message) as caught:
        tablegen.loads(text)
    assert caught.value.line == line
