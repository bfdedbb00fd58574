"""Where the busiest unit stands still, and the block RAMs that memories take beyond the first of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.learning.problems import Problem
from tabla.build.cost.blocks import memories
from tabla.driver import build
from tabla.hw.features import features_of
from tabla.program.encode import encode
from tabla.schedule.placing.block_rams import OPERATION_BLOCKS, STRAND_BLOCKS, blocks, further_blocks
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.placing.waits import waits_of
from tabla.schedule.strands.strand import Operation, Owner, Strand
from tabla.templates.memories import LUT_WORDS


def strand(unit: str, start: int, length: int, statement: int, sequencers: tuple[int, ...] = ()) -> Strand:
    """A strand of a single loop, which takes its unit for `length` cycles."""
    owner = Owner(statement=statement)
    return Strand(
        unit=unit, start=start, body=(Operation(fields={}),), counts=(length,), owner=owner, sequencers=sequencers
    )


def test_waits_are_those_of_the_busiest_unit() -> None:
    lanes = [strand("lane_issue", 10, 5, 0), strand("lane_issue", 18, 4, 2), strand("lane_issue", 30, 9, 0)]
    root = [strand("root_issue", 0, 1, 0), strand("root_issue", 90, 1, 1)]
    assert waits_of([*lanes, *root], 3, 1) == (8, 0, 3)


def test_a_strand_of_no_statement_ends_a_wait_that_nobody_has() -> None:
    strands = [strand("lane_issue", 0, 5, 0), strand("lane_issue", 9, 1, -1), strand("lane_issue", 12, 9, 1)]
    assert waits_of(strands, 2, 1) == (0, 2)


def test_writes_are_no_issues() -> None:
    assert waits_of([strand("lane_write", 0, 99, 0), strand("lane_write", 200, 99, 1)], 2, 1) == (0, 0)


def test_each_sequencer_is_a_unit() -> None:
    strands = [strand("lane_issue", 0, 2, 0, (0,)), strand("lane_issue", 0, 3, 0, (1,)), strand("lane_issue", 9, 3, 1)]
    assert waits_of(strands, 2, 2) == (0, 6)


def schedule(problem: Problem, pes: int) -> Schedule:
    made = build(problem.file, problem.options(pes))
    return made.schedule


@pytest.mark.parametrize("features", [55, 16384])
def test_block_rams_of_lanes(features: int) -> None:
    """16,384 features on 16 PEs are 1,024 words of models, one block RAM, and as many words of data for each sample."""
    made = schedule(Problem(kind="linear", sizes=(features,)), 16)
    assert made.layout.depths.model == made.layout.depths.data == -(-features // 16)
    blocks_of_data = made.ring_slots if features == 16384 else 1
    assert further_blocks(made) == 16 * (blocks_of_data - 1)
    assert (further_blocks(made) > 0) == (features == 16384)


def test_block_rams_are_those_of_the_cost_model_without_the_first_of_each_memory() -> None:
    made = schedule(Problem(kind="backprop", sizes=(351, 1000, 40)), 16)
    image = encode(made)
    lanes = {m.name: m.block_rams // 16 for m in memories(image, features_of(image)) if m.copies == 16}
    # All of `model`, and both ends of `interim`, which has the same addresses.
    # That is more than the part has, so the few words of data lie in LUTs. The hardware joins two runs of needed words
    # of `model`, which takes a block RAM that the search does not count.
    assert lanes == {"model": 24, "data": 0, "interim": 2}
    assert further_blocks(made) == 16 * (22 + 0 + 1)


def test_a_named_part_that_is_full_has_few_words_of_lanes_in_luts() -> None:
    """Each of 16 lanes has 1,024 words of a model, and a ring of 128 words of data."""
    made = schedule(Problem(kind="linear", sizes=(16384,)), 16)
    layout = replace(made.layout, depths=replace(made.layout.depths, data=LUT_WORDS // made.ring_slots))

    def taken(block_rams: int) -> int:
        template = replace(made.template, block_rams=block_rams)
        return blocks(replace(made, layout=layout, mapping=replace(made.mapping, template=template)))

    assert (taken(0), taken(32), taken(31)) == (32, 32, 16)
    more = replace(layout, depths=replace(layout.depths, data=LUT_WORDS // made.ring_slots + 1))
    full = replace(made.mapping, template=replace(made.template, block_rams=31))
    assert blocks(replace(made, layout=more, mapping=full)) > 31


def test_long_microcode_counts_against_a_named_part() -> None:
    """A unit of 40 strands of a body of 30 operations each has 1,200 operation words, two block RAMs deep."""
    made = schedule(Problem(kind="linear", sizes=(16384,)), 16)
    template = replace(made.template, block_rams=400)
    issue = next(s for s in made.strands if s.unit == "lane_issue")
    long = tuple(replace(issue, body=issue.body[:1] * 30) for _ in range(40))
    others = tuple(s for s in made.strands if s.unit != "lane_issue")
    named = replace(made, strands=(*others, *long), mapping=replace(made.mapping, template=template))
    assert blocks(named) == blocks(made) + 2 * OPERATION_BLOCKS
    assert blocks(replace(named, strands=(*others, *long[:4]))) == blocks(made)
    assert (
        blocks(replace(named, strands=(*others, *(long[:1] * 129))))
        == blocks(made) + 4 * OPERATION_BLOCKS + STRAND_BLOCKS
    )
