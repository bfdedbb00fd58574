"""Programs that break a law are refused, each kind of breach in its own words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.program.image import Image
from tabla.sim.model.cycle_model import CycleModel
from tabla.sim.model.faults import MachineFault
from tests.sim.hand_assembler import Nest, assemble, lane, lane_write, parameters, root, root_write, stream, table
from tests.sim.hand_images import linear

READ = {"lane_issue": [Nest(body=[lane(a="model", b="one")])]}


def _run(run: dict[str, list[Nest]], *, strict: bool = True, load: bool = True, **more: object) -> None:
    image = assemble(
        parameters(2, **more),  # type: ignore[arg-type]
        run,
        period=100,
        load=[Nest(body=[stream(to_model=1, to_root_memory=1)])] if load else [],
    )
    machine = CycleModel(image, strict=strict)
    if load:
        machine.load([[1, 2]])
    machine.run([], 1)


def _refuses(words: str, run: dict[str, list[Nest]], **more: object) -> None:
    with pytest.raises(MachineFault, match=words):
        _run(run, **more)  # type: ignore[arg-type]


def test_a_sound_program_runs() -> None:
    _run(READ)


def test_reading_a_word_never_written() -> None:
    _refuses("model word 0, which was never written", READ, load=False)
    _run(READ, load=False, strict=False)
    _refuses("root memory word 4, which was never", {"root_issue": [Nest(body=[root(a="memory", b="one", at_a=(4,))])]})


def test_reading_and_writing_a_word_in_one_cycle() -> None:
    write = {"lane_write": [Nest(start=7, body=[lane_write(to_model=1)])]}
    again = [*READ["lane_issue"], Nest(start=7, body=[lane(a="model", b="one")])]
    _refuses("model word 0 is read in the cycle that writes it", {"lane_issue": again, **write})
    # Another lane's memory is another memory.
    apart = [*READ["lane_issue"], Nest(start=7, body=[lane(a="model", b="one", low=(1,))])]
    _run({"lane_issue": apart, "lane_write": [Nest(start=7, body=[lane_write(to_model=1, high=(1,))])]})
    at_root = [Nest(body=[root(c="memory", base="addend")]), Nest(start=7, body=[root(c="memory", base="addend")])]
    keep = [Nest(start=7, body=[root_write(to_memory=1)])]
    _refuses("root memory word 0 is read in the cycle", {"root_issue": at_root, "root_write": keep})


def test_registers_that_show_nothing() -> None:
    _refuses("no result .* lanes' result", {**READ, "lane_write": [Nest(start=6, body=[lane_write(to_model=1)])]})
    _refuses("no word on the bus", {"lane_issue": [Nest(body=[lane(a="model", b="bus")])]})
    _refuses("no word on the bus", {"lane_write": [Nest(body=[lane_write(source="bus", to_model=1)])]})
    _refuses("root's result register", {"root_write": [Nest(body=[root_write(to_output=1)])]})
    _refuses("function register", {"root_write": [Nest(body=[root_write(source="function", to_output=1)])]})
    gathers = Nest(start=8, body=[root(a="gathered_memory")])
    _refuses("no position of sample 0 in the root's position register", {"root_issue": [gathers]}, strict=False)
    fetch = root(b="position", half="all")
    _run({"root_issue": [Nest(body=[fetch]), gathers]}, strict=False)
    _refuses("position register", {"root_issue": [Nest(start=1, body=[fetch]), gathers]}, strict=False)
    scatters = {"root_write": [Nest(start=9, body=[root_write(to_memory=1, scattered=1)])]}
    word = Nest(start=2, body=[root(half="all")])
    _refuses("no position of sample 0", {"root_issue": [word], **scatters}, scatters=True)
    _run({"root_issue": [Nest(body=[fetch]), word], **scatters}, scatters=True)
    # The write is decoded in cycle 8, in which no position shows yet.
    _refuses("no position of sample 0", {"root_issue": [Nest(start=1, body=[fetch]), word], **scatters}, scatters=True)
    _refuses("tree shows no finished sum", {"root_issue": [Nest(start=9, body=[root(base="tree")])]})
    unfinished = {
        "lane_issue": [Nest(counts=(2,), interval=4, reduce=1, body=[lane(a="model", b="one")])],
        "root_issue": [Nest(start=2, body=[root(base="tree")])],
    }
    _refuses("tree shows no finished sum", unfinished)
    _refuses("accumulator of another sample", {"lane_issue": [Nest(body=[lane(base="accumulator")])]})
    _refuses("accumulator of another sample", {"root_issue": [Nest(body=[root(base="accumulator")])]})


def test_function_pipelines_that_end_at_once() -> None:
    build = parameters(2)
    tables = (table("sigmoid", build, reach=4, shift=2, guard=3, base=(0,) * 8, slope=(0,) * 8), table("sqrt", build))
    late = tables[1].latency - tables[0].latency
    issues = [Nest(body=[root(function=6)]), Nest(start=late, body=[root(function=1)])]
    _refuses("two function pipelines end at once", {"root_issue": issues}, functions=tables)
    _refuses("function code 2, which this build does not have", {"root_issue": [Nest(body=[root(function=2)])]})
    wrong = (replace(tables[0], latency=6),)
    _refuses("than in the records", {"root_issue": issues[1:]}, functions=wrong)


def test_strands_of_a_unit_that_overlap() -> None:
    clash = [Nest(counts=(4,), interval=2, body=[lane()]), Nest(start=6, body=[lane()])]
    _refuses("strand 1 of lane_issue starts in cycle 6, but the one before it runs until 7", {"lane_issue": clash})
    case = linear(2, words=3)
    short = replace(case.image, run=replace(case.image.run, period=case.image.parameters.ring_slots))
    with pytest.raises(MachineFault, match="lane_issue is busy for"):
        CycleModel(short)


def test_addresses_beyond_the_memories() -> None:
    far = {"lane_issue": [Nest(body=[lane(a="interim", b="one", interim=(9,))])]}
    _refuses("interim address 9 of 8", far, interim_depth=8)
    write = {**READ, "lane_write": [Nest(start=7, body=[lane_write(to_interim=1, address=(9,))])]}
    _refuses("lanes write address 9", write, interim_depth=8)


def test_slots_released_too_early() -> None:
    case = linear(2)
    last_read = max(issue.cycle for issue in CycleModel(case.image)._run_program.issues if issue.unit == "lane_issue")
    CycleModel(replace(case.image, release=last_read))
    with pytest.raises(MachineFault, match="the slot is free after"):
        CycleModel(replace(case.image, release=last_read - 1))


def test_more_outputs_than_the_buffer_holds() -> None:
    nests = {
        "root_issue": [Nest(counts=(4,), body=[root()])],
        "root_write": [Nest(start=7, counts=(4,), body=[root_write(to_output=1)])],
    }
    _run(nests, output_depth=5)
    _refuses("puts out 4 words, the output buffer holds 3", nests, output_depth=3)


def test_words_that_are_no_microcode() -> None:
    case = linear(2)

    def broken(**changes: object) -> Image:
        return replace(case.image, **changes)  # type: ignore[arg-type]

    words = dict(case.image.operations)
    words["lane_issue"] = tuple(word | 7 << 2 for word in words["lane_issue"])
    with pytest.raises(ValueError, match="field 'b' of lane_issue has no symbol for code 7"):
        CycleModel(broken(operations=words))
    strands = dict(case.image.strands)
    strands["root_issue"] = tuple(word | 1 << 90 for word in strands["root_issue"])
    with pytest.raises(ValueError, match="bits beyond its last field"):
        CycleModel(broken(strands=strands))


@pytest.mark.parametrize("reader", ["lanes", "root"])
def test_reading_beyond_the_own_words_of_a_sample(reader: str) -> None:
    """The neighbour's word may be there: whether it is depends on the stream."""

    def run(word: int) -> None:
        run: dict[str, list[Nest]] = {
            "lane_issue": [Nest(body=[lane(a="data", b="one", data=(word,), windows=("data",))])],
            "root_issue": [Nest(body=[root(c="data", base="addend", at_c=(word,), windows=("c",))])],
        }
        unit, window = ("lane_issue", "data_window") if reader == "lanes" else ("root_issue", "root_data_window")
        targets = {"to_data": 1} if reader == "lanes" else {"to_root_data": 1}
        image = assemble(
            parameters(2, stream_words=2),
            {unit: run[unit]},
            period=100,
            samples=[Nest(counts=(2,), body=[stream(address=(0, 1), windows=("address",), **targets)])],
            **{window: 2},
        )
        CycleModel(image).run([[1, 2]] * 6, 3)

    run(1)
    with pytest.raises(MachineFault, match=r"reads .*data word 2 of its own 2"):
        run(2)


@pytest.mark.parametrize("field", ["to_root_data", "all"])
def test_beats_for_the_root_or_for_all_lanes_are_of_the_first_block(field: str) -> None:
    """With one root the hardware looks at no block there."""

    def build(block: int) -> CycleModel:
        beat = stream(to_data=1, block=(block,), windows=("address",), **{field: 1})
        return CycleModel(assemble(parameters(2), {}, period=100, samples=[Nest(body=[beat])]))

    build(0)
    with pytest.raises(MachineFault, match="of block 1, not of block 0"):
        build(1)
