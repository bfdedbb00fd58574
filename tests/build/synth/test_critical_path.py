"""The critical path of nextpnr in the names of the hardware description."""

from __future__ import annotations

from typing import Any

import pytest

from tabla.build.synth.critical_path import critical_path, fan_outs, signal_name


@pytest.mark.parametrize(
    ("made", "ours"),
    [
        ("group_0.lane_1.mac.sum[3]", "group_0.lane_1.mac.sum[3]"),
        ("group_0.lane_1.mac.sum_LUT4_Z_D[3]", "group_0.lane_1.mac.sum"),
        ("group_0.write_high_0_TRELLIS_FF_Q", "group_0.write_high_0"),
        ("lane_1._19__LUT4_Z_B_LUT4_Z_1_C_LUT4_Z_D_CCU2C_COUT$CCU2_COMB0", "lane_1._19_"),
        ("start_SB_LUT4_O_I3_SB_CARRY_CI_CO", "start"),
        ("controls__write_high_105[0]", "controls__write_high_105[0]"),
    ],
)
def test_signal_names_lose_what_yosys_appends(made: str, ours: str) -> None:
    assert signal_name(made) == ours


def hop(kind: str, delay: float, cell: str, net: str | None = None) -> dict[str, Any]:
    end = {"cell": cell, "loc": [1, 1], "port": "X"}
    return {"type": kind, "delay": delay, "from": end, "to": end} | ({"net": net} if net else {})


REPORT = {
    "critical_paths": [
        {"from": "<async>", "to": "posedge clk", "path": []},
        {
            "from": "posedge clk",
            "to": "posedge clk",
            "path": [
                hop("clk-to-q", 0.5, "a_TRELLIS_FF_Q_1"),
                hop("routing", 1.5, "sum_CCU2C_S0$CCU2_COMB0", "a[1]"),
                hop("logic", 0.4, "sum_CCU2C_S0$CCU2_COMB0"),
                hop("routing", 0.0, "sum_CCU2C_S0$CCU2_COMB1", "$nextpnr_CCU2C_7$CIN"),
                hop("logic", 0.4, "sum_CCU2C_S0$CCU2_COMB1"),
                hop("routing", 0.1, "sum_TRELLIS_FF_Q_1", "sum_TRELLIS_FF_Q_DI[1]"),
                hop("setup", 0.0, "sum_TRELLIS_FF_Q_1"),
            ],
        },
    ]
}


def test_the_path_of_the_clock_is_found_and_summed() -> None:
    path = critical_path(REPORT, "clk", {"a[1]": 3})
    assert path is not None
    assert (path.start, path.end) == ("a", "sum")
    assert path.delay == pytest.approx(2.9)
    assert path.routing == pytest.approx(1.6)
    assert path.depth == 1
    assert path.hops[1].fan_out == 3
    assert "a[1], 3 sinks" in path.text()
    assert all("$" not in hop.signal for hop in path.hops)


def test_a_clock_without_a_path_has_none() -> None:
    assert critical_path(REPORT, "other", {}) is None


def test_fan_out_counts_inputs_by_wire() -> None:
    module = {
        "cells": {
            "f": {"connections": {"A": [2], "Z": [3]}, "port_directions": {"A": "input", "Z": "output"}},
            "g": {"connections": {"A": [2], "B": ["0"]}, "port_directions": {"A": "input", "B": "input"}},
        },
        "netnames": {"a": {"bits": [2]}, "b": {"bits": [3, 2]}},
    }
    assert fan_outs(module) == {"a": 2, "b[0]": 0, "b[1]": 2}
