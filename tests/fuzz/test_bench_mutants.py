"""Faults in the Verilog that `gen` writes, and how many of them its test bench finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from tabla.sim.engines.cocotb_run import available

from tests.fuzz.bench_mutants import network, run_bench, verdicts
from tests.fuzz.verilog_mutants import mutants

TEXT = """module m (
  input wire clk
);
  initial begin
    a = 1'b0; b = 2'b00;
  end
  // a + b
  wire [1:0] c = a ? b : (b + 2'b01);
  always @(posedge clk) begin
    if (a == c) b <= ~c & 2'b10;
  end
endmodule
"""


def test_a_mutant_has_one_change_of_behaviour() -> None:
    lines = TEXT.split("\n")
    found = mutants(TEXT, 7, seed=1)
    assert found == mutants(TEXT, 7, seed=1) != mutants(TEXT, 7, seed=2)
    for mutant in found:
        changed = [number for number, line in enumerate(mutant.text.split("\n")) if line != lines[number]]
        assert changed == [mutant.line - 1] and mutant.line in (8, 10) and mutant.before != mutant.after


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_bench_finds_most_faults(tmp_path: Path) -> None:
    """The aim is 85 %. docs/decisions/0032-fuzzing.md says what is reached, and why the others stay."""
    if not available("icarus"):
        pytest.skip("needs cocotb and Icarus Verilog")
    folder = network(tmp_path)
    assert run_bench(folder), "the bench refuses Verilog without a fault"
    found = list(verdicts(folder, 24, seed=1))
    assert sum(verdict.killed for verdict in found) > 0.5 * sum(not verdict.equivalent for verdict in found)
