"""Whole programs, written by hand, on the whole machine: against plain integers and the cycle model."""

import random
from dataclasses import replace
from typing import Any

import pytest

from tabla.host.engines.amaranth_run import AmaranthMachine
from tabla.hw.accelerator import Accelerator
from tabla.hw.control import MacControl
from tabla.hw.group import Group
from tabla.hw.lane import Lane
from tabla.hw.output import OutputBuffer
from tabla.hw.root import Root
from tabla.hw.stream import Stream
from tabla.sim.machine import RunResult, Stalls
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import timing
from tests.hw.test_function_pipelines import tables
from tests.sim.hand_assembler import (
    Nest,
    assemble,
    lane,
    lane_write,
    op,
    operation_word,
    parameters,
    root,
    root_write,
    stream,
)
from tests.sim.hand_images import Case, function_program, linear


def test_latencies_are_those_of_the_records() -> None:
    law = timing()
    assert Lane.ACCUMULATED == Root.RESULT - law.round == law.accumulated
    assert Lane.RESULT == Root.RESULT == law.result
    assert Accelerator.FRONT == law.front
    # Root register, fan-out: from a root write to the lanes' multiplexers, and to the output port.
    assert 1 + Group.FANOUT == law.broadcast == 1 + OutputBuffer.LATENCY
    assert MacControl.LATENCY == 2
    # A beat's words are in the lanes, fan-out and memory write included, before a token can issue anything.
    assert Stream.LATENCY + 1 + Group.FANOUT + law.memory_write <= law.ready + law.front


def both(case: Case, stalls: Stalls | None = None) -> tuple[RunResult, RunResult]:
    """Load, run and dump on model and hardware; the words must agree."""
    results, dumps = [], []
    for machine in (CycleModel(case.image), AmaranthMachine(case.image)):
        with machine:
            if case.load:
                machine.load(case.load)
            results.append(machine.run(case.beats, case.samples, stalls))
            dumps.append(machine.dump(case.dump))
    assert dumps[0] == dumps[1]
    if case.models is not None:
        assert dumps[1] == case.models
    if case.outputs is not None:
        assert results[1].outputs == case.outputs
    return results[0].relative(), results[1].relative()


@pytest.mark.parametrize(
    "build",
    [
        {"pes": 1},
        {"pes": 2, "large": 15},
        {"pes": 3, "width": 8, "fraction": 4, "large": 5},
        {"pes": 4, "width": 32, "fraction": 16, "large": 30},
        {"pes": 6, "pes_per_pu": 3},
        {"pes": 6, "pes_per_pu": 2, "stream_words": 4},
        {"pes": 16, "pes_per_pu": 4, "stream_words": 8, "words": 2, "samples": 3},
        {"pes": 4, "pes_per_pu": 1, "ring_slots": 4, "release": 40},
    ],
    ids=str,
)
def test_linear_regression_learns_as_the_integers_and_the_model_do(build: dict[str, Any]) -> None:
    model, hardware = both(linear(**build))
    assert hardware == model


@pytest.mark.parametrize("seed", range(3))
def test_stalls_at_both_borders_leave_words_and_cycles_as_predicted(seed: int) -> None:
    case = linear(2, samples=8, seed=seed)
    case = replace(case, image=replace(case.image, parameters=replace(case.image.parameters, output_depth=3 + seed)))
    model, hardware = both(case, Stalls.random(seed, share=0.6, longest=40))
    assert hardware == model


@pytest.mark.parametrize(("width", "fraction"), [(16, 10), (8, 4)])
def test_functions_and_their_counters(width: int, fraction: int) -> None:
    chance = random.Random(width)
    build = parameters(1, width=width, fraction=fraction)
    words = [chance.choice([0, 1, -1, chance.randrange(-(1 << width - 1), 1 << width - 1)]) for _ in range(24)]
    made = [t for t, _ in tables(build)]
    model, hardware = both(function_program(made, words, width=width, fraction=fraction))
    assert hardware == model
    assert hardware.counters.domain_errors > 0 < hardware.counters.root_overflows


