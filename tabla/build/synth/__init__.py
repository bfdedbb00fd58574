"""Synthesis, place and route with Yosys and nextpnr: from Verilog to area, clock rate and critical path on an FPGA.

Example:

report = synthesise(verilog, "logistic", "ecp5", PartOptions(device="85k", place_and_route=True, seeds=4))
print(report.text())
"""

from tabla.build.part_options import PartOptions
from tabla.build.synth.flow import chosen_part, synthesise
from tabla.build.synth.report import SynthesisReport
from tabla.build.synth.source_lines import source_lines

__all__ = ["PartOptions", "SynthesisReport", "chosen_part", "source_lines", "synthesise"]
