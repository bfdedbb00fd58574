"""The estimates against syntheses that were measured: blocks exactly, the rest within the errors that are stated."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cost.designs import design
from benchmarks.learning.problems import problems
from tabla.build.cost.blocks import Memory, function_products, pieces, table_memory
from tabla.build.cost.estimate import causes, estimate, sizes, table
from tabla.driver import build
from tabla.graph.format import Format
from tabla.hw.features import features_of
from tabla.program.sizes import function_table

MEASURED = Path(__file__).parents[3] / "benchmarks" / "cost" / "measured.json"
EVERY: list[dict[str, Any]] = json.loads(MEASURED.read_text(encoding="utf-8"))["rows"]
ROWS = {row["draw"]: row for row in EVERY if "taken" in row and row["draw"] is not None}
PIPELINES = [row for row in EVERY if row["draw"] is None and "DSP" in row["taken"]]
QUICK = (0, 27, 48)
"""Draws that compile in a second or two: a logistic regression, an svm with guard bits, a matrix product."""


FURTHER = {(3010, "LUT"): 0.14, (2008, "LUT"): 0.16}
"""What is further off than 10 %: the LUT4s of one of 20 designs drawn after the fit, and of one with a body of 31
operations. Decision 27 says where."""


def held(draw: int) -> None:
    """Hold the estimate of a design against its synthesis."""
    taken = ROWS[draw]["taken"]
    found = estimate(design(draw).build().image).as_json()["resources"]
    assert (found["DSP"], found["RAM"]) == (taken["DSP"], taken["RAM"])
    for kind in ("LUT", "FF"):
        limit = FURTHER.get((draw, kind), 0.10)
        assert abs(found[kind] / taken[kind] - 1) <= limit, (kind, found[kind], taken[kind])


@pytest.mark.parametrize("draw", QUICK)
def test_quick_designs(draw: int) -> None:
    held(draw)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [draw for draw in ROWS if draw not in QUICK])
def test_all_designs(draw: int) -> None:
    held(draw)


@pytest.mark.parametrize("row", PIPELINES, ids=lambda row: row["design"].replace(" ", "-"))
def test_pipelines_of_functions(row: dict[str, Any]) -> None:
    """Also those with tables of parabolas, which formats of more than 16 fraction bits have."""
    _, name, text = row["design"].replace(",", "").split()
    number = Format.parse(text)
    made = function_table(name, number)
    blocks = table_memory(made, 1).block_rams if made.base else 0
    products = sum(pieces(*bits) for bits in function_products(made, number.width))
    assert (products, blocks) == (row["taken"]["DSP"], row["taken"]["RAM"])


def published() -> dict[tuple[str, int], tuple[int, int, int]]:
    """Return the LUT4s, multipliers and block RAMs that docs/fpga.md shows, by program and number of PEs."""
    found = {}
    for line in (MEASURED.parents[2] / "docs" / "fpga.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == 10 and cells[1].isdigit():
            luts = int(cells[7].split()[0].replace(",", ""))
            found[cells[0], int(cells[1])] = (luts, int(cells[8]), int(cells[9]))
    return found


# The search finds other schedules for it than when the page was measured. With these, four roots on 16 PEs take 5,093
# LUT4s and are estimated at 3 % more, and eight on 64 PEs take 17,727 and are estimated at 6 % more.
OTHERWISE = pytest.mark.xfail(strict=True, reason="the page was measured with other schedules; see decision 27")


def _published() -> list[object]:
    others = {("backprop 8-16-3", 16), ("backprop 8-16-3", 64), ("reco 138x130x10", 64)}
    return [pytest.param(*key, marks=[OTHERWISE] if key in others else []) for key in published()]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pes"), _published())
def test_published_arrays(name: str, pes: int) -> None:
    """Arrays of 16 and 64 PEs with up to eight roots and two sequencers. Nothing was fitted to those of 64 PEs."""
    luts, dsp, ram = published()[name, pes]
    (problem,) = (each for each in problems() if each.name == name)
    found = estimate(build(problem.file, problem.options(pes)).image)
    assert (found.multipliers, found.block_rams) == (dsp, ram)
    assert abs(found.luts / luts - 1) <= 0.10, (found.luts, luts)


def test_an_estimate_takes_less_than_a_tenth_of_a_second() -> None:
    image = design(0).build().image
    began = time.process_time()
    estimate(image)
    assert time.process_time() - began < 0.1


CLOCKS = [row for row in json.loads(MEASURED.read_text(encoding="utf-8"))["clocks"] if row["draw"] is not None]


@pytest.mark.parametrize("row", CLOCKS, ids=lambda row: f"{row['draw']}")
def test_clock_rates(row: dict[str, Any]) -> None:
    """The best of three seeds is within 10 % of the estimate, for what was fitted and what was not."""
    rate = table().clocks[f"{row['grade']}"].rate(row["sizes"])
    assert abs(rate / max(row["megahertz"]) - 1) <= 0.10


@pytest.mark.parametrize("draw", QUICK)
def test_what_makes_an_array_slower_is_found_in_its_image(draw: int) -> None:
    image = design(draw).build().image
    found = causes(image, features_of(image), ROWS[draw]["taken"]["LUT"])
    # The second has words of 20 bits, and the third a nest of three loops.
    expected = {0: [], 27: ["doublings", "wide", "wide_bits"], 48: ["levels"]}
    assert [name for name, size in found.items() if size] == expected[draw]


def test_of_the_causes_with_a_path_of_their_own_one_counts() -> None:
    """Attention in words of 16 bits has extremes and three levels of loops."""
    image = design(3013).build().image
    assert image.parameters.levels == 3
    found = causes(image, features_of(image), ROWS[3013]["taken"]["LUT"])
    assert [name for name, size in found.items() if size] == ["doublings", "extremes"]


def test_every_price_is_of_a_size_that_there_is() -> None:
    # A logistic regression, a matrix product, and a gather, whose lanes have no words.
    known = {name for draw in (0, 48, 1024) for name in sizes(design(draw).build().image)}
    priced = set(table().luts) | set(table().flip_flops)
    assert {name for name in priced if not name.startswith("function.")} <= known
    assert all(price > 0 for prices in (table().luts, table().flip_flops) for price in prices.values())


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        # As Yosys 0.70 maps these memories, alone in a design.
        (Memory(bits=18, words=64, block=False), 0),
        (Memory(bits=10, words=128, block=False), 1),
        (Memory(bits=8, words=128, block=False), 0),
        (Memory(bits=8, words=256, block=False), 1),
        (Memory(bits=4, words=256, block=False), 0),
        (Memory(bits=10, words=2048, block=True), 2),
        (Memory(bits=10, words=4096, block=True), 3),
        (Memory(bits=18, words=4096, block=True), 4),
        (Memory(bits=8, words=2048, block=True), 1),
        (Memory(bits=32, words=64, block=False, widest=32), 1),
        (Memory(bits=37, words=2, block=True, copies=2), 6),
        (Memory(bits=37, words=2, block=True, used=frozenset({3, 36})), 2),
    ],
)
def test_block_rams_of_a_memory(memory: Memory, expected: int) -> None:
    assert memory.block_rams == expected
    assert replace(memory, copies=0).block_rams == 0


# As Yosys 0.70 maps products alone in a design; a lane's factor of ONE has one bit.
@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [(18, 18, 1), (19, 19, 1), (20, 19, 2), (36, 18, 2), (37, 20, 4), (35, 35, 4), (32, 32, 4), (24, 1, 2)],
)
def test_multipliers_of_a_product(left: int, right: int, expected: int) -> None:
    assert pieces(left, right) == expected