def test_guards_gates_tails_and_flips_of_the_sum() -> None:
    """Bodies of two with different signs, gated products, lanes left out, sums that go up the tree as complements."""
    shape = parameters(4)
    by = shape.shifts.index(shape.fraction)
    body = [
        lane(
            a="model",
            b="data",
            c="model",
            base="addend",
            half="all",
            shift=by,
            emit=1,
            model=(0, 1),
            data=(0, 1),
            low=(0,),
            high=(3, 1),
        ),
        lane(
            a="model",
            b="data",
            base="accumulator",
            negate=1,
            shift=by,
            emit=1,
            gate=1,
            model=(1, 1),
            data=(2, 1),
            low=(1, 1),
            high=(4,),
        ),
    ]
    complement = lane(a="model", b="data", negate=1, half="lane0", shift=by, model=(0, 1), data=(0, 1))
    run = {
        "lane_issue": [
            Nest(counts=(4,), reduce=1, interval=3, body=body),
            Nest(start=24, counts=(4,), reduce=1, body=[complement]),
            Nest(start=28, counts=(2, 2), body=[lane(a="model", b="one", shift=by, post="<", model=(0, 1, 2))]),
        ],
        "lane_write": [
            Nest(start=28, body=[lane_write(to_interim=1, address=(5,))]),
            Nest(start=35, counts=(4,), body=[lane_write(to_model=1, model=1, address=(4, 1), low=(1,), high=(3,))]),
        ],
        "root_issue": [
            Nest(start=30, body=[root(base="tree", shift=by, emit=1)]),
            Nest(
                start=40,
                body=[root(base="tree", a="data", b="one", negate=1, half="all", shift=by, emit=1, windows=("a",))],
            ),
        ],
        "root_write": [Nest(start=37, body=[root_write(to_output=1)]), Nest(start=47, body=[root_write(to_output=1)])],
    }
    image = assemble(
        shape,
        run,
        period=60,
        load=[Nest(counts=(2, 8), body=[stream(to_model=1, address=(0, 0, 1), block=(0, 1))])],
        samples=[
            Nest(counts=(2, 8), body=[stream(to_data=1, address=(0, 0, 1), block=(0, 1), windows=("address",))]),
            Nest(body=[stream(to_root_data=1, windows=("address",))]),
        ],
        data_window=8,
        root_data_window=1,
    )
    chance = random.Random(3)

    def rows(count: int) -> list[list[int]]:
        return [[chance.randrange(-(1 << 13), 1 << 13) for _ in range(2)] for _ in range(count)]

    case = Case(name="guards", image=image, load=rows(16), beats=rows(17 * 4), samples=4, dump=8)
    # Accumulators of other operations reach the tree in between; the model would call reading them a fault.
    model, hardware = both(case)
    assert hardware == model


def test_a_program_written_through_the_port_runs_like_one_that_was_built_in() -> None:
    shape = parameters(1)

    def image(half: str) -> Any:
        issue = root(a="data", b="data", half=half, shift=1, windows=("a", "b"))
        return assemble(
            shape,
            {"root_issue": [Nest(body=[issue])], "root_write": [Nest(start=7, body=[root_write(to_output=1)])]},
            period=9,
            samples=[Nest(body=[stream(to_root_data=1, windows=("address",))])],
            root_data_window=1,
        )

    rounds = image("all")
    machine = _Programmable(image("none"))
    with machine:
        words = [[51], [-77], [1000]]
        before = machine.run(words, 3).outputs
        at = rounds.memories.index(("root_issue", "operations"))
        issue = op(("a", "b"), {"a": (0,), "b": (0,), "c": (0,)}, a="data", b="data", half="all", shift=1)
        machine.write(at, 0, operation_word("root_issue", issue, (), shape))
        after = machine.run(words, 3).outputs
    model = CycleModel(rounds)
    assert after == model.run(words, 3).outputs
    assert before == [word * word >> 10 for (word,) in words] != after


class _Programmable(AmaranthMachine):
    """A machine whose program port can be written between commands."""

    def __init__(self, image: Any) -> None:
        super().__init__(image)
        self._word: tuple[int, int, int] | None = None
        hardware = self._hardware

        async def port(context: Any) -> None:
            while True:
                if self._word is not None:
                    memory, address, word = self._word
                    context.set(hardware.program_memory, memory)
                    context.set(hardware.program_address, address)
                    context.set(hardware.program_data, word)
                    context.set(hardware.program_valid, 1)
                    await context.tick()
                    context.set(hardware.program_valid, 0)
                    self._word = None
                await context.tick()

        self._simulator.add_testbench(port, background=True)

    def write(self, memory: int, address: int, word: int) -> None:
        """Write one microcode word."""
        self._word = (memory, address, word)
        while self._word is not None:
            self._simulator.advance()


def test_a_program_without_input_runs_on_its_own() -> None:
    issue = root(a="zero", half="all", shift=0, post=">=")
    run = {
        "root_issue": [Nest(counts=(2,), body=[issue])],
        "root_write": [Nest(start=7, counts=(2,), body=[root_write(to_output=1)])],
    }
    image = assemble(parameters(2, output_depth=5), run, period=4)
    model, hardware = both(Case(name="no input", image=image, load=[], beats=[], samples=6, outputs=[1 << 10] * 12))
    assert hardware == model
