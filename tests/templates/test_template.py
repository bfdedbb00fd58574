"""The Python view of machine.td."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.templates.instructions import operation_format
from tabla.templates.template import default_preset, functions, pes_per_pu_for, presets, template_for, timing


def test_latencies_of_the_decision() -> None:
    laws = timing()
    assert (laws.operand, laws.accumulated, laws.result, laws.broadcast) == (2, 5, 7, 3)


def test_formats_fill_their_bits_without_gaps() -> None:
    for unit in ("lane_issue", "lane_write", "root_issue", "root_write", "stream"):
        at = 0
        for field in sorted(operation_format(unit).fields, key=lambda f: f.offset):
            assert field.offset == at
            at += field.width
            assert len(field.choices) <= 1 << field.width


def test_symbols_have_codes() -> None:
    assert operation_format("root_issue").code("base", "tree") == 3
    with pytest.raises(ValueError, match="tuple"):
        operation_format("root_issue").code("base", "nonsense")


def test_function_latencies() -> None:
    assert functions()["sigmoid"].cycles(16, 10) == 7
    assert functions()["sqrt"].cycles(16, 10) == 3 + 14
    assert functions()["divide"].cycles(16, 10) == 4 + 26
    assert len({f.code for f in functions().values()}) == len(functions())


@pytest.mark.parametrize(("pes", "per_pu"), [(1, 1), (5, 5), (16, 16), (17, 1), (24, 12), (64, 16), (128, 16)])
def test_default_tap_groups(pes: int, per_pu: int) -> None:
    assert pes_per_pu_for(pes) == per_pu
    assert template_for(pes).pes_per_pu == per_pu


@pytest.mark.parametrize(
    ("pes", "per_pu", "levels"), [(1, 1, 0), (2, 2, 1), (3, 3, 2), (16, 16, 4), (64, 16, 6), (6, 3, 3)]
)
def test_tree_levels(pes: int, per_pu: int, levels: int) -> None:
    assert replace(default_preset(), pes=pes, pes_per_pu=per_pu).tree_levels == levels


@pytest.mark.parametrize(
    "wrong",
    [
        {"pes": 0, "pes_per_pu": 1},
        {"pes": 129, "pes_per_pu": 1},
        {"pes": 16, "pes_per_pu": 5},
        {"pes": 4, "pes_per_pu": 4, "sequencers": 3},
        {"pes": 4, "pes_per_pu": 4, "sequencers": -1},
        {"pes": 4, "pes_per_pu": 4, "sequencers": 8},
        {"pes": 4, "pes_per_pu": 4, "ring_slots": 1},
        {"pes": 4, "pes_per_pu": 4, "stream_words": 3},
    ],
)
def test_what_cannot_be_built(wrong: dict[str, int]) -> None:
    with pytest.raises(TablaError) as fault:
        replace(default_preset(), **wrong)
    assert fault.value.hint


def test_a_user_adds_a_preset_in_a_file_of_their_own(tmp_path: Path) -> None:
    mine = tmp_path / "my.td"
    mine.write_text(
        'include "machine.td"\ndef Wide : Template<32, 8> { let FractionBits = 12; let IntegerBits = 4; }\n'
    )
    found = presets(str(mine))
    assert found["Wide"].pes_per_pu == 8
    assert found["Wide"].fraction_bits == 12
    assert "Pe16" in found
