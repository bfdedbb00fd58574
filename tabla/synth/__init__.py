"""Yosys and nextpnr runs: Verilog -> area, clock and critical path on a real FPGA.

report = synthesise(verilog, "logistic", "ecp5", "85k", 6, place_and_route=True, seeds=4)
print(report.text())
"""

from tabla.synth.flow import synthesise
from tabla.synth.report import SynthesisReport
from tabla.synth.source_lines import source_lines

__all__ = ["SynthesisReport", "source_lines", "synthesise"]
