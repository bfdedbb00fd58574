"""Texts that strain a limit: long numbers, long names of files, deep nesting. None may end in a traceback."""

from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen

DEEP = 500
NESTED = {
    "dags": "(op " * DEEP + "1" + ")" * DEEP,
    "lists": "[" * DEEP + "1" + "]" * DEEP,
    "sums": "!add(1, " * DEEP + "1" + ")" * DEEP,
    "conditions": "!if(1, " * DEEP + "1" + ", 0)" * DEEP,
    "bits": "{" * DEEP + "1" + "}" * DEEP,
    "instances": "C<" * DEEP + "1" + ">.v" * DEEP,
    "pastes": "1 # " * DEEP + "1",
}
TYPES = {"dags": "dag", "lists": "list<" * DEEP + "int" + ">" * DEEP, "bits": "bits<1>", "pastes": "string"}


def program(kind: str) -> str:
    return f"def op;\nclass C<int n> {{ int v = n; }}\ndef X {{ {TYPES.get(kind, 'int')} d = {NESTED[kind]}; }}\n"


@pytest.mark.parametrize("kind", NESTED)
def test_five_hundred_levels(kind: str, tmp_path: Path, ours, reference) -> None:
    path = tmp_path / "deep.td"
    path.write_text(program(kind))
    assert ours(path).differs(reference(path)) == ""


@pytest.mark.parametrize("kind", NESTED)
def test_five_hundred_levels_in_python(kind: str) -> None:
    records = tablegen.loads(program(kind))
    value, depth = records["X"]["d"], 0
    while isinstance(value, tablegen.Dag | list):
        value = value.arguments[0].value if isinstance(value, tablegen.Dag) else value[0]
        depth += 1
    assert depth == (DEEP if kind in ("dags", "lists") else 0)


@pytest.mark.slow
def test_a_value_deeper_than_the_machine_stack_is_written() -> None:
    # The encoder of `json` takes machine stack for every level, and then ends the process.
    depth = 40_000
    text = f"def X {{ {'list<' * depth}int{'>' * depth} d = {'[' * depth}1{']' * depth}; }}"
    written = tablegen.backend.dump_json(tablegen.loads(text).keeper)
    assert f"{'[' * depth}1{']' * depth}" in written


def test_too_deep_a_value_is_a_fault_that_names_the_limit() -> None:
    text = "def op;\ndef X { dag d = !foldl((op), !listsplat(1, 150000), a, x, (op a)); }"
    with pytest.raises(TablaError, match="more than 250000 calls of Python") as caught:
        tablegen.loads(text)
    assert caught.value.line == 2


@pytest.mark.parametrize(
    "number",
    ["9" * 4301, "-" + "9" * 4301, "+" + "1" * 4301, "0" * 5000 + "7", "-" + "0" * 5000 + "7", "0x" + "0" * 5000 + "7"]
    + [f"{sign}{1 << bits}{digit}" for sign in ("", "-") for bits in (63, 64) for digit in ("", "0")]
    + [str((1 << 63) - 1), str(-(1 << 63)), str(-(1 << 63) - 1), "0b" + "1" * 5000],
    ids=lambda number: f"{number[:4]}_{len(number)}_{number[-1]}",
)
def test_long_numbers_are_cut_as_by_the_reference_tool(number: str, tmp_path: Path, ours, reference) -> None:
    path = tmp_path / "number.td"
    path.write_text(f"def X {{ int a = {number}; }}\n")
    assert ours(path).accepted and ours(path).differs(reference(path)) == ""


def test_a_width_of_bits_names_its_limit() -> None:
    with pytest.raises(TablaError, match="not a possible width") as caught:
        tablegen.loads(f"def X {{ bits<{'9' * 4301}> a; }}")
    assert "1048576" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["a" * 5000, "a/" * 2500, "a" * 300])
def test_a_long_include_name_is_not_found(name: str) -> None:
    with pytest.raises(TablaError) as caught:
        tablegen.loads(f'def A;\ninclude "{name}"\n', include_dirs=["x" * 5000])
    assert caught.value.line == 2 and len(caught.value.message) < 200
    assert "255 bytes" in (caught.value.hint or "") and "4095" in (caught.value.hint or "")
