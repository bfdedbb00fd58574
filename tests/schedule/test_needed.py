"""Which words the lanes and the operands of roots have: no fewer than are needed, and no more than pays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.hw.banks import Bank, banks_of
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower import lower
from tabla.program.encode import encode
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.placing.block_rams import block_words, further_blocks
from tabla.schedule.placing.needed import blocks_of, merged
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.layout import Ranges
from tabla.templates.template import Template, template_for
from tests.schedule.agreement import agree_on

Q6_10 = Format(integer=6, fraction=10)
MAPS = """def maps(float(3,90) A, float(3,3) W, float(90) s) -> (B, C, D) {
  B(c,i) +=! A(c,i+k) * W(c,k) where i in 0:88
  C(c,i) = B(c,i) * B(c,i)
  D(c) +=! C(c,i) * s(i)
}"""
"""A convolution of each of three channels, which lie in three lanes of eight, and maps that the root reads."""


def scheduled(template: Template, *, keep: tuple[str, ...] = ("W",)) -> Schedule:
    function = parse(Source.from_text(MAPS)).function()
    sizes = bind_sizes(function, {"A": (3, 90), "W": (3, 3), "s": (90,)})
    graph = run_passes(lower(function, sizes, number_format=Q6_10, keep=keep), Q6_10)
    return schedule_graph(graph, template, Q6_10, EFFORTS[0])


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    return scheduled(template_for(8))


def test_lanes_without_a_tensor_need_none_of_its_words(schedule: Schedule) -> None:
    needed, depths = schedule.layout.needed, schedule.layout.depths
    data = depths.data * schedule.ring_slots
    assert max(depths.interim, data) > 64, "the program has no memory that is worth it"
    for memory in {"data", "interim"} & needed.keys():
        full = [lane for lane, ranges in enumerate(needed[memory]) if ranges]
        assert full == [0, 1, 2]
    assert "model" not in needed  # a memory of few words is the same in all lanes
    agree_on(schedule)


def test_a_depth_of_the_user_is_that_of_every_lane(schedule: Schedule) -> None:
    deep = schedule.layout.depths.interim
    asked = scheduled(replace(template_for(8), interim_words=deep))
    assert "interim" in schedule.layout.needed and "interim" not in asked.layout.needed
    assert encode(asked).parameters.interim_depth == deep


def test_the_ring_needs_its_words_in_every_slot(schedule: Schedule) -> None:
    window, slots = schedule.layout.depths.data, schedule.ring_slots
    one, all_slots = schedule.layout.needed["data"][0], encode(schedule).parameters.needed["data"][0]
    wanted = merged((slot * window + begin, slot * window + end) for slot in range(slots) for begin, end in one)
    assert slots > 1 and all_slots == wanted


def _without(ranges: Ranges, at: int) -> Ranges:
    """The same addresses but for one."""
    parts = [(b, e) for begin, end in ranges for b, e in ((begin, min(end, at)), (max(begin, at + 1), end)) if b < e]
    return tuple(parts)


def faulty(schedule: Schedule) -> Iterator[tuple[str, Schedule]]:
    """Schedules of which a lane, or an operand, lacks its first or its last word, or all."""
    needed: Mapping[str, tuple[Ranges, ...]] = schedule.layout.needed
    for memory, every in needed.items():
        for number, own in enumerate(every):
            for name, less in (
                ("all", ()),
                *((f"word {at}", _without(own, at)) for b, e in own for at in (b, e - 1)),
            ):
                if less != own:
                    changed = {**needed, memory: (*every[:number], less, *every[number + 1 :])}
                    yield (
                        f"{memory} {number} {name}",
                        replace(schedule, layout=replace(schedule.layout, needed=changed)),
                    )


def test_a_word_that_is_touched_and_not_there_is_refused(schedule: Schedule) -> None:
    planted = list(faulty(schedule))
    assert {name.rpartition(" ")[0].split(" ")[0] for name, _ in planted} >= {"data", "interim", "root"}
    for name, wrong in planted:
        with pytest.raises(ScheduleFault, match=r"has no such word|its copy does not have"):
            check(wrong)
            pytest.fail(f"{name} is accepted")


def test_lanes_that_are_too_few_are_refused(schedule: Schedule) -> None:
    needed = {**schedule.layout.needed, "interim": schedule.layout.needed["interim"][:-1]}
    with pytest.raises(ScheduleFault, match="7 lanes have words of interim, of 8"):
        check(replace(schedule, layout=replace(schedule.layout, needed=needed)))


def test_the_search_counts_the_blocks_that_are_needed(schedule: Schedule) -> None:
    lanes: tuple[Ranges, ...] = (((0, 3000),), ((0, 1024),), ((2040, 2050),), (), ((0, 1025),), *[()] * 3)
    layout = replace(
        schedule.layout,
        depths=replace(schedule.layout.depths, interim=3000, root_data=0, root_memory=5000, data=0),
        needed={"interim": lanes, "root memory": (((0, 5000),), ((4000, 4001),), ())},
    )
    # 3, 1, none, none and 1 block RAM in the lanes, 5 and twice none at the root: the first of each is free.
    assert further_blocks(replace(schedule, layout=layout)) == 2 + 4


@given(
    width=st.sampled_from([9, 16]),
    depth=st.integers(1100, 9000),
    ends=st.lists(st.tuples(st.integers(0, 9000), st.integers(1, 3000)), max_size=2),
)
def test_the_search_counts_as_the_hardware_does(width: int, depth: int, ends: list[tuple[int, int]]) -> None:
    """Where there are no more banks than the hardware makes. The search does not know of that limit."""
    ranges = merged((begin % depth, min(depth, begin % depth + words)) for begin, words in ends)
    banks = banks_of(width, depth, ranges)
    words = sum(bank.words for bank in banks if bank.words > 64)
    assert blocks_of(ranges, block_words(width)) <= -(-words // block_words(width))
    if len(banks) < 3 and banks != (Bank(0, 1 << (depth - 1).bit_length()),):
        assert blocks_of(ranges, block_words(width)) * block_words(width) == words


@pytest.mark.parametrize(
    ("ranges", "together"),
    [([], ()), ([(3, 5), (0, 3)], ((0, 5),)), ([(0, 9), (2, 4), (10, 11)], ((0, 9), (10, 11)))],
)
def test_ranges_that_touch_are_one(ranges: list[tuple[int, int]], together: Ranges) -> None:
    assert merged(ranges) == together
