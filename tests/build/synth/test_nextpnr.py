"""Place and route with nextpnr."""

from __future__ import annotations

import pytest

from tabla.base.source import TablaError
from tabla.build.part_options import PartOptions
from tabla.build.synth import synthesise
from tabla.build.synth.nextpnr import place_and_route
from tabla.build.synth.yosys import synthesise_flat
from tabla.templates.targets import target

# A design in which the multiplier block, with registers at both ends, is the only logic.
PINS = ", ".join(
    [f".A{bit}(a[{bit}]), .B{bit}(a[{17 - bit}])" for bit in range(18)] + [f".P{bit}(p[{bit}])" for bit in range(36)]
)
MULTIPLIER = f"""
module t(input clk, input d, output reg [35:0] q);
  reg [17:0] a; wire [35:0] p;
  always @(posedge clk) begin a <= {{a, d}}; q <= p; end
  MULT18X18D #(.REG_INPUTA_CLK("CLK0"), .REG_INPUTB_CLK("CLK0"), .REG_OUTPUT_CLK("CLK0"), .REG_PIPELINE_CLK("NONE"))
  m({PINS}, .SIGNEDA(1'b1), .SIGNEDB(1'b1), .CE0(1'b1), .CLK0(clk), .RST0(1'b0));
endmodule
"""
SHIFT = "module t(input clk, input d, output reg [3:0] q); always @(posedge clk) q <= {q, d}; endmodule"


def test_a_claim_ends_at_the_limit_of_the_primitives() -> None:
    netlist = synthesise_flat(MULTIPLIER, "t", target("ecp5"))
    assert netlist.cells["MULT18X18D"] == 1
    run = place_and_route(netlist, target("ecp5").device("25k"), 8)
    assert run.clock is not None
    assert run.clock.reported > 225 and run.clock.claimed == 225
    assert "multiplier" in run.clock.reason


def test_the_best_seed_is_kept() -> None:
    report = synthesise(SHIFT, "t", "ice40", PartOptions(device="up5k", place_and_route=True, seeds=3))
    rates = {run.seed: run.clock.reported for run in report.placements if run.clock}
    assert sorted(rates) == [1, 2, 3]
    assert report.megahertz == max(rates.values())
    assert report.data()["seeds"] == {str(seed): rate for seed, rate in rates.items()}


def test_a_family_whose_timing_is_not_known_has_no_clock_figure() -> None:
    report = synthesise(SHIFT, "t", "gowin", PartOptions(device="gw1n-9", place_and_route=True))
    assert report.megahertz is None
    assert "timing arcs" in report.text()


def test_nexus_is_placed_too() -> None:
    run = place_and_route(synthesise_flat(SHIFT, "t", target("nexus")), target("nexus").device())
    assert run.clock is not None and run.clock.claimed > 50


def test_a_part_that_is_too_small_is_refused() -> None:
    products = "".join(f"p{k} <= a * (b + {k}); " for k in range(9))
    ports = ", ".join(f"output reg [31:0] p{k}" for k in range(9))
    ports = f"input clk, input signed [15:0] a, b, {ports}"
    wide = f"module t({ports}); always @(posedge clk) begin {products} end endmodule"
    netlist = synthesise_flat(wide, "t", target("ice40"))
    with pytest.raises(TablaError, match="needs 9 SB_MAC16, but iCE40UP5K has 8"):
        place_and_route(netlist, target("ice40").device("up5k"))
