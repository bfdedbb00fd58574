"""The script for Vivado under a plain Tcl, with stand-ins for Vivado's commands that write down what they are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabla.build.files.vivado import vivado_script

STAND_INS = """
set said {}
foreach command {read_verilog synth_design create_clock opt_design place_design route_design report_utilization
        report_timing_summary} {
    proc $command args "lappend ::said \\[linsert \\$args 0 $command\\]"
}
proc get_ports name {return port:$name}
proc get_timing_paths {} {return paths}
proc get_property {name of} {return $name:$of}
rename puts plain_puts
proc puts text {lappend ::said [list puts $text]}
"""


@pytest.mark.parametrize("name", ["line", "a $b [c] {d};#"])
@pytest.mark.parametrize("arguments", [(), ("xcku5p-ffvb676-2-e", "250")])
def test_the_script_runs_in_tcl(name: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "script.tcl").write_text(vivado_script(name, "line"), encoding="utf-8")
    # A Python may be built without Tcl.
    tcl = pytest.importorskip("tkinter").Tcl()
    tcl.eval(STAND_INS)
    tcl.setvar("argc", len(arguments))
    tcl.setvar("argv", arguments)
    tcl.call("source", str(tmp_path / "script.tcl"))
    said = [tcl.splitlist(entry) for entry in tcl.splitlist(tcl.getvar("said"))]
    part, rate = arguments or ("xc7z020clg400-1", "100")
    assert said == [
        ("read_verilog", str(tmp_path / f"{name}.v")),
        ("read_verilog", str(tmp_path / f"{name}_axi.v")),
        ("synth_design", "-top", "line_axi", "-part", part, "-mode", "out_of_context"),
        ("create_clock", "-name", "aclk", "-period", {"100": "10.000", "250": "4.000"}[rate], "port:aclk"),
        ("opt_design",),
        ("place_design",),
        ("route_design",),
        ("report_utilization", "-file", f"{name}_utilization.txt"),
        ("report_timing_summary", "-file", f"{name}_timing.txt"),
        ("puts", f"line_axi: slack SLACK:paths ns at {rate} MHz on {part}"),
    ]


def test_the_script_says_that_nobody_has_run_it() -> None:
    assert "NOBODY HAS RUN THIS SCRIPT IN VIVADO" in vivado_script("line", "line")
