"""Which memories are block RAMs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tabla.build.options import Options
from tabla.driver import build
from tabla.hw.block_memories import (
    asks_for_luts,
    giving_way,
    lane_blocks,
    memories_fill_the_part,
    microcode_has_blocks,
    roots_have_blocks,
    strands_have_blocks,
)
from tabla.program.image import Parameters, Ranges

MICROCODE, ROOT, TABLE, PART = 34, 4, 2, 208
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def parameters() -> Parameters:
    """Of some program: small memories, one root, one sequencer."""
    return build(EXAMPLES / "linear.t", Options(pes=4)).image.parameters


@pytest.mark.parametrize(
    ("pes", "roots", "blocks"),
    [(1, 1, 3), (16, 2, 3), (32, 1, 3), (64, 1, 2), (64, 8, 1), (64, 16, 1), (128, 1, 1), (128, 8, 1), (128, 32, 0)],
)
def test_the_array_fits_the_part_and_uses_it(parameters: Parameters, pes: int, roots: int, blocks: int) -> None:
    array = replace(parameters, pes=pes, roots=roots)
    assert lane_blocks(array) == frozenset(("model", "data", "interim")[:blocks])
    taken = pes * blocks + roots * (TABLE + ROOT * roots_have_blocks(array)) + MICROCODE
    assert taken <= PART
    assert blocks == 3 or taken + pes > PART


@pytest.mark.parametrize(("roots", "of_roots"), [(1, True), (4, True), (8, False)])
def test_many_words_of_lanes_come_before_memories_of_roots(parameters: Parameters, roots: int, of_roots: bool) -> None:
    array = replace(parameters, pes=64, roots=roots, model_depth=1024, interim_depth=65)
    assert lane_blocks(array) == {"model", "interim"}
    assert roots_have_blocks(array) == of_roots
    assert roots_have_blocks(replace(array, interim_depth=64))


@pytest.mark.parametrize(
    ("unit", "words", "sequencers", "blocks"),
    [
        ("root_issue", 2, 1, True),
        ("root_issue", 16, 2, False),
        ("root_issue", 17, 2, True),
        ("stream", 8, 4, False),
        ("lane_issue_1", 5, 2, True),
    ],
)
def test_few_words_beside_several_sequencers_take_no_block(
    parameters: Parameters, unit: str, words: int, sequencers: int, blocks: bool
) -> None:
    array = replace(parameters, sequencers=sequencers, operation_depth={unit: words})
    assert microcode_has_blocks(array, unit) == blocks


def test_writes_of_lanes_take_none_either_where_addresses_are_long(parameters: Parameters) -> None:
    array = replace(parameters, sequencers=2, operation_depth={"lane_issue_0": 2, "lane_write_0": 2})
    assert microcode_has_blocks(array, "lane_write_0")
    deep = replace(array, model_depth=513)
    assert not microcode_has_blocks(deep, "lane_write_0")
    assert microcode_has_blocks(deep, "lane_issue_0")


def test_few_words_beside_roots_without_blocks_take_none(parameters: Parameters) -> None:
    array = replace(parameters, pes=128, roots=8, operation_depth={"root_issue": 16, "lane_issue": 16})
    assert not microcode_has_blocks(array, "root_issue")
    assert microcode_has_blocks(array, "lane_issue")


def test_microcode_gives_way_where_memories_fill_the_part(parameters: Parameters) -> None:
    """A hundred lanes with two block RAMs each, or as many where half of them need nothing."""
    units = dict.fromkeys(parameters.operation_depth, 20)
    array = replace(
        parameters,
        pes=100,
        interim_depth=2048,
        operation_depth=units | {"root_issue": 129},
        strand_depth=units | {"stream": 129},
        needed={"interim": (((0, 2048),),) * 100},
    )
    lanes = array.needed["interim"]
    assert memories_fill_the_part(array)
    assert not microcode_has_blocks(array, "lane_issue") and microcode_has_blocks(array, "root_issue")
    assert not strands_have_blocks(array, "lane_issue") and strands_have_blocks(array, "stream")
    for needed in ({"interim": (*lanes[:50], *[()] * 50)}, {"interim": (((0, 1024),),) * 100}, {}):
        roomy = replace(array, needed=needed)
        assert not memories_fill_the_part(roomy)
        assert microcode_has_blocks(roomy, "lane_issue") and strands_have_blocks(roomy, "lane_issue")


def test_lanes_keep_their_few_words_in_luts_where_memories_fill_the_part(parameters: Parameters) -> None:
    """Two samples of 56 words are 112 words of data. Beside 100 lanes with two block RAMs each they lie in LUTs."""
    array = replace(
        parameters,
        pes=100,
        model_depth=1024,
        data_depth=112,
        interim_depth=1024,
        needed=_all(100, "model", 1) | _all(100, "interim", 1),
    )
    assert memories_fill_the_part(array) and lane_blocks(array) == {"model", "interim"}
    assert asks_for_luts(112, block=False) and not asks_for_luts(112, block=True) and not asks_for_luts(64, block=False)
    assert lane_blocks(replace(array, data_depth=129)) == {"model", "data", "interim"}
    large = replace(array, part_blocks=730)
    assert not memories_fill_the_part(large) and lane_blocks(large) == {"model", "data", "interim"}


def test_no_more_memories_lie_in_luts_than_are_needed(parameters: Parameters) -> None:
    """Microcode of 100 words takes as many block RAMs as a small one. The part lacks some of them."""
    units = dict.fromkeys(parameters.operation_depth, 100)
    array = replace(
        parameters, pes=80, interim_depth=2048, operation_depth=units, strand_depth=units, needed=_all(80, "interim", 2)
    )
    kinds = {f"{kind} of {unit}" for kind in ("operations", "strands") for unit in units}
    every = giving_way(replace(array, part_blocks=161))
    assert every == kinds
    given = [giving_way(replace(array, part_blocks=blocks)) for blocks in range(161, 300)]
    assert given[-1] == frozenset() and len(set(map(len, given))) > 5
    # Where the part has more block RAMs, at least one memory fewer lies in LUTs, or narrower ones do.
    assert all(not less < more for less, more in pairwise(given))
    assert all(found <= kinds for found in given)


def test_lanes_give_way_after_microcode_which_is_then_given_back(parameters: Parameters) -> None:
    units = dict.fromkeys(parameters.operation_depth, 100)
    array = replace(
        parameters,
        pes=100,
        interim_depth=1024,
        data_depth=112,
        operation_depth=units,
        strand_depth=units,
        needed=_all(100, "interim", 1) | {"data": (((0, 112),),) * 100},
    )
    found = giving_way(replace(array, part_blocks=130))
    assert "data" in found and len(found) < 1 + 2 * len(units)
    assert "data" not in giving_way(replace(array, part_blocks=240))


def _all(lanes: int, memory: str, blocks: int) -> dict[str, tuple[Ranges, ...]]:
    """Every lane needs so many whole block RAMs of a memory."""
    return {memory: (((0, 1024 * blocks),),) * lanes}


def test_small_parts_have_small_memories_in_luts(parameters: Parameters) -> None:
    array = replace(parameters, pes=16)
    assert lane_blocks(array) == {"model", "data", "interim"}
    assert lane_blocks(replace(array, part_blocks=56)) == {"model"}


def test_every_copy_of_a_root_counts(parameters: Parameters) -> None:
    array = replace(parameters, root_memory_depth=64 * 1024)
    whole = ((0, 64 * 1024),)
    assert memories_fill_the_part(replace(array, needed={"root memory": (whole, whole, whole)}))
    assert not memories_fill_the_part(replace(array, needed={"root memory": (whole, whole, ())}))
