"""The records of families, devices and boards."""

from __future__ import annotations

import pytest

from tabla.base.source import TablaError
from tabla.build.synth.nextpnr import place_and_route
from tabla.build.synth.yosys import synthesise_flat
from tabla.templates.targets import KINDS, board, boards, target, targets

COUNTER = "module t(input clk, output reg [7:0] q); always @(posedge clk) q <= q + 1; endmodule"
# The names that nextpnr has for the kinds of resources.
AVAILABLE = {
    "ecp5": {"LUT": "TRELLIS_COMB", "FF": "TRELLIS_FF", "DSP": "MULT18X18D", "RAM": "DP16KD"},
    "nexus": {"LUT": "OXIDE_COMB", "FF": "OXIDE_FF", "DSP": "MULT18_CORE", "RAM": "OXIDE_EBR"},
    "ice40": {"LUT": "ICESTORM_LC", "DSP": "ICESTORM_DSP", "RAM": "ICESTORM_RAM"},
    "gowin": {"LUT": "LUT4", "RAM": "BSRAM"},
}


def test_the_five_families_are_there() -> None:
    assert list(targets()) == ["ecp5", "nexus", "ice40", "gowin", "xilinx"]


@pytest.mark.parametrize("name", targets())
def test_every_family_can_count_and_place_what_it_says(name: str) -> None:
    family = target(name)
    assert len({device.name for device in family.devices}) == len(family.devices) > 0
    assert {cost.kind for cost in family.costs} == set(KINDS)
    assert bool(family.place) == bool(family.package)
    for device in family.devices:
        assert device.capacity("LUT") > 0 and device.packages and device.grades
        assert bool(device.arguments) == bool(family.place)
        command = " ".join(device.command(device.packages[0], device.grades[0]))
        assert "{" not in command


def test_ecp5_limits_rise_with_the_grade_and_read_before_write_is_slower() -> None:
    limits = target("ecp5").limits
    plain = [limit.megahertz for limit in limits if limit.cell == "DP16KD" and not limit.parameter]
    reading = [limit.megahertz for limit in limits if limit.parameter == "WRITEMODE_A"]
    assert plain == [212, 254, 271]
    assert reading == [155, 194, 214]


def test_cells_are_counted_once_and_by_their_weight() -> None:
    cells = {"LUT4": 10, "CCU2C": 3, "TRELLIS_DPR16X4": 2, "PFUMX": 7, "TRELLIS_FF": 5, "MULT18X18D": 1, "DP16KD": 4}
    assert target("ecp5").taken(cells) == {"LUT": 28, "FF": 5, "DSP": 1, "RAM": 4}


def test_the_largest_device_is_the_default_and_parts_are_known_by_both_names() -> None:
    assert target("ecp5").device().part == "LFE5U-85F"
    assert target("ecp5").device("LFE5U-25F") is target("ecp5").device("25k")


def test_unknown_names_are_refused_with_what_there_is() -> None:
    with pytest.raises(TablaError, match="no target 'ecp6'") as fault:
        target("ecp6")
    assert "ecp5, nexus, ice40, gowin, xilinx" in str(fault.value)
    with pytest.raises(TablaError, match="no device '99k'") as fault:
        target("ecp5").device("99k")
    assert "85k" in str(fault.value)
    with pytest.raises(TablaError, match="no board 'ulx4s'") as fault:
        board("ulx4s")
    assert "ulx3s-85f" in str(fault.value)


@pytest.mark.parametrize("name", boards())
def test_a_board_holds_a_chip_that_there_is(name: str) -> None:
    found = board(name)
    device = target(found.target).device(found.device)
    assert found.package in device.packages and found.grade in device.grades
    pins = [found.clock_pin, found.host_transmit, found.host_receive, found.reset_pin, *found.leds]
    assert all(pins) and len(set(pins)) == len(pins)
    assert found.clock_hertz >= 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "device"), [(family, device.name) for family in AVAILABLE for device in target(family).devices]
)
def test_capacities_are_what_nextpnr_says(family: str, device: str) -> None:
    part = target(family).device(device)
    utilization = place_and_route(synthesise_flat(COUNTER, "t", target(family)), part).report["utilization"]
    found = {kind: utilization.get(name, {"available": 0})["available"] for kind, name in AVAILABLE[family].items()}
    assert found == {kind: part.capacity(kind) for kind in AVAILABLE[family]}
