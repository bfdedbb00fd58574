"""``--llvm``: what the versions of ``llvm-tblgen`` answer differently, against each version that is installed.

Every program here is accepted under every version. A version of the reference tool that accepts it, too, prints the
same bytes.
"""

from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.commands.cli import main
from tabla.templates import tablegen

VERSIONS = tablegen.LLVM_VERSIONS

PROGRAMS = {
    "elements": "class P<int i, list<int> l> { int a = l[i]; int b = l[0]; list<int> c = l[0, 1]; list<int> d = l[i,];"
    " list<int> e = l[0...i, 2]; list<int> f = l[2, i...2, 3, 4]; list<int> g = l[3-1]; list<int> h = l[i...2, 0-i]; }",
    "an element out of range": "class P<list<int> l, int i> { int x = l[i]; list<int> y = l[0, i];"
    " list<int> z = l[0...i];"
    "\n int r = !if(!lt(i, !size(l)), x, -1); }\ndef a { int x = P<[7, 8], 1>.r; }\ndef b { int x = P<[7, 8], 5>.r; }",
    "what waits": "class A<int n, list<int> l, string s, dag d> { int f = !foldl(0, l, x, y, !add(x, y));"
    " bit b = !lt(n, 2);"
    " list<int> g = !foreach(x, l, !add(x, n)); list<int> h = !filter(x, l, !eq(x, n)); bit i = !isa<A>(n);"
    ' string c = !cond(!eq(n, 1): "a", true: "b"); string t = s # "x" # n; list<string> m = !listsplat(s, 2);'
    ' int e = !empty(l); string u = !substr(s, 1); string v = !interleave(l, ","); int z = !find(s, "x");'
    " list<int> r1 = !range(n); list<int> r2 = !range(l); list<int> r3 = !range(1, n);"
    " list<int> k = !listremove(l, [1]);"
    ' int o = !getdagarg<int>(d, 0); string p = !getdagname(d, n); dag q = !setdagarg(d, "x", n); int w = !logtwo(n);'
    " int ex = !exists<A>(s); string rp = !repr(n); string up = !toupper(s); dag j = !setdagname(d, 0, s); }",
    "decimal numbers": "def a { int x = 9223372036854775808; int y = 18446744073709551615;"
    " int z = -9223372036854775808;"
    " int w = +9223372036854775809; int v = 9223372036854775807; }",
    "bits of the sign": f"def a {{ int x = 0b{'1' * 64}; bits<64> y = 0b1{'0' * 63}; }}",
    "decimal numbers of any size": "def a { int x = 18446744073709551616; int y = -9223372036854775809; }",
    "the name of an operator": "class A; def op; def a : A { dag d = (op:$n 1:$m, ?:$k); dag e = (op); }",
    "places": "class A<int n> { int m = n; }\nmulticlass M {\n def x : A<1>;\n}\ndefm y : M;\n\ndef z { A a = A<2>;\n"
    " A b = A<2>; }\nforeach i = [1, 2] in\n def w#i : A<i>;\ndef : A<7>;",
    "variables in bodies": "class C<int n> { defvar twice = !mul(n, 2); int a = twice; defvar next = !add(a, 1);\n"
    " int b = next; let a = 9; }\ndef x : C<5>;\ndefvar o = 3;\ndef y { defvar o = 4; int k = o; }\n"
    "def z { int k = o; defvar h = k; int l = h; let k = 8; }\n"
    "multiclass M<int n> { defvar square = !mul(n, n); def a : C<square>; }\ndefm w : M<4>;",
    "a variable that names a def and a field": "def o; class C { int o = 1; defvar v = o;"
    " string s = !cast<string>(v); }\ndef x : C;",
    "a question that is never answered": "class B; class C<list<int> l>;\n"
    "def x { int f; bits<2> d = {!isa<B>(C<[f, 2]>), 0}; }",
    "variables that hide": "class P<int a> { defvar a = 9; int f = a; }\ndef x : P<3>;\nmulticlass M<int n> {\n"
    " foreach n = [7] in def b#n { int y = n; } }\ndefm z : M<4>;",
    "instances by name": "class P<int i, int j = 3, int k = 4> { int s = !add(i, j, k); }\ndef q { int a = P<1, 2>.s;"
    " int b = P<1, j = 2>.s; int c = P<1, 2, 4>.s; int d = P<j = 2, i = 1>.s; int e = P<1, k = 5>.s; }\n"
    "class R<int x> { int a = P<x, k = 5>.s; int b = P<j = x, i = x>.s; int c = P<x>.s; }\ndef r : R<2>;\n"
    "def s : P<k = 1, i = 2>;",
    "isa": "class A; class B : A; class D; class C<A a, list<A> l> { bit b = !isa<B>(a); int c = !isa<D>(l[0]);"
    " int d = !if(!isa<B>(a), 1, 2); int e = !isa<D>(a); }\ndef p : A; def q : B;\ndef x : C<p, [q]>;",
    "a shared ancestor": "class Base<int x = 1> { int a = x; int b = a; } class L : Base<2> { let b = 5; } class M;\n"
    "class R : Base<3> { int c = a; } def X : L, R; def Y : R, L; class D : L, R { let a = 9; } def Z : D, M;\n"
    "class E<list<R> l, Base b> { int s = !size(l); int i = !isa<L>(b); } def e : E<[X, Z], Y>; def f : Base<4>, L;\n"
    "defset list<Base> all = { def g : D; def h : R; }\nclass F<list<Base> l = [X, Z]>;\ndef i : F;",
    "the left operand decides": "class C<int n> { int x = !or(-1, !add(n, 1)); int y = !and(0, n);"
    " int z = !or(n, -1); }\n"
    "class D<int m> : C<m>;\nclass E { bits<4> q = {0, 0, ?, 1}; field int w = !and(3, q); }\n"
    "def e : E;\ndef f : D<4>;",
    "the left operand decides alone": "def a { int u; int x = !or(-1, !add(u, 1)); int y = !and(0, {0, ?}); }",
    "an argument that the left operand decides": "class C<int n> { int m = n; } class B { int u; }\n"
    "def a { B b; int u; C c = C<!and(0, u)>; int d = C<!or(-1, b.u)>.m; }",
    "an argument that is never answered": "class B; class C<bit n> { bit m = n; }\ndef o;\n"
    "def x { int u; C c = C<!isa<B>((o (o u)))>; bit m = C<!isa<B>((o u, 1))>.m; }",
    "a default that waits in a clause": "class C<bit a, int b, list<int> c = !cond(a: [7, 3], true: [b, 2])>"
    " { list<int> v = c; }\ndef x : C<0, 3>;\nmulticlass M<int n> { def a : C<!empty([n]), n>; }\ndefm y : M<2>;\n"
    "def z { list<int> v = C<1, 4>.v; }",
    "a default that is unset in a clause": "class C<bit a, int c = !cond(a: ?, true: 4)> { int v = c; }\ndef x : C<0>;",
    "a slice out of range that is counted": "class C<list<int> l> { int s = !size(l[1, 0]); int e = !empty(l[0...3]);"
    " int f = !foldl(3, l[1, 0], a, b, 7); }\ndef a : C<[5]>;\ndef b { list<int> g; int s = !size(g[2, 1]); }",
    "listflatten": "class C<list<list<int>> l> { list<int> f = !listflatten(l); list<int> g = !listflatten([1, 2]);"
    ' list<string> h = !listflatten([["a"], []<string>, ["b", "c"]]); }\ndef x : C<[[1], [2, 3]]>;',
    "match": 'class C<string s> { bit a = !match(s, "^b.*[[:digit:]]$"); int b = !match(s, "a|e"); }\n'
    'def x : C<"bell7">; def y : C<"cat">;\ndef z { bit a = !match("a]b", "[]]b"); bit b = !match("aa", "(a)\\\\1");'
    ' bit c = !match("ad", "\\\\d"); bit d = !match("xyz", "^(y|z)");'
    ' bit f = !match("a\\n", "a$"); bit e = !match("a\\\\", "[\\\\]$"); }',
    "initialized": "class C<string s> { int a = !initialized(s); bits<4> b; int c = !initialized(b);"
    " int d = !initialized(?);"
    ' list<int> l = [1, ?]; int e = !initialized(l); }\ndef p : C<"x">;\ndef q : C<?>;',
    "instances": "class P; class Q : P; def ab : P; def ba : Q; defvar k = !size(!instances<P>());"
    " class T<string s> {\n"
    ' list<P> x = !instances<P>(s); list<Q> y = !instances<Q>(); }\ndef a { int x = k; list<P> z = T<"b$">.x; }\n'
    'def aa : P; def t : T<"^a">; class U { list<P> own = !instances<P>(NAME); }\ndef u : P, U;',
    "elements that a list loses": "class R; def p : R; def q : R;\n"
    "class P<int n, string s, bit t> { list<int> a = !listremove([1, n, 2], [n, 2]);"
    ' list<string> b = !listremove([s, "x", [{y}]], ["y", s]); list<bit> c = !listremove([t, 0], [0]);'
    " list<list<int>> d = !listremove([[1], [2]], [[1]]); list<R> e = !listremove([p, q], [q]); }\n"
    'def x { string g = "a"; list<string> f = !listremove(["b", g, "a"], ["a", g]); }\ndef y : P<2, "z", 0>;',
    "a number before the first element": "class C<list<int> l> { list<int> b = !if(0, l[-1...0], []<int>);"
    " int c = !if(1, 2, l[-2]); }\ndef x : C<[4]>;\ndefvar v = [1, 3] [-1];",
    "an element of a list that is computed": "class A; def c : A; class X<list<list<int>> l> { int a = !range(3) [1];"
    " int b = !listflatten(l) [0]; A d = !instances<A>() [0]; string s = !getdagopname((c)); }\ndef x : X<[[1], [2]]>;",
    "letters of a number that nobody needs": "class P<list<int> l> { string a = !toupper(3);"
    " dag d = (? !tolower(l)); }",
    "letters of code": "class P<string s> { string a = !toupper(s); string b = !tolower([{Ab}]); }\n"
    "def x : P<[{Code}]>;",
    "names of joined dags": "def op; class C<dag a, dag b> { dag c = !con(a, b); dag d = !con((?), a); }\n"
    "def a : C<(op:$x 1), (op:$y 2)>;\ndef b : C<(op 1), (op:$y 2)>;\ndef c : C<(?:$x 1), (op 2)>;",
    "a range of one element": "class P<list<int> l> { int a = l[0...0]; int b = !add(l[1-1], 2); }\ndef x : P<[3, 4]>;",
    "a list of one element": "class P<list<int> l> { list<int> a = l[0...0];"
    " list<int> b = !foreach(i, l[1...1], i); }\ndef x : P<[3, 4]>;",
    "names of arguments that are code": "def op; class C<dag d, string s> {"
    " string a = !getdagname(!setdagname(d, 0, s), 0); dag h = !dag(op, [1, 2], [[{k}], ?]);"
    " string b = !strconcat(!getdagname(h, 0), s); string c = !getdagname(h, 1);"
    ' int e = !getdagarg<int>(h, "k"); dag i = !dag(op, [1, 2], ["k", ?]); string f = !getdagname(i, 0); }\n'
    'def x : C<(op 1), [{m}]>;\ndef y : C<(op 1), "m">;',
    "names of operators that are code": "def op; class C<dag d, string s> { dag a = !setdagopname(d, s);"
    ' string b = !getdagopname(a); bit c = !eq(b, "m"); }\ndef x : C<(op:$n 1), [{m}]>;\ndef y : C<(op:$m 1), "m">;',
    "names of dags": "def op; class C<dag d, string s> { string a = !getdagopname(d); dag b = !setdagopname(d, s); }\n"
    'def x : C<(op:$n 1), "m">;\ndef y : C<(op:$o 1:$k), "m">;\ndef z { string a = !getdagopname((op:$u)); }',
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_version_prints_the_same(name: str, version: int, tmp_path: Path, ours, reference_of) -> None:
    path = tmp_path / "program.td"
    path.write_text(PROGRAMS[name])
    mine = ours(path, [f"--llvm={version}"])
    assert mine.accepted, mine.message
    theirs = reference_of(version)(path)
    if theirs.accepted:
        assert mine.differs(theirs) == ""


NEWEST_REFUSES = {
    "decimal numbers of any size",
    "a slice out of range that is counted",
    "a question that is never answered",
    "an argument that is never answered",
    "a default that is unset in a clause",
    "a range of one element",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_some_version_accepts(name: str, tmp_path: Path, reference_of) -> None:
    """No program is compared with nothing: version 22 accepts it, or 14 does."""
    path = tmp_path / "program.td"
    path.write_text(PROGRAMS[name])
    assert reference_of(14 if name in NEWEST_REFUSES else 22)(path).accepted


def value(text: str, field: str, version: int) -> object:
    """The field of record `x` or, if there is none, the text of the field of class ``X``."""
    records = tablegen.loads(text, llvm=version)
    if "x" in records:
        return records["x"][field]
    printed = tablegen.written(records, "print-records")
    return next(line.split(" = ", 1)[1] for line in printed.splitlines() if f" {field} = " in line)


# What each version says, written out, for machines without the reference tool.
ANSWERS = [
    ("class X<list<int> l> { list<int> a = l[0, 1]; }", "a", ("[X:l[0], X:l[1]];", "X:l[[0, 1]];", "X:l[[0, 1]];")),
    ("class X<list<int> l, int i> { int a = l[i]; }", "a", ("X:l[X:i];", "X:l[X:i];", "X:l[X:i];")),
    ("def x { int a = 9223372036854775808; }", "a", (2**63 - 1, -(2**63), -(2**63))),
    ("def o; class X { dag a = (o:$n 1); }", "a", ("(o:n 1);", "(o:n 1);", "(o:$n 1);")),
    ("class X<int n> { bit a = !isa<X>(n); }", "a", ("0;", "0;", "!cast<bit>(!isa<X>(X:n));")),
    ("class P<int n> { int m = n; } class X<int n> { int a = P<n>.m; }", "a", ("P<X:n>.m;", *["P<0: X:n>.m;"] * 2)),
    (
        "class P<int i, int j> { int s = i; } class X<int n> { int a = P<j = n, i = 1>.s; }",
        "a",
        ('P<"P:j": X:n, "P:i": 1>.s;',) * 3,
    ),
    ("def o; class C { int o = 1; defvar v = o; string s = !cast<string>(v); } def x : C;", "s", ("o", "1", "1")),
    ("class P<int a> { defvar a = 9; int f = a; } def x : P<3>;", "f", (3, 9, 9)),
]


@pytest.mark.parametrize(("text", "field", "answers"), ANSWERS)
def test_answers(text: str, field: str, answers: tuple[object, ...]) -> None:
    assert tuple(value(text, field, version) for version in VERSIONS) == answers


def test_places_in_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An absent option is version 14. The places are those of the def, then of the defm."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    Path("folder/a.td").write_text("multiclass M {\n def b;\n}\ndefm a : M;\n")
    printed = []
    for options in ([], ["--llvm", "14"], ["--llvm", "19"], ["--llvm", "22"]):
        assert main(["tblgen", "--dump-json", *options, "folder/a.td"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert printed[2] == printed[3]
    assert printed[2] == printed[0].replace('"!name":"ab"', '"!locs":["a.td:2","a.td:4"],"!name":"ab"')


def test_no_other_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tblgen", "--llvm", "15", "a.td"]) == 2
    assert "14, 19, 22" in capsys.readouterr().err


REFUSED = {
    "an element of the wrong type": ("def x {\n int a = 1; int b = [1, 2][!add(a, 1)]; }", 2, "a list when"),
    "an element": ("class C<list<int> l> { int b = l[2]; }\ndef x : C<[1]>;", 2, "2 is out of range 0...0"),
    "a slice": ("class C<list<int> l> { list<int> b = l[0...2]; }\ndef x : C<[1]>;", 2, "1 is out of range 0...0"),
    "a pattern": ('def x {\n bit m = !match("a", "(a"); }', 1, r"invalid regular expression '\(a'"),
    "an empty pattern": ('def x {\n bit m = !match("a", ""); }', 1, "it is empty"),
    "two repetitions": ('def x {\n bit m = !match("a", "a*?"); }', 1, "nothing stands before the repetition"),
    "a class of characters": ('def x {\n bit m = !match("a", "[[:vowel:]]"); }', 1, "vowel"),
    "instances of a number": ("def x {\n list<int> m = !instances<int>(); }", 2, "must be a record type"),
    "a number that is no dag": ("def x {\n string m = !getdagopname(7); }", 2, "must be a dag"),
    "no name": ("def o;\ndef x { dag d = !setdagopname((o), ?); }", 2, "has no type"),
    "a dump of nothing": ('class T {}\ndump !cast<T>("missing");', 2, "undefined reference to record: 'missing'"),
    "a dump of nothing in a multiclass": (
        'class T;\nmulticlass M<string s> { dump !cast<T>(s); }\ndefm a : M<"gone">;', 2, "record: 'gone'",
    ),
    "a class twice": ("class B;\ndef x : B, B;", 2, "already subclass of 'B'"),
    "a class that an ancestor has": ("class B; class L : B;\ndef x : L, B;", 2, "already subclass of 'B'"),
    "a variable twice": ("class C<int n> { defvar a = n;\ndefvar a = n; }", 2, "already exists"),
}  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("row", REFUSED)
def test_refused(row: str, version: int) -> None:
    text, line, message = REFUSED[row]
    with pytest.raises(TablaError, match=message) as caught:
        tablegen.loads(text, llvm=version)
    assert caught.value.line == line


def test_a_dump_shows_a_record_that_is_there() -> None:
    records = tablegen.loads('class T; def a : T; dump !cast<T>("a"); dump "x" # !cast<string>(a);')
    assert records.dumped == ("a {\t// T\n}\n", "xa")
