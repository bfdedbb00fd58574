"""One run tells all faults after which the reference tool goes on too, and the warnings of the reference tool."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen
from tabla.templates.tablegen.keeper import MAX_FAULTS

MESSAGE = re.compile(r"^[^\n]*?:(\d+):(\d+): (error|warning): ", re.MULTILINE)
PLACE = re.compile(r"^(error|warning): .*\n(?:note: .*\n)* --> [^\n]*?:(\d+):(\d+)$", re.MULTILINE)

FAULTS = {
    "fields": "class C<int b = nope> {\n int c = b;\n int d = nope2;\n string s = 5;\n}\ndef X { int e = nope; }\n",
    "a let ends the run": "def X { int a = nope;\n let a = nope;\n int b = nope; }\ndef Y { int c = nope; }\n",
    "a parent ends the run": "def X {\n int a = nope; }\ndef Y : Nope;\ndef Z { int c = nope; }\n",
    "values that do not fit": "class C<bits<4> n> { bits<4> v = n; bits<2> w = 9; }\ndef X : C<17>;\ndef Y : C<3>;\n",
    "assertions": (
        'class A<int n> { assert !lt(n, 4), "n"; int v = n; }\ndef X : A<1>;\ndef Y : A<7>;\n'
        'class B { A a = A<9>; }\ndef Z : B { assert 0, "own"; }\nassert 0, "top";\nassert "x", "no number";\n'
    ),
    "multiclasses": (
        'multiclass M<int x = nope> {\n def a { int y = !add(x, 1); bits<2> z = 9; }\n assert 0, "q";\n}\n'
        "defm A : M<1>;\ndefm B : M<1>;\nforeach i = [1, 2] in { def c#i { bits<2> w = 8; } }\nlet u = 5 in def X;\n"
    ),
    "before a syntax error": "def X { int a = nope; }\ndef Y { int b = nope2; string s }\n",
}
WARNED = {
    "classes": "class A<int a, string b = 1 # 2>;\nclass B<int a> { int v = a; }\nclass C<int a, int b> : B<a>;\n",
    "defaults": "class G<int a, int b = a>;\nclass H<int a,\n int b = a> { int c = b; }\n",
    "every use": (
        'class A<bits<4> a, bits<4> b, int c> { bits<2> x = a{1-0}; let x{0} = b{3}; string s = "q" # c; }\n'
        'class B<string a> { int v = !size(a); }\nclass C<string a> : B<a>;\nclass D<int a> { assert a, "m"; }\n'
        "class E<int a> { int v = !if(1, 2, a); }\nclass F<int i> { list<int> u = !foreach(j, [1, 2], j); }\n"
    ),
    "multiclasses": (
        "class B<int a> { int v = a; }\nmulticlass M<int a, int b> { def x : B<a>; }\nmulticlass N<int a> : M<a, 2>;\n"
        "multiclass O<int a> { defm n : M<1, 2>; }\nmulticlass P<int a> { foreach i = [a] in def x#i; }\n"
        "multiclass Q<int a> { if a then def x; }\nmulticlass R<string a> { def a; }\n"
    ),
    "macros": "#define A\n#define A\n#ifndef B\n#define B\n#define A // again\n#endif\ndef X;\n",
    "before a fault": "class A<int a> { int v = nope; }\nclass B<int a>;\n",
}


def said_by_reference(path: Path, *options: str) -> list[tuple[str, ...]]:
    tool = shutil.which("llvm-tblgen-14")
    if tool is None:
        pytest.skip("llvm-tblgen-14 is not installed (Debian: apt-get install llvm-14)")
    done = subprocess.run([tool, *options, str(path)], capture_output=True, text=True, check=False)
    return [(kind, line, column) for line, column, kind in MESSAGE.findall(done.stderr)]


def said_by_us(path: Path, **options: bool) -> list[tuple[str, ...]]:
    said: list[str] = []
    try:
        tablegen.load(path, say=said.append, **options)
    except TablaError as fault:
        said.append(str(fault))
    return [found for text in said for found in PLACE.findall(text)]


@pytest.mark.parametrize("case", FAULTS)
def test_all_faults_are_told(case: str, tmp_path: Path) -> None:
    path = tmp_path / "t.td"
    path.write_text(FAULTS[case])
    ours = [found for found in said_by_us(path) if found[0] == "error"]
    # The column of an assertion, of a def and of a value is that of the reference tool.
    assert len(ours) > 1
    assert ours == [found for found in said_by_reference(path) if found[0] == "error"]


@pytest.mark.parametrize("case", WARNED)
def test_warnings(case: str, tmp_path: Path) -> None:
    path = tmp_path / "t.td"
    path.write_text(WARNED[case])
    theirs = said_by_reference(path)
    assert any(kind == "warning" for kind, _, _ in theirs)
    # Ours come before the faults.
    assert said_by_us(path) == sorted(theirs, key=lambda found: found[0] == "error")


def test_warnings_of_unused_arguments_can_be_switched_off(tmp_path: Path) -> None:
    path = tmp_path / "t.td"
    path.write_text("#define A\n#define A\nclass B<int a>;\n")
    assert said_by_us(path, warn_of_unused=False) == [("warning", "2", "9")]
    assert said_by_reference(path, "--no-warn-on-unused-template-args") == [("warning", "2", "9")]


def test_a_last_line_without_an_end_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "t.td"
    path.write_text("#ifndef A\ndef X;\n#endif")
    said: list[str] = []
    assert len(tablegen.load(path, say=said.append)) == 1
    assert said[0].startswith("warning: llvm-tblgen does not see an #endif without an end of line\n")
    assert any(kind == "error" for kind, _, _ in said_by_reference(path))
    path.write_text("#ifndef A\ndef X;\n#endif // A\n")
    assert tablegen.load(path).warnings == () and said_by_reference(path) == []


def test_so_many_faults_are_enough() -> None:
    fields = "".join(f"  int a{number} = nope;\n" for number in range(2 * MAX_FAULTS))
    with pytest.raises(TablaError) as caught:
        tablegen.loads(f"def X {{\n{fields}}}\n")
    assert len(caught.value.more) == MAX_FAULTS - 1


def test_an_assertion_of_a_multiclass_names_the_defm() -> None:
    with pytest.raises(TablaError) as caught:
        tablegen.loads('multiclass M { assert 0, "m"; }\ndefm Q : M;\n')
    assert caught.value.notes == ("m", "while instantiating defm Q at <text>:2:1")
