"""Memories, tree, counters, output buffer: each against the plainest model."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.hw.countdown import Countdown
from tabla.hw.counters import EventCounter
from tabla.hw.memory import WordMemory
from tabla.hw.multiplier import Multiplier
from tabla.hw.output import OutputBuffer
from tabla.hw.tree import Tree, levels
from tabla.templates.template import timing
from tests.hw.bench import played


@pytest.mark.parametrize(("width", "depth"), [(8, 1), (16, 2), (18, 37), (5, 64)])
def test_memory_shows_what_was_written(width: int, depth: int) -> None:
    chance = random.Random(depth)
    init = [chance.randrange(1 << width) for _ in range(depth // 2)]
    words = init + [0] * (depth - len(init))
    inputs, wanted = [], []
    for _ in range(400):
        read, write = chance.randrange(depth), chance.randrange(depth)
        enable = int(chance.random() < 0.6 and read != write)
        data = chance.randrange(1 << width)
        inputs.append({"read_address": read, "write_address": write, "write_enable": enable, "write_data": data})
        wanted.append(words[read])
        if enable:
            words[write] = data
    seen = played(WordMemory(width=width, depth=depth, init=init), inputs, more=WordMemory.LATENCY)
    assert [cycle["read_data"] for cycle in seen[WordMemory.LATENCY :]] == wanted


@pytest.mark.parametrize("leaves", [1, 2, 3, 4, 6, 16])
def test_tree_adds_words_and_complements(leaves: int) -> None:
    chance = random.Random(leaves)
    width, cycles = 24, 200
    traffic = [
        ([chance.randrange(-(1 << 19), 1 << 19) for _ in range(leaves)], chance.randint(0, 1)) for _ in range(cycles)
    ]
    inputs = [
        {f"words.{k}": ~word if inverted else word for k, word in enumerate(words)} | {"inverted": -inverted}
        for words, inverted in traffic
    ]
    late = levels(leaves)
    seen = played(Tree(leaves=leaves, width=width), inputs, more=late)
    for cycle, (words, inverted) in enumerate(traffic):
        shown = seen[cycle + late]["sum"]
        assert (~shown if inverted else shown) == sum(words)
    assert late * timing().tree_level == (leaves - 1).bit_length()


@pytest.mark.parametrize("leaves", [1, 2, 5, 16])
def test_tree_keeps_the_largest_or_smallest_word(leaves: int) -> None:
    chance = random.Random(leaves)
    traffic = [
        ([chance.randrange(-(1 << 19), 1 << 19) for _ in range(leaves)], chance.randint(0, 1), chance.randint(0, 1))
        for _ in range(60)
    ]
    inputs = [
        {f"words.{k}": ~word if inverted else word for k, word in enumerate(words)}
        | {"inverted": -inverted, "extreme": extreme}
        for words, inverted, extreme in traffic
    ]
    late = levels(leaves)
    seen = played(Tree(leaves=leaves, width=26, extremes=True), inputs, more=late)
    for cycle, (words, inverted, extreme) in enumerate(traffic):
        shown = seen[cycle + late]["sum"]
        expected = (min(words) if inverted else max(words)) if extreme else sum(words)
        assert (~shown if inverted else shown) == expected


@pytest.mark.parametrize("leaves", [4, 5, 8, 13])
def test_each_sum_of_two_leaves_takes_the_sense_beside_it(leaves: int) -> None:
    """The senses are one wire in a whole array. Each pair has a register of it close by, which is its own."""
    pairs = leaves // 2
    inputs = [{f"words.{k}": 100 * k for k in range(leaves)} | {"inverted": 1 << pair} for pair in range(1, pairs)]
    seen = played(Tree(leaves=leaves, width=24), inputs, more=levels(leaves))
    assert [cycle["sum"] for cycle in seen[levels(leaves) :]] == [100 * sum(range(leaves)) + 1] * (pairs - 1)


@pytest.mark.parametrize("leaves", [2, 3, 4])
def test_tree_gives_nothing_where_it_is_told(leaves: int) -> None:
    chance = random.Random(leaves)
    traffic = [[chance.randrange(-(1 << 19), 1 << 19) for _ in range(leaves)] for _ in range(60)]
    clears = [chance.randint(0, 1) for _ in range(60 + levels(leaves))]
    inputs = [
        {f"words.{k}": word for k, word in enumerate(words)} | {"clear": clear}
        for words, clear in zip([*traffic, *traffic[: levels(leaves)]], clears, strict=True)
    ]
    seen = played(Tree(leaves=leaves, width=24, clears=True), inputs, more=1)
    for cycle, words in enumerate(traffic):
        shown = cycle + levels(leaves)
        assert seen[shown]["sum"] == (0 if clears[shown - 1] else sum(words))


def test_multiplier_is_a_product_two_cycles_later() -> None:
    pairs = [(a, b) for a in (-128, -1, 0, 1, 77, 127) for b in (-512, -3, 0, 2, 511)]
    seen = played(Multiplier(left=8, right=10), [{"a": a, "b": b} for a, b in pairs], more=2)
    assert [cycle["product"] for cycle in seen[Multiplier.LATENCY :]] == [a * b for a, b in pairs]


@pytest.mark.parametrize(("low", "width"), [(12, 4), (3, 5), (4, 7)])
@pytest.mark.parametrize("sources", [2, 3, 8])
@given(st.lists(st.integers(0, 255), min_size=1, max_size=90))
@settings(max_examples=20, deadline=None)
def test_counters_stop_at_the_top(low: int, width: int, sources: int, events: list[int]) -> None:
    events = [event % (1 << sources) for event in events]
    counter = EventCounter(sources=sources, width=max(width, (2 * sources).bit_length()))
    width = counter.width
    counter.LOW = low  # type: ignore[misc]
    seen = played(counter, [{"events": e} for e in events] + [{"events": 0}], more=3)
    assert seen[-1]["count"] == min((1 << width) - 1, sum(e.bit_count() for e in events))


@given(st.integers(1, 9), st.booleans(), st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
@settings(max_examples=60, deadline=None)
def test_output_buffer_keeps_order_and_its_latency(depth: int, deep: bool, traffic: list[tuple[bool, bool]]) -> None:
    # The credit rule: never more than `depth` words inside.
    put, taken, inputs, offered = 0, 0, [], []
    shown_from: list[int] = []
    last_taken = -1
    for cycle, (wants, ready) in enumerate(traffic):
        puts = wants and put - taken < depth
        head = taken < put and cycle >= max(shown_from[taken], last_taken + 1)
        offered.append(taken + 1 if head else None)
        inputs.append({"put": int(puts), "word": put + 1, "out_ready": int(ready)})
        if head and ready:
            taken, last_taken = taken + 1, cycle
        if puts:
            put += 1
            shown_from.append(cycle + OutputBuffer.LATENCY)
    buffer = OutputBuffer(width=8, depth=depth)
    if deep:
        buffer.DEEP = 0
    seen = played(buffer, inputs)
    assert [cycle["out_data"] if cycle["out_valid"] else None for cycle in seen] == offered


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 40), st.lists(st.booleans(), min_size=60, max_size=90), st.integers(0, 20))
def test_countdown_knows_what_is_left(count: int, wishes: list[bool], again: int) -> None:
    """Each load is followed by steps as wished while any is left; what is shown is exact from the fourth cycle on."""
    inputs, left, quiet, wanted = [], 0, 0, []
    for cycle, wish in enumerate([False, *wishes, False, *wishes]):
        load = cycle in (1, 1 + len(wishes))
        step = wish and quiet > 3 and left > 0
        wanted.append((int(left > 0), int(left > 1)) if quiet > 3 or not cycle else None)
        inputs.append({"load": int(load), "count": count if cycle == 1 else again, "step": int(step)})
        left, quiet = (count if cycle == 1 else again, 1) if load else (left - step, quiet + 1 if quiet else 0)
    seen = played(Countdown(width=8), inputs)
    for shown, expected in zip(seen, wanted, strict=True):
        assert expected is None or (shown["any"], shown["several"]) == expected
