"""Places that share addresses: the same words in fewer places, and a checker that refuses every early reuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.graph.graph import Graph
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.check.times import check_times
from tabla.schedule.compile import best_mapping, legal_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.placing import build
from tabla.schedule.placing.build import schedule_mapping
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.placing.sharing import allocated
from tabla.schedule.placing.word_lifetimes import Need, Relations
from tabla.schedule.strands.layout import Key, Layout, Lifetime, Span
from tabla.schedule.strands.regions import reading_generators, writing_generators
from tabla.templates.template import template_for
from tests.draws import draws
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, agree_on, shaped_graph
from tests.schedule.test_random_programs import lowered

LAYERS = 5
TEXT = "model_input x[12]; iterator i[0:12]; iterator j[0:12];" + "".join(
    f"model w{n}[12][12], b{n}[12];"
    f"s{n}[j] = sum[i](w{n}[j][i] * {f'h{n - 1}[i]' if n else 'x[i]'}) + b{n}[j];"
    f"t{n}[j] = s{n}[j] * s{n}[j]; h{n}[j] = t{n}[j] - s{n}[j];"
    for n in range(LAYERS)
)


def both(graph: Graph, pes: int, *, overlap: bool = True) -> tuple[Schedule, Schedule]:
    """The schedules of one mapping, without and with shared addresses, however few words a memory has."""
    template = replace(template_for(pes), samples_overlap=overlap)
    mapping = best_mapping(graph, legal_graph(graph, template, Q6_10), template, Q6_10, EFFORTS[0])
    made = []
    for least in (1 << 30, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build, "block_words", lambda width, least=least: least)
            schedule = schedule_mapping(graph, mapping, Q6_10)
        assert schedule is not None
        made.append(schedule)
    return made[0], made[1]


@pytest.fixture(scope="module", params=[4, 16])
def schedules(request: pytest.FixtureRequest) -> tuple[Schedule, Schedule]:
    # Where samples overlap, lifetimes do, too, and fewer places share addresses.
    return both(shaped_graph(TEXT), request.param, overlap=False)


def words(schedule: Schedule) -> int:
    depths = schedule.layout.depths
    return depths.interim + depths.model + depths.root_memory


def test_layers_share_addresses_and_nothing_moves_in_time(schedules: tuple[Schedule, Schedule]) -> None:
    apart, shared = schedules
    assert apart.layout.lifetimes == {} and len(shared.layout.lifetimes) > LAYERS
    assert words(shared) < words(apart)
    assert (shared.cycles, shared.latency) == (apart.cycles, apart.latency)
    starts = [[(s.unit, s.start, s.counts, s.interval) for s in each.strands] for each in schedules]
    assert starts[0] == starts[1]
    check(shared)
    agree_on(shared)


def test_places_that_are_loaded_streamed_or_updated_share_nothing(schedules: tuple[Schedule, Schedule]) -> None:
    _, shared = schedules
    roles = {shared.mapped.tensors[tensor].role for tensor, _ in shared.layout.lifetimes}
    assert roles.isdisjoint({"input", "label", "model", "constant"})


def test_small_memories_stay_as_they_are() -> None:
    template = template_for(4)
    graph = shaped_graph(TEXT)
    mapping = best_mapping(graph, legal_graph(graph, template, Q6_10), template, Q6_10, EFFORTS[0])
    schedule = schedule_mapping(graph, mapping, Q6_10)
    assert schedule is not None and not schedule.layout.lifetimes


def need(written: Span, read: Span, first: Sequence[int], last: Sequence[int]) -> Need:
    """A place of as many words as there are first cycles."""
    return Need(lifetime=Lifetime(written=written, read=read), first=np.array(first), last=np.array(last))


def at_once(span: Span, words: int) -> Need:
    """A place of which every word is written in the first cycle of a span and read in the last one."""
    first, last = span
    return need((first, first), (last, last), [first] * words, [last] * words)


def share_a_base(layout: Layout, needs: dict[Key, Need], interval: int) -> bool:
    """Whether two places get the same base address."""
    places = allocated(layout, Relations(needs, interval)).places
    return len({places[key].base for key in needs}) == 1


def two_places(layout: Layout, shared: Layout) -> tuple[Key, Key]:
    """Two places of one memory that have as many words."""
    first, second = sorted(shared.lifetimes, key=lambda key: layout.places[key].banks)[:2]
    assert layout.places[first].banks == layout.places[second].banks
    assert layout.places[first].words == layout.places[second].words
    return first, second


@pytest.mark.parametrize(
    ("one", "other", "interval", "together"),
    [
        ((0, 10), (11, 49), 50, True),
        ((11, 49), (0, 10), 50, True),
        ((0, 10), (11, 50), 50, False),  # the next sample would write the first place in cycle 50
        ((0, 10), (11, 50), 51, True),
        ((0, 10), (10, 49), 50, False),  # a word is not replaced in the cycle in which it is read
        ((100, 110), (140, 149), 50, True),
        ((100, 110), (140, 150), 50, False),
        ((100, 110), (200, 210), 50, False),  # the sample after the next one would begin between the two
    ],
)
def test_which_lifetimes_share_addresses(
    schedules: tuple[Schedule, Schedule], one: Span, other: Span, interval: int, together: bool
) -> None:
    layout = schedules[0].layout
    first, second = two_places(layout, schedules[1].layout)
    words = layout.places[first].words
    needs = {first: at_once(one, words), second: at_once(other, words)}
    assert share_a_base(layout, needs, interval) == together


@pytest.mark.parametrize(
    ("later", "read", "interval", "together"),
    [
        (1, (51, 90), 91, True),
        (0, (51, 90), 91, False),  # a word is not replaced in the cycle in which it is read
        (1, (30, 90), 91, False),  # reads mix: their cycles do not say which place is meant
        (1, (51, 90), 90, False),  # the next sample would write the first place before the second one is read
    ],
)
def test_which_statements_work_in_place(
    schedules: tuple[Schedule, Schedule], later: int, read: Span, interval: int, together: bool
) -> None:
    """One place is read word by word from cycle 30 on. Each word of the other is written `later` cycles after that."""
    layout = schedules[0].layout
    first, second = two_places(layout, schedules[1].layout)
    words = layout.places[first].words
    turns = np.arange(words)
    made = need((0, words - 1), (30, 29 + words), turns, 30 + turns)
    making = need((30 + later, 29 + later + words), read, 30 + later + turns, [read[1]] * words)
    assert 30 + words + later < 51
    assert share_a_base(layout, {first: made, second: making}, interval) == together


def test_rows_that_are_done_make_room() -> None:
    """A place whose words take those of another one too early by two words begins two words before it."""
    turns, shifted = np.arange(8), 2
    made = need((0, 7), (30, 37), turns, 30 + turns)
    making = need((31 - shifted, 38 - shifted), (60, 90), 31 - shifted + turns, [90] * 8)
    assert made.apart(making, -shifted, 100) and not made.apart(making, 1 - shifted, 100)
    assert making.apart(made, shifted, 100) and not making.apart(made, shifted - 1, 100)


# ---- an independent witness: who wrote the word that is read, over several samples


def accesses(schedule: Schedule) -> Iterator[tuple[int, str, str, int]]:
    """Every touch of a sample, in the order of the strands: cycle, whether it reads or writes, memory and address."""
    for strand in schedule.strands:
        for slot, operation in enumerate(strand.body):
            for kind, ports in (("read", reading_generators), ("write", writing_generators)):
                for generator, memory in ports(strand.unit, operation):
                    values = strand.values(operation.addresses[generator])
                    for cycle, at in zip(strand.cycles(slot).tolist(), values.tolist(), strict=True):
                        yield cycle, kind, memory, at


def read_from(apart: Schedule, shared: Schedule, spacing: int) -> None:
    """Assert that each read of three samples `spacing` cycles apart finds the word that the same sample wrote last.

    Without shared addresses each address is a word of one place, so it names the word.
    """
    events = []
    for (cycle, kind, memory, word), (again, _, _, at) in zip(accesses(apart), accesses(shared), strict=True):
        assert cycle == again
        # A read in a cycle comes before a write in that cycle.
        events += [(n * spacing + cycle, kind == "write", memory, at, word, n) for n in range(3)]
    written = {(memory, word) for _, writes, memory, _, word, _ in events if writes}
    held: dict[tuple[str, int], tuple[int, int]] = {}
    for _, writes, memory, at, word, sample in sorted(events):
        if writes:
            held[(memory, at)] = (word, sample)
        elif (memory, word) in written and memory != "data":
            assert held[(memory, at)] == (word, sample)


@pytest.mark.parametrize("later", [0, 1, 7, 1000])
def test_each_read_finds_the_word_of_its_sample(schedules: tuple[Schedule, Schedule], later: int) -> None:
    apart, shared = schedules
    read_from(apart, shared, shared.initiation_interval + later)


@draws(12, 40)
@given(text=programs(learns=False), pes=st.sampled_from([1, 3, 4, 8]))
def test_random_programs_with_shared_addresses(text: str, pes: int) -> None:
    apart, shared = both(lowered(text, Q6_10), pes)
    check(shared)
    agree_on(shared)
    assert words(shared) <= words(apart)
    read_from(apart, shared, shared.initiation_interval)


# ---- planted faults


def neighbours(schedule: Schedule) -> Iterator[tuple[Key, Key]]:
    """Pairs of places with a lifetime that have an address of a memory in common."""
    places = schedule.layout.places
    for one, other in combinations(sorted(schedule.layout.lifetimes), 2):
        same = one[1].kind == "root" if other[1].kind == "root" else one[1].kind != "root"
        first, second = sorted((places[one], places[other]), key=lambda place: place.base)
        if same and set(first.banks) & set(second.banks) and second.base < first.base + first.words:
            yield one, other


def test_some_places_have_the_same_addresses(schedules: tuple[Schedule, Schedule]) -> None:
    assert len(list(neighbours(schedules[1]))) > 3


def refused(schedule: Schedule, **changes: object) -> None:
    with pytest.raises(ScheduleFault):
        check(replace(schedule, layout=replace(schedule.layout, **changes)))


def test_without_their_lifetimes_places_share_words(schedules: tuple[Schedule, Schedule]) -> None:
    refused(schedules[1], lifetimes={})


def test_a_lifetime_that_is_too_short_is_refused(schedules: tuple[Schedule, Schedule]) -> None:
    lifetimes = schedules[1].layout.lifetimes
    for key, lifetime in lifetimes.items():
        for kind, span in (("written", lifetime.written), ("read", lifetime.read)):
            assert span is not None
            for shorter in ((span[0] + 1, span[1]), (span[0], span[1] - 1)):
                refused(schedules[1], lifetimes={**lifetimes, key: replace(lifetime, **{kind: shorter})})


def test_lifetimes_that_mix_are_refused(schedules: tuple[Schedule, Schedule]) -> None:
    lifetimes = schedules[1].layout.lifetimes
    for one, other in neighbours(schedules[1]):
        for kind in ("written", "read"):
            spans = [getattr(lifetimes[key], kind) for key in (one, other)]
            (first, early), (late, last) = sorted(spans)
            assert early < late
            longer = (first, late) if spans[0] == (first, early) else (early, last)
            refused(schedules[1], lifetimes={**lifetimes, one: replace(lifetimes[one], **{kind: longer})})


def test_an_address_of_a_place_that_is_alive_is_refused(schedules: tuple[Schedule, Schedule]) -> None:
    """Each tensor is moved, in the layout and in all strands, onto the words of another one, or some words beside them.
    The check refuses that wherever a read would find a word that is not its own: where accesses mix, and where they do
    not.
    """
    apart, shared = schedules
    refusals: Counter[str] = Counter()
    for one, other in permutations(sorted(shared.layout.lifetimes), 2):
        places = shared.layout.places
        if places[one].banks != places[other].banks or one[1].kind != other[1].kind:
            continue
        for base in range(max(0, places[other].base - 2), places[other].base + 3):
            moved = with_place_at(apart, shared, one, base)
            try:
                read_from(apart, moved, moved.initiation_interval)
            except AssertionError:
                with pytest.raises(ScheduleFault, match="share words of") as refusal:
                    check(moved)
                refusals[str(refusal.value).rpartition(", which ")[2]] += 1
    assert refusals["both need at a time"] > 3 and len(refusals) > 1


def with_place_at(apart: Schedule, shared: Schedule, key: Key, base: int) -> Schedule:
    """A schedule with a place at another base address, in the layout and in all strands."""
    places = shared.layout.places
    layout = replace(shared.layout, places={**places, key: replace(places[key], base=base)})
    placed = build.with_addresses_of(apart.placed, apart.layout, layout)
    strands = tuple(sorted((s for p in placed for s in p.strands()), key=lambda s: (s.unit, s.start)))
    return replace(shared, layout=layout, strands=strands, placed=tuple(placed))


def in_place(schedule: Schedule) -> Iterator[tuple[Key, Key]]:
    """Pairs of places with an address in common of which the second begins before the first one ends."""
    lifetimes = schedule.layout.lifetimes
    for pair in neighbours(schedule):
        one, other = sorted(pair, key=lambda key: lifetimes[key].span)
        if lifetimes[other].span[0] <= lifetimes[one].span[1]:
            yield one, other


def test_statements_work_in_place(schedules: tuple[Schedule, Schedule]) -> None:
    assert len(list(in_place(schedules[1]))) >= 2


def test_samples_that_begin_too_early_are_refused(schedules: tuple[Schedule, Schedule]) -> None:
    """With words that are needed for more than the interval, the words of one sample would reach into the next."""
    shared, longest = schedules[1], 0
    touched: dict[tuple[str, int], list[int]] = {}
    for cycle, _, memory, at in accesses(shared):
        touched.setdefault((memory, at), []).append(cycle)
    for pair in neighbours(shared):
        one, other = (shared.layout.places[key] for key in pair)
        bank = f"root {one.banks[0]}" if one.spot.kind == "root" else one.banks[0]
        for at in range(max(one.base, other.base), min(one.base + one.words, other.base + other.words)):
            cycles = touched[bank, at]
            longest = max(longest, max(cycles) - min(cycles))
    assert 0 < longest < shared.initiation_interval
    with pytest.raises(ScheduleFault):
        check(replace(shared, initiation_interval=longest))
    with pytest.raises(ScheduleFault, match="and the next sample needs them too early"):
        check_times(replace(shared, initiation_interval=longest))


def test_what_is_loaded_shares_nothing(schedules: tuple[Schedule, Schedule]) -> None:
    """A bias is read once in a sample, but the next sample reads it again: no tensor may take its addresses."""
    apart, shared = schedules
    places, planted = shared.layout.places, 0
    loaded = [key for key in places if shared.mapped.tensors[key[0]].role == "model"]
    # A bias may lie in two memories of a lane, of which one is read.
    banks = [(key, bank) for key in loaded for bank in places[key].banks]
    for key, bank in banks:
        region, memory = places[key], f"root {bank}" if key[1].kind == "root" else bank
        read = [
            cycle
            for cycle, _, where, at in accesses(shared)
            if where == memory and region.base <= at < region.base + region.words
        ]
        for other, lifetime in shared.layout.lifetimes.items() if read else ():
            first, last = lifetime.span
            alone = last < min(read) or max(read) < first
            if places[other].banks == (bank,) and other[1].kind == key[1].kind and alone:
                planted += 1
                moved = with_place_at(apart, shared, other, region.base)
                read_too = {key: Lifetime(written=(0, 0), read=(min(read), max(read)))}
                layout = replace(moved.layout, lifetimes={**moved.layout.lifetimes, **read_too})
                with pytest.raises(ScheduleFault, match="share words of"):
                    check(replace(moved, layout=layout))
    assert planted > 0


def test_the_text_of_a_layout_has_the_lifetimes(schedules: tuple[Schedule, Schedule]) -> None:
    key, lifetime = min(schedules[1].layout.lifetimes.items(), key=lambda item: item[0])
    first, last = lifetime.span
    line = next(line for line in schedules[1].layout.text().splitlines() if line.startswith(f"{key[0]} "))
    assert line.endswith(f", cycles {first} to {last}")
    assert np.all([", cycles" not in line for line in schedules[0].layout.text().splitlines()])
