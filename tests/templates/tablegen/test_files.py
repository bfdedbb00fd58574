"""Includes, the preprocessor, and what the command writes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen


def names(records: tablegen.Records) -> list[str]:
    return [record.name for record in records]


def test_include_is_lexical(tmp_path: Path, ours, reference) -> None:
    (tmp_path / "defs.td").write_text("def A : C;\ndef B : C { let v = 9; }\n")
    (tmp_path / "rest.td").write_text("v = 7 in { def D : C; }")
    main = tmp_path / "main.td"
    main.write_text('class C { int v = 0; }\nlet v = 5 in {\ninclude "defs.td"\n}\nlet include "rest.td"\n')
    records = tablegen.load(main, include_dirs=[tmp_path])
    assert [(one.name, one["v"]) for one in records] == [("A", 5), ("B", 9), ("D", 7)]
    assert records.dependencies == (str(tmp_path / "defs.td"), str(tmp_path / "rest.td"))
    options = [f"-I{tmp_path}"]
    assert ours(main, options).differs(reference(main, options)) == ""


def test_include_directories_are_searched_in_order(tmp_path: Path) -> None:
    for directory in ("one", "two"):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "x.td").write_text(f"def {directory};")
    records = tablegen.loads('include "x.td"', include_dirs=[tmp_path / "two", tmp_path / "one"])
    assert names(records) == ["two"]


def test_a_file_may_be_included_twice_with_a_guard(tmp_path: Path) -> None:
    (tmp_path / "guarded.td").write_text("#ifndef GUARD\n#define GUARD\ndef once;\n#endif\n")
    records = tablegen.loads('include "guarded.td"\ninclude "guarded.td"\n', include_dirs=[tmp_path])
    assert names(records) == ["once"]


def test_macros_of_the_command_line(tmp_path: Path, ours, reference) -> None:
    path = tmp_path / "m.td"
    path.write_text("#ifdef FAST\ndef fast;\n#else\ndef slow;\n#endif\n")
    assert names(tablegen.load(path, macros=["FAST"])) == ["fast"]
    assert names(tablegen.load(path)) == ["slow"]
    assert ours(path, ["-DFAST"]).differs(reference(path, ["-DFAST"])) == ""


def test_a_condition_must_close_in_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "open.td").write_text("#ifdef A\n")
    with pytest.raises(TablaError, match="#endif"):
        tablegen.loads('include "open.td"\n#endif\n', include_dirs=[tmp_path])


def test_run(tmp_path: Path) -> None:
    path = tmp_path / "r.td"
    path.write_text('def X { int a = 1; }\ndump "said";\n')
    said: list[str] = []
    assert tablegen.run(path) == (
        "------------- Classes -----------------\n------------- Defs -----------------\ndef X {\n  int a = 1;\n}\n"
    )
    assert tablegen.run(path, action="null-backend", say=said.append) == "" and said == ["said"]
    assert tablegen.run(path, action="dump-json") == (
        '{"!instanceof":{},"!tablegen_json_version":1,'
        '"X":{"!anonymous":false,"!fields":[],"!name":"X","!superclasses":[],"a":1}}\n'
    )


def test_json_writes_control_characters_as_the_reference_tool(tmp_path: Path, ours, reference) -> None:
    path = tmp_path / "c.td"
    path.write_text('def X { code c = [{a\bb\fc\x01d\x7f\\b\\\\f}]; string s = "\\\\b"; }\n')
    assert ours(path).differs(reference(path)) == ""


def test_same_output_whatever_the_hash_seed(tmp_path: Path) -> None:
    path = tmp_path / "h.td"
    path.write_text(
        "class A; class B; class C : A, B; class P<int n> { int v = n; }\ndef x : A, B; def y : C;\n"
        "def z { list<P> l = [P<1>, P<2>, P<1>]; list<A> m = [x, y]; }\n"
    )
    code = f"from tabla.templates import tablegen; print(tablegen.run({str(path)!r}, action='dump-json'))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[3],
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_the_parser_is_not_built_on_import() -> None:
    code = (
        "from tabla.templates import tablegen; from tabla.templates.tablegen import grammar; "
        "print(grammar.parser.cache_info().currsize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert done.stdout.split() == ["0"]
