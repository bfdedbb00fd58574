"""What a message says: the token that is missing, the type that does not fit, the def that an assertion is for."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen

MISSING_SEMICOLON = {
    "field": ("def X {\n  int a = 1\n  string b;\n}\n", 3, "'string'", (2, 11)),
    "last field": ("def X {\n  int a = 1\n}\n", 3, "'}'", (2, 11)),
    "field of a class type": ("class R;\ndef X {\n  int a\n  R r;\n}\n", 4, "name R", (3, 7)),
    "let": ("class C { int a; }\ndef X : C {\n  let a = 5\n  let a = 6;\n}\n", 4, "'let'", (3, 11)),
    "class": ("class A\ndef X;\n", 2, "'def'", (1, 7)),
    "defvar": ("defvar a = {1, 0}\nforeach i = [1] in def Y#i;\n", 2, "'foreach'", (1, 17)),
}


def fault_of(text: str) -> TablaError:
    with pytest.raises(TablaError) as caught:
        tablegen.loads(text, name="t.td")
    return caught.value


@pytest.mark.parametrize("case", MISSING_SEMICOLON)
def test_a_missing_semicolon_is_named(case: str, tmp_path: Path, ours, reference) -> None:
    text, line, before, previous = MISSING_SEMICOLON[case]
    fault = fault_of(text)
    assert fault.message == f"expected ';' before {before}" and fault.line == line and fault.hint is None
    assert (fault.labels[1].span.line, fault.labels[1].span.column) == previous
    path = tmp_path / "t.td"
    path.write_text(text)
    assert ours(path).differs(reference(path)) == ""


@pytest.mark.parametrize(
    ("text", "bracket"),
    [
        ("def X { int a = !add(1, 2; }", ")"),
        ("def X { list<int> a = [1, 2; }", "]"),
        ("class A<int a>;\ndef X : A<1;", ">"),
    ],
)
def test_a_missing_bracket_is_suggested(text: str, bracket: str) -> None:
    fault = fault_of(text)
    assert fault.message == "unexpected ';'" and fault.hint == f"is a '{bracket}' missing before it?"


def test_two_values_are_no_missing_semicolon() -> None:
    assert fault_of("def X { int a = 5 6; }").message == "unexpected number 6"


@pytest.mark.parametrize("parts", ["0, 0, 0, 0, n", "n, 0, 0, 0, 0", "0, 0, n, 0, 0"])
def test_a_part_that_does_not_fit_is_named_with_its_own_type(parts: str) -> None:
    message = fault_of(f"class C<bits<4> n> {{ bits<8> v = {{{parts}}}; }}\ndef X : C<17>;").message
    assert message == "value 17 of 'v' in 'X' does not fit the type of one of its parts, 'bits<4>'"


def test_a_failed_assertion_names_the_def() -> None:
    text = 'class A<int n> { assert !lt(n, 4), "n is " # n; }\ndef X : A<1>;\ndef Y : A<7>;\n'
    fault = fault_of(text)
    assert fault.message == "assertion failed for 'Y'" and fault.notes == ("n is 7",)
    assert [label.span.line for label in fault.labels] == [1, 3]


def test_a_failed_assertion_of_a_multiclass_names_the_defm() -> None:
    text = 'multiclass M<int n> {\n  def a { assert !lt(n, 4), "m"; }\n}\ndefm Q : M<5>;\n'
    fault = fault_of(text)
    assert fault.message == "assertion failed for 'Qa'"
    assert [label.span.line for label in fault.labels] == [2, 2, 4]


def test_a_failed_assertion_outside_of_records_names_none() -> None:
    assert fault_of('assert 0, "m";').message == "assertion failed"


UNSET_RECORDS = {
    "in the middle": ("def X { list<int> l = !foreach(x, [r0, ?, r0], x.n); }", "[1, ?.n, 1]"),
    "first": ("def X { list<int> l = !foreach(x, [?, r0], x.n); }", "[?.n, 1]"),
    "argument": ("class K<list<R> rs> { list<int> l = !foreach(x, rs, x.n); }\ndef X : K<[?]>;", "[?.n]"),
    "bits": ("class K<list<R> rs> { bits<1> l = !head(!foreach(x, rs, x.b)); }\ndef X : K<[?]>;", "{ ?.b{0} }"),
    "replaced": ("class K { list<int> l = !foreach(x, [?, r0], x.n); }\ndef X : K { let l = [3]; }", None),
}


@pytest.mark.parametrize("case", UNSET_RECORDS)
def test_a_field_of_an_unset_record(case: str, tmp_path: Path, ours, reference) -> None:
    text, value = UNSET_RECORDS[case]
    path = tmp_path / "t.td"
    path.write_text(f"class R {{ int n = 1; bits<1> b = 0; }}\ndef r0 : R;\n{text}\n")
    assert ours(path).differs(reference(path)) == ""
    if value is None:
        assert tablegen.load(path)["X"]["l"] == [3]
    else:
        fault = fault_of(path.read_text())
        assert fault.message == f"initializer of 'l' in 'X' could not be fully resolved: {value}"
        assert case == "bits" or fault.hint == "a value that is not set ('?') has no field 'n'"


@pytest.mark.parametrize("action", ["print-records", "dump-json"])
@pytest.mark.parametrize(
    "fragment", [b"a\r\n  b\r\n", b"\r\n\r\n}\r\n", b"a\nb\r\nc", b"a\rb", b"", b"\r\n"], ids=lambda one: one.hex()
)
def test_line_ends_in_a_code_fragment_stay(action: str, fragment: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.td"
    path.write_bytes(b"// c\r\ndef X {\r\n  code c = [{" + fragment + b"}];\r\n  int y = 1;\n}\r\n")
    ours = tablegen.run(path, action=action).encode()
    assert tablegen.load(path)["X"]["c"] == fragment.decode()
    tool = shutil.which("llvm-tblgen-14")
    if tool is None:
        pytest.skip("llvm-tblgen-14 is not installed (Debian: apt-get install llvm-14)")
    assert ours == subprocess.run([tool, f"-{action}", str(path)], capture_output=True, check=True).stdout


def test_places_after_carriage_returns_are_those_of_the_text() -> None:
    fault = fault_of("def X {\r\n  code c = [{a\r\nb}];\r\n  int y = nope;\r\n}\r\n")
    assert (fault.line, fault.column) == (4, 11)
