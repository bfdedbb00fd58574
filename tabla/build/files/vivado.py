"""The script of ``gen --bus`` for Vivado, ``<name>_vivado.tcl``."""

from __future__ import annotations

import re

from tabla.build.files.bus import MEGAHERTZ


def vivado_script(name: str, module: str) -> str:
    """Return a Tcl script that implements the wrapper of the Verilog module `module` by itself, and reports figures.

    `name` is the stem of the Verilog files. The script has been run with stand-ins for the commands of Vivado only.
    """
    stem = re.sub(r"([^\w.-])", r"\\\1", name)
    return f"""\
# {module}_axi by itself (out of context) in Vivado: its area, and whether it reaches a clock rate. Made by tabla.
#
# NOBODY HAS RUN THIS SCRIPT IN VIVADO. The tests of tabla run it with stand-ins for Vivado's commands only.
#
#   vivado -mode batch -source THIS_FILE -tclargs xc7z020clg400-1 {MEGAHERTZ}
#
# The arguments are the part and the clock rate in megahertz; both may be left out. For a block design, add the folder
# to the IP repositories instead: component.xml describes the wrapper.
set part [expr {{$argc > 0 ? [lindex $argv 0] : "xc7z020clg400-1"}}]
set megahertz [expr {{$argc > 1 ? [lindex $argv 1] : {MEGAHERTZ}}}]
set here [file dirname [file normalize [info script]]]
foreach file [list {stem}.v {stem}_axi.v] {{
    read_verilog [file join $here $file]
}}
synth_design -top {module}_axi -part $part -mode out_of_context
create_clock -name aclk -period [format %.3f [expr {{1000.0 / $megahertz}}]] [get_ports aclk]
opt_design
place_design
route_design
report_utilization -file {stem}_utilization.txt
report_timing_summary -file {stem}_timing.txt
puts "{module}_axi: slack [get_property SLACK [get_timing_paths]] ns at $megahertz MHz on $part"
"""
