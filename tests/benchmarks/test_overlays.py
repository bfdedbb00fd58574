"""The tables of what overlays cost: their arithmetic, their form on the pages, and the rows of other accelerators."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.fpga import SIZES
from benchmarks.overlays import features, whole
from tabla.build.synth.yosys import Netlist
from tabla.program.overlay import overlay_of
from tabla.templates.overlays import overlay_rooms
from tabla.templates.targets import target
from tabla.templates.template import presets

ROOT = Path(__file__).resolve().parents[2]
ROW = features.Row(part="lane", times=16, feature="extremes", full=500, without=300)
DEFAULT, LEARNING = (
    features.Parts(overlay=overlay_of(presets()["Pe16"], overlay_rooms()[name]))
    for name in ("DefaultOverlay", "LearningOverlay")
)
OVERLAY = {
    "template": "LearningOverlay",
    "pes": 16,
    "part": "LFE5U-85F",
    "grade": 6,
    "LUT": 16_000,
    "FF": 1,
    "DSP": 23,
    "RAM": 152,
    "megahertz": 100.0,
}


def test_a_feature_costs_what_all_parts_with_it_take_more() -> None:
    assert ROW.saved == 16 * 200
    whole_part = replace(ROW, feature="", without=0)
    assert features.markdown([whole_part, ROW]).splitlines()[2:] == [
        "| lane, 16 of them | the whole part | 500 |  | 8,000 |",
        "| lane, 16 of them | extremes | 500 | 300 | 3,200 |",
    ]


def test_the_page_of_features_has_every_part_and_sums_that_are_right() -> None:
    page = (ROOT / "docs" / "overlays.md").read_text(encoding="utf-8")
    assert page.count(features.markdown([]).splitlines()[0]) == 1
    found = re.findall(
        r"^\| ([^|]+?)(?:, (\d+) of them)? \| ([^|]+) \| ([\d,]+) \| ([\d,]*) \| (-?[\d,]+) \|", page, re.M
    )
    rows = [
        (part, int(times or 1), what, *(int(n.replace(",", "") or 0) for n in n3)) for part, times, what, *n3 in found
    ]
    assert all(saved == times * (full - without) for _, times, _, full, without, saved in rows)
    wanted = [(part, feature or "the whole part") for part, _, makes in DEFAULT.parts() for feature, _ in makes]
    assert [(part, what) for part, _, what, *_ in rows] == wanted


def test_each_program_stands_on_the_overlay_and_beside_it() -> None:
    cycles = {name: 50 for name in SIZES} | {"svm 54": None}
    lines = whole.markdown(OVERLAY, cycles).splitlines()[2:]
    assert lines[0] == "| linear 55 on LearningOverlay | 16 | 50 | 100.0 | 2,000,000 | 16,000 (1000) | 23 | 152 |"
    assert re.match(r"\| linear 55 \| 16 \| \d+ \| [\d.]+ \| [\d,]+ \| [\d,]+ \(\d+\) \| \d+ \| \d+ \|$", lines[1])
    assert "| svm 54 on LearningOverlay | 16 | does not fit | 100.0 |  |" in lines[4]
    assert len(lines) == 2 * len(SIZES)


def test_an_overlay_that_does_not_fit_has_no_clock_rate() -> None:
    """64 PEs with the default limits need more block RAMs than the part has."""
    netlist = Netlist(top="overlay", target=target("ecp5"), text="", cells={"DP16KD": 297, "LUT4": 9})
    row = whole.measured("DefaultOverlay", DEFAULT.overlay, netlist, target("ecp5").device("85k"), 6, 1)
    assert (row["megahertz"], row["RAM"]) == (None, 297)
    assert row["misfit"] == "the design needs 297 DP16KD, but LFE5U-85F has 208"


@pytest.mark.parametrize("kind", [pytest.param("lane", marks=pytest.mark.slow), "adder of the tree"])
@pytest.mark.parametrize("parts", [DEFAULT, LEARNING], ids=["default", "learning"])
def test_leaving_a_feature_out_changes_the_hardware(parts: features.Parts, kind: str) -> None:
    """Each variant is another Verilog text, so no row compares a part with itself."""
    made = next(makes for part, _, makes in parts.parts() if part == kind)
    texts = [features.component_verilog(make(), "part") for _, make in made]
    assert len(set(texts)) == len(texts)
