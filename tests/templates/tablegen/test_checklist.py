"""The checklist of notes/tablegen.md row by row, with the results written out (they are those of the real tool)."""

import pytest

from tabla.templates import tablegen


def printed(text: str) -> dict[str, str]:
    """``def.field`` -> ``type value`` as printed, and ``def`` -> its classes."""
    result: dict[str, str] = {}
    output = tablegen.backend.print_records(tablegen.loads(text).keeper).split("- Defs -")[1]
    current = ""
    for line in output.splitlines():
        if line.startswith("def "):
            current, _, classes = line[4:].partition(" {")
            result[current] = classes.removeprefix("\t// ")
        elif " = " in line:
            declaration, _, value = line.strip().rstrip(";").partition(" = ")
            result[f"{current}.{declaration.split()[-1]}"] = value
    return result


ACCEPTED = {
    # Types
    "bit": ("def X { bit a=1; bit b=0; bit c=?; }", {"X.a": "1", "X.b": "0", "X.c": "?"}),
    "int": (
        "def X { int a=5; int b=-5; int c=+7; int d=0x7F; int e=0b101; int f=0xffffffffffffffff; }",
        {"X.a": "5", "X.b": "-5", "X.c": "7", "X.d": "127", "X.e": "5", "X.f": "-1"},
    ),
    "string": (
        r'def X { string a="a\tb\"q\" \\ \'"; string b="foo" "bar"; }',
        {"X.a": '"a\tb"q" \\ \'"', "X.b": '"foobar"'},
    ),
    "code": ('def X { code c=[{x}]; code d="plain"; }', {"X.c": "[{x}]", "X.d": '"plain"'}),
    "bits": (
        "def X { bits<4> a=5; bits<4> c={1,0,?,1}; bits<4> d=?; bits<4> e=-1; bits<4> f=-8; }",
        {
            "X.a": "{ 0, 1, 0, 1 }",
            "X.c": "{ 1, 0, ?, 1 }",
            "X.d": "{ ?, ?, ?, ? }",
            "X.e": "{ 1, 1, 1, 1 }",
            "X.f": "{ 1, 0, 0, 0 }",
        },
    ),
    "bits to int and bit": (
        "def X { bits<4> b=0b1010; int i=0b1010; bits<1> o=1; bit t=o; int j=!cast<int>(0b1010); }",
        {"X.i": "10", "X.t": "1", "X.j": "10"},
    ),
    "list": (
        'class R; def r0 : R; def X { list<int> a=[1,2,3]; list<list<string>> b=[["a"],[]]; list<int> c=[1,2,]; }',
        {"X.a": "[1, 2, 3]", "X.b": '[["a"], []]', "X.c": "[1, 2]"},
    ),
    "class type": (
        "class R; def r0 : R; def X { list<R> l=[r0]; R none=?; R r=r0; }",
        {"X.l": "[r0]", "X.none": "?", "X.r": "r0"},
    ),
    "dag": (
        'def op; def a; def v; def X { dag d=(op 1,"s",a:$n,(op:$m),$v,?:$u); }',
        {"X.d": '(op 1, "s", a:$n, (op:m), ?:$v, ?:$u)'},
    ),
    # Values
    "?": ("def X { int i; bits<3> b; }", {"X.i": "?", "X.b": "{ ?, ?, ? }"}),
    "0b": (
        "def X { bits<7> a=0b1001011; int n=0b1001011; }",
        {"X.a": "{ 1, 0, 0, 1, 0, 1, 1 }", "X.n": "75"},
    ),
    "[X,Y]<type>": ("def X { list<int> a=[1,2]<int>; int n=!size([]<string>); }", {"X.a": "[1, 2]", "X.n": "0"}),
    "{a,b,0b10}": (
        "class K<bit a, bit b> { bits<4> x={a,b,0b10}; } def X : K<1,0>;",
        {"X.x": "{ 1, 0, 1, 0 }"},
    ),
    "value{17}": (
        (
            "class V { bits<20> v=0b10001000000000000001; bit a=v{17}; bits<3> b=v{15-17}; bits<3> c=v{17-15}; "
            "bits<3> d=v{15...17}; } def X : V;"
        ),
        {"X.a": "0", "X.b": "{ 1, 0, 0 }", "X.c": "{ 0, 0, 1 }", "X.d": "{ 1, 0, 0 }"},
    ),
    "CLASS<...>": (
        "class P<int n> { int sq=!mul(n,n); } def X { P p=P<4>; int s=P<5>.sq; }",
        {"X.p": "anonymous_0", "X.s": "25", "anonymous_0.sq": "16", "anonymous_1.sq": "25"},
    ),
    "X.Y": ("def D { int f=7; } def X { int a=D.f; }", {"X.a": "7"}),
    "list slice": (
        "defvar l=[0,10,20,30,40,50,60,70]; def X { list<int> a=l[4-7,1,2-3]; list<int> b=l[3-1]; int c=l[2]; }",
        {"X.a": "[40, 50, 60, 70, 10, 20, 30]", "X.b": "[30, 20, 10]", "X.c": "20"},
    ),
    "foreach": (
        (
            "foreach i=[1,2] in def R#i; foreach i=0-2 in def S#i; foreach i={0-1,4-5,9} in def T#i; "
            "foreach i={3} in def U#i; foreach i=2-0 in def V#i { int n=i; } "
            "foreach i=[1] in { foreach j=[2] in def W#i#j; } foreach i=[]<int> in def Z#i;"
        ),
        dict.fromkeys("R1 R2 S0 S1 S2 T0 T1 T4 T5 T9 U3 V0 V1 V2 W12".split(), ""),
    ),
    "dag value": (
        "def ins; def r; def X { dag d=(ins r:$a,(ins r):$sub,4:$imm); }",
        {"X.d": "(ins r:$a, (ins r):$sub, 4:$imm)"},
    ),
    # Bang operators
    "!con": (
        "def op; def a; def b; def X { dag d=!con((op a:$x),(op b:$z)); }",
        {"X.d": "(op a:$x, b:$z)"},
    ),
    "!dag": (
        'def op; def a; def X { dag d=!dag(op,[a,a,?],["n1","n2","n3"]); }',
        {"X.d": "(op a:$n1, a:$n2, ?:$n3)"},
    ),
    "!setop !getop": (
        (
            "class B; def foo : B; def bar; def X { dag d=!setop((foo 1,2),bar); dag e=!setdagop((foo 1),bar); "
            "B b=!getop<B>((foo)); B c=!getop((foo)); B f=!getdagop((foo)); }"
        ),
        {"X.d": "(bar 1, 2)", "X.e": "(bar 1)", "X.b": "foo", "X.c": "foo", "X.f": "foo"},
    ),
    "!listconcat !listsplat": (
        (
            "def X { list<int> a=!listconcat([1],[2,3],[]); list<int> b=!listsplat(0,2); list<string> "
            'c=!listsplat("a",0); }'
        ),
        {"X.a": "[1, 2, 3]", "X.b": "[0, 0]", "X.c": "[]"},
    ),
    "!strconcat #": (
        (
            'def D; def X { string a="v"#4#"q"; string b="<"#D#">"; string c="s"#; list<int> d=[1]#[2]; '
            'string e=!strconcat("a","b","c"); }'
        ),
        {"X.a": '"v4q"', "X.b": '"<D>"', "X.c": '"s"', "X.d": "[1, 2]", "X.e": '"abc"'},
    ),
    "!cast by name": (
        (
            'class A; def n : A; class U<string s> { A a=!cast<A>(s); } def X : U<"n">; def Y { A a=!cast<A>("n"); } '
            'multiclass M<string s> { def _m : U<s>; } defm Z : M<"n">;'
        ),
        {"X.a": "n", "Y.a": "n", "Z_m.a": "n"},
    ),
    "!cast other": (
        (
            "class A { int x=1; } class B : A { int z=9; } def r0 : B; class U<A a> { int "
            "z=!cast<B>(a).z; } def X : U<r0> "
            "{ int a=!cast<int>(0b11); string b=!cast<string>(42); bits<4> c=!cast<bits<4>>(9); string "
            "d=!cast<string>(r0); }"
        ),
        {"X.z": "9", "X.a": "3", "X.b": '"42"', "X.c": "{ 1, 0, 0, 1 }", "X.d": '"r0"'},
    ),
    "!isa": (
        "class A; class B : A; def a : A; class U<A x> { bit b=!isa<B>(x); int i=!isa<A>(x); } def X : U<a>;",
        {"X.b": "0", "X.i": "1"},
    ),
    "!subst": (
        (
            "class A; def a : A; def b : A; def op; def op2; def X { string "
            's=!subst("a","bb","banana"); A r=!subst(a,b,a); '
            "dag d=!foreach(x,(op a),!subst(op,op2,x)); }"
        ),
        {"X.s": '"bbbnbbnbb"', "X.r": "b", "X.d": "(op2 a)"},
    ),
    "!foreach !foldl": (
        (
            'def X { list<int> a=!foreach(i,[1,2,3],!add(i,1)); list<string> b=!foreach(i,[1],"n"#i); '
            'int c=!foldl(0,[1,2,3,4],x,y,!add(x,y)); string d=!foldl("",["x","y"],x,y,!strconcat(x,y,",")); '
            "int e=!foldl(7,[]<int>,x,y,!add(x,y)); }"
        ),
        {"X.a": "[2, 3, 4]", "X.b": '["n1"]', "X.c": "10", "X.d": '"x,y,"', "X.e": "7"},
    ),
    "!head !tail !empty !size": (
        "def X { int a=!head([4,5,6]); list<int> b=!tail([4,5,6]); bit c=!empty([]<int>); int d=!size([1,2]); }",
        {"X.a": "4", "X.b": "[5, 6]", "X.c": "1", "X.d": "2"},
    ),
    "!if !cond": (
        (
            'class C<int x, list<int> l> { int h=!if(!empty(l),0,!head(l)); string s=!cond(!lt(x,0):"negative",'
            '!eq(x,0):"zero",1:"positive"); } def X : C<-1,[]>; def Y : C<0,[5]>;'
        ),
        {"X.h": "0", "X.s": '"negative"', "Y.h": "5", "Y.s": '"zero"'},
    ),
    "comparisons": (
        'def a; def b; def X { bit q=!eq(1,1); bit r=!ne("a","a"); bit s=!lt(-1,1); bit t=!ge(1,2); bit u=!eq(a,b); }',
        {"X.q": "1", "X.r": "0", "X.s": "1", "X.t": "0", "X.u": "0"},
    ),
    "comparisons of strings, bits and records": (
        (
            'def a; def b; def X { bit l=!le("a","a"); bit m=!gt("b","a"); bit n=!ne(a,b); bit o=!eq("a","A"); '
            'bit p=1; bit q=!eq(p,1); bit r=!lt("B","a"); }'
        ),
        {"X.l": "1", "X.m": "1", "X.n": "1", "X.o": "0", "X.q": "1", "X.r": "1"},
    ),
    "arithmetic": (
        (
            "def X { int a=!add(1,2,3); int b=!mul(2,3,4); int c=!shl(1,10); int d=!srl(-1,60); int e=!sra(-8,1); "
            "int f=!and(12,10); int g=!or(1,2,4); int h=!add(9223372036854775807,1); }"
        ),
        {
            "X.a": "6",
            "X.b": "24",
            "X.c": "1024",
            "X.d": "15",
            "X.e": "-4",
            "X.f": "8",
            "X.g": "7",
            "X.h": "-9223372036854775808",
        },
    ),
    # Records
    "late substitution": (
        "class A<int x> { int Y=x; int Yplus1=!add(Y,1); int xplus1=!add(x,1); } def Z : A<5> { let Y=10; }",
        {"Z.Y": "10", "Z.Yplus1": "11", "Z.xplus1": "6"},
    ),
    "class, def, let": (
        'class C { bit V=1; } def X : C; def Y : C { string Greeting="hello"; } class D : C { let V=0; } def Z : D;',
        {"X.V": "1", "Y.V": "1", "Y.Greeting": '"hello"', "Z.V": "0", "Z": "C D"},
    ),
    "defaults of arguments": (
        "class A<int a, int b=!add(a,1)> { int p=a; int q=b; } def X : A<1>; def Y : A<1,5>;",
        {"X.q": "2", "Y.q": "5"},
    ),
    "a later base wins": ("class A { int x=1; } class B { int x=2; } def X : A, B;", {"X.x": "2"}),
    "forward class": ("class A; class U<A a> { A b=a; } class A { int x=1; } def q : A; def X : U<q>;", {"X.b": "q"}),
    "anonymous, NAME, recursion": (
        (
            "class A<int n> { int v=!if(!eq(n,0),0,!add(n,A<!sub(n,1)>.v)); string s=NAME; } def : A<0>; "
            "def X { int v=A<4>.v; }"
        ),
        {"X.v": "10", "anonymous_0.s": '"anonymous_0"'},
    ),
    "multiclass": (
        (
            "class I<int o, string s> { int op=o; string t=s; } multiclass R<int o, string s> { def "
            '_rr : I<o, s#" rr">; '
            'def _ri : I<o, s#" ri">; } defm ADD : R<7, "add">; defm SUB : R<5, "sub">;'
        ),
        {"ADD_rr.t": '"add rr"', "ADD_ri.op": "7", "SUB_rr.op": "5", "SUB_ri.t": '"sub ri"'},
    ),
    "nested multiclasses": (
        (
            "multiclass r { def rr; def rm; } multiclass s { defm SS : r; defm SD : r; def X; } "
            "multiclass p { defm PS : r; defm PD : r; def Y; } defm ADD : s, p;"
        ),
        dict.fromkeys("ADDSSrr ADDSSrm ADDSDrr ADDSDrm ADDX ADDPSrr ADDPSrm ADDPDrr ADDPDrm ADDY".split(), ""),
    ),
    "defm inherits classes": (
        (
            "class XD { bits<4> Prefix=11; } class I<bits<4> op> { bits<4> opcode=op; } multiclass R { "
            "def rr : I<4>; } "
            "multiclass Y { defm SS : R, XD; } defm Instr : Y;"
        ),
        {"InstrSSrr.opcode": "{ 0, 1, 0, 0 }", "InstrSSrr.Prefix": "{ 1, 0, 1, 1 }", "InstrSSrr": "I XD"},
    ),
    "names in a multiclass": (
        "multiclass M { def _x; def x_#NAME; def NAME#_y; def NAME; } defm Q : M;",
        dict.fromkeys("Q_x x_Q Q_y Q".split(), ""),
    ),
    "multiclass inheritance": (
        (
            "class A<int n> { int v=n; } multiclass M<int n=3> { foreach i=[0,1] in def _m#i : A<!add(n,i)>; } "
            "multiclass N<int n> : M<!add(n,1)> { let v=9 in def _n : A<n>; } defm X : N<1>; defm Y : M;"
        ),
        {"X_m0.v": "2", "X_m1.v": "3", "X_n.v": "9", "Y_m0.v": "3"},
    ),
    "file let": (
        (
            "class C { int a=0; int b=0; bits<4> e=0; } let a=1 in def X : C; let a=1, b=2 in { let a=5 in def Z : C "
            "{ let b=7; } } let e<3-2>=0b10 in def W : C; multiclass M { def _m : C; } let a=4 in defm Q : M; "
            "let a=6 in foreach i=[1] in def F#i : C; let a=8 in class D : C; def E : D;"
        ),
        {"X.a": "1", "Z.a": "5", "Z.b": "7", "W.e": "{ 1, 0, 0, 0 }", "Q_m.a": "4", "F1.a": "6", "E.a": "8"},
    ),
    "comments": ("/* a /* b */ c */ def X; // d", {"X": ""}),
    # Newer language
    "13 or before": (
        (
            "defvar k=2; class A { int v=k; } defset list<A> all = { def a : A; if true then def b : "
            "A; else def c : A; } "
            'assert !eq(1,1), "no"; foreach i=0...1 in def R#i; \n#define M\n#ifdef M\n#endif\n'
            'def X { list<A> l=all; int s=!sub(1,9); int x=!xor(5,1); int n=!not(0); string j=!interleave([1,2],"-"); '
            'list<int> f=!filter(x1,[1,5],!gt(x1,2)); string t=!substr("hello",1,3); int g=!find("hello","l"); }'
        ),
        {
            "X.l": "[a, b]",
            "X.s": "-8",
            "X.x": "4",
            "X.n": "1",
            "X.j": '"1-2"',
            "X.f": "[5]",
            "X.t": '"ell"',
            "X.g": "2",
            "R1": "",
        },
    ),
    "15: !exists": (
        (
            'class A; def a : A; def o; class E<string s> { int e=!exists<A>(s); } def X : E<"a">; def Y : E<"o">; '
            'def Z : E<"nope">;'
        ),
        {"X.e": "1", "Y.e": "0", "Z.e": "0"},
    ),
    "16": (
        (
            "def X { int a=!div(-7,2); int d=!div(7,2); int e=!div(-8,-3); int b=!logtwo(1000); "
            "list<int> c=!listremove([1,2,3,2],[2]); }"
        ),
        {"X.a": "-3", "X.b": "9", "X.c": "[1, 3]", "X.d": "3", "X.e": "2"},
    ),
    "19: operators": (
        (
            "def o; def X { list<int> a=!range(3); list<int> b=!range(2,5); list<int> c=!range(9,2,-3); "
            'list<int> r=!range([7,8]); string d=!tolower("ABc"); dag e=(o 1:$a,"s":$b); int f=!getdagarg<int>(e,0); '
            'string g=!getdagarg<string>(e,"b"); string h=!getdagname(e,1); dag i=!setdagarg(e,"a",9); '
            'dag j=!setdagname(e,1,"z"); int k=!getdagarg<int>(e,"b"); string l=!repr([1,2]); }'
        ),
        {
            "X.a": "[0, 1, 2]",
            "X.b": "[2, 3, 4]",
            "X.c": "[9, 6, 3]",
            "X.r": "[0, 1]",
            "X.d": '"abc"',
            "X.f": "1",
            "X.g": '"s"',
            "X.h": '"b"',
            "X.i": '(o 9:$a, "s":$b)',
            "X.j": '(o 1:$a, "s":$z)',
            "X.k": "?",
            "X.l": '"[1, 2]"',
        },
    ),
    "19: slices and arguments": (
        (
            'deftype Numbers=list<int>; class L<Numbers l, int i, string s="d"> { int a=l[i]; list<int> b=l[0...i]; '
            "list<int> c=l[i,]; list<int> d=l[1,i...0]; string t=s; } def X : L<[5,6,7],1>; def Y : "
            'L<[1,2], s="q", i=1>; '
            'dump "said";'
        ),
        {"X.a": "6", "X.b": "[5, 6]", "X.c": "[6]", "X.d": "[6, 6, 5]", "Y.a": "2", "Y.t": '"q"'},
    ),
}


@pytest.mark.parametrize("row", ACCEPTED)
def test_accepted(row: str) -> None:
    text, expected = ACCEPTED[row]
    found = printed(text)
    assert {key: found.get(key) for key in expected} == expected


def test_dump_is_said() -> None:
    assert tablegen.loads('def X; dump "hello " # "you"; dump X;').dumped == ("hello you", "X {\n}\n")
