"""Where the busiest unit stands still, and the block RAMs that memories take beyond the first of each."""

from __future__ import annotations

import pytest

from benchmarks.learning.problems import Problem
from tabla.build.cost.blocks import memories
from tabla.driver import build
from tabla.hw.features import features_of
from tabla.program.encode import encode
from tabla.schedule.placing.block_rams import further_blocks
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.placing.waits import waits_of
from tabla.schedule.strands.strand import Operation, Owner, Strand


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
    # All of `model`, and both ends of `interim`, which has the same addresses. The hardware joins two of its four runs
    # of needed words, which takes a block RAM that the search does not count.
    assert lanes == {"model": 25, "data": 1, "interim": 3}
    assert further_blocks(made) == 16 * (24 + 0 + 1)
