"""What a fault says: place, caret, include stack, instantiations; and faults that must not be crashes."""

from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen


def fault_of(text: str, **options: object) -> TablaError:
    with pytest.raises(TablaError) as caught:
        tablegen.loads(text, name="t.td", **options)
    return caught.value


def test_place_and_caret() -> None:
    fault = fault_of("def A;\ndef B {\n\tint x = nope;\n}\n")
    assert (fault.file, fault.line, fault.column) == ("t.td", 3, 10)
    assert str(fault).splitlines() == [
        "error: variable not defined: 'nope'",
        " --> t.td:3:10",
        "3 | \tint x = nope;",
        "  | \t        ^^^^",
    ]


def test_keyword_as_a_name_is_explained() -> None:
    fault = fault_of("def X { int let = 1; }")
    assert fault.message == "unexpected 'let'" and fault.hint == "'let' is a keyword of the language"


def test_semicolon_after_a_body_is_explained() -> None:
    assert fault_of("def X { int a = 1; };").hint == "remove the semicolon"


def test_end_of_file_in_a_statement() -> None:
    fault = fault_of("def X {\n  int a = 1;\n")
    assert "file ends" in fault.message and fault.line == 3


def test_defm_that_asked_for_a_def_is_shown() -> None:
    text = (
        "multiclass M<int n> {\n  def a { bits<2> v = n; int w = !add(v, 1); }\n}\n"
        "multiclass N { defm _n : M<?>; }\ndefm X : N;\n"
    )
    fault = fault_of(text)
    lines = [(label.span.line, label.text) for label in fault.labels]
    assert lines[0][0] == 2 and (4, "instantiated from here") in lines and (5, "instantiated from here") in lines


def test_field_at_fault_is_shown() -> None:
    fault = fault_of("class A<int n> { bits<2> v; }\ndef X : A<1> {\n  let v = 9;\n}\n")
    assert [label.span.line for label in fault.labels] == [2, 3]
    assert "value 9 of 'v' in 'X' does not fit its type 'bits<2>'" in fault.message


def test_instantiation_notes() -> None:
    text = (
        "class A<list<int> l> {\n  int h = !head(l);\n}\nclass B<list<int> l> {\n  int k = A<l>.h;\n}\ndef X : B<[]>;\n"
    )
    fault = fault_of(text)
    # A fault in an anonymous record is placed at its class, as by the reference tool; the notes lead to the cause.
    assert "empty list" in fault.message and fault.line == 1
    assert fault.notes == (
        "while instantiating class A<[]> at t.td:5:11",
        "while instantiating class B at t.td:7:9",
    )


def test_previous_definition_is_shown() -> None:
    fault = fault_of("def A;\n\ndef A;\n")
    assert [label.span.line for label in fault.labels] == [3, 1]


def test_include_stack(tmp_path: Path) -> None:
    (tmp_path / "inner.td").write_text("\ndef X { int a = nope; }\n")
    (tmp_path / "middle.td").write_text('class C;\ninclude "inner.td"\n')
    (tmp_path / "main.td").write_text('def Y;\n\ninclude "middle.td"\n')
    with pytest.raises(TablaError) as caught:
        tablegen.load(tmp_path / "main.td", include_dirs=[tmp_path])
    fault = caught.value
    assert fault.file == str(tmp_path / "inner.td") and fault.line == 2
    assert fault.notes == (
        f"included from {tmp_path / 'middle.td'}:2",
        f"included from {tmp_path / 'main.td'}:3",
    )


def test_missing_include_says_where_it_looked(tmp_path: Path) -> None:
    fault = fault_of('def A;\ninclude "nope.td"\n', include_dirs=[tmp_path])
    assert fault.line == 2 and str(tmp_path) in (fault.hint or "")


def test_missing_file() -> None:
    with pytest.raises(TablaError, match="cannot read"):
        tablegen.load("/nonexistent/file.td")


def test_fault_before_a_syntax_error_comes_first() -> None:
    assert fault_of("def A;\ndef A;\ndef B = ;").line == 2
    assert fault_of("class C;\nlet a = 1 in {\n  def A : C;\n  def B = ;\n}").line == 2
    # What is fine on its own does not hide the syntax error.
    assert fault_of("class C<int n>;\ndef A : C<1>;\ndef B { int x = 1; int y = ]; }").line == 3


@pytest.mark.parametrize(
    "text",
    [
        "class A<int n> { int v = A<!add(n,1)>.v; }\ndef X : A<0>;",
        "class B<int n>;\nclass A<int n> { A next = A<!add(n,1)>; }\ndef X { A a = A<0>; }",
        "class F<int n> { int v = !foldl(0, [1,2], a, b, F<!add(n, b)>.v); }\ndef X : F<1>;",
    ],
)
def test_recursion_without_an_end_shows_its_chain(text: str) -> None:
    fault = fault_of(text)
    assert "instantiated without an end" in fault.message and fault.hint
    chain = [note for note in fault.notes if note.startswith("while instantiating class ")]
    assert len(chain) >= 2 and any("more" in note for note in fault.notes)
    assert fault.line == text.count("\n") + 1


def test_a_file_that_includes_itself(tmp_path: Path) -> None:
    path = tmp_path / "self.td"
    path.write_text(f'include "{path}"\n')
    with pytest.raises(TablaError, match="nested more than"):
        tablegen.load(path)


def test_deep_values_are_not_recursion_without_an_end() -> None:
    depth = 3000
    records = tablegen.loads(
        f"class C<int n> {{ int a = {'!add(n, ' * depth}1{')' * depth}; }}\ndef X : C<2>;\n"
        "class A<int n> { int v = !if(!eq(n, 2000), n, A<!add(n,1)>.v); }\ndef Y : A<0>;\n"
    )
    assert records["X"]["a"] == 2 * depth + 1 and records["Y"]["v"] == 2000


def test_the_stack_of_python_is_as_before() -> None:
    import sys

    before = sys.getrecursionlimit()
    tablegen.loads("def X;")
    fault_of("def X { int a = nope; }")
    assert sys.getrecursionlimit() == before


def test_runs_share_nothing() -> None:
    fault_of("class A<int n> { int v = A<!add(n,1)>.v; }\ndef X : A<0>;")
    first = tablegen.loads("class A<int n> { int v = n; }\ndef X { A a = A<1>; }")
    second = tablegen.loads("class A<int n> { int v = n; }\ndef Y { A a = A<2>; }")
    assert [one.name for one in first] == ["anonymous_0", "X"]
    assert [one.name for one in second] == ["anonymous_0", "Y"] and second["Y"]["a"]["v"] == 2


def test_an_unterminated_fragment_is_found_in_linear_time() -> None:
    # A pattern with nested repetition took minutes for this.
    assert "unterminated" in fault_of("def X { list<int> l = [{ " + "1, 2 } " * 5000).message
