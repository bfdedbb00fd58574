"""The controller's borders against the recurrence of decision 3.7, written out once more here."""

from dataclasses import dataclass, field, replace
from typing import Any

from amaranth.back import rtlil
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.hw.controller import DUMP, LOAD, RUN, Controller
from tabla.hw.timing import Timing
from tabla.program.image import Entry, Image, StreamEntry
from tabla.templates.template import timing
from tests.sim.hand_assembler import assemble, parameters

READY, FRONT = timing().ready, timing().front
CREDIT = 2


@dataclass
class Seen:
    """Cycles of the borders' events since the command was taken."""

    beats: list[int] = field(default_factory=list)
    firsts: list[bool] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    idle: int = 0
    empty: list[int] = field(default_factory=list)
    """The tokens of no sample."""


def observed(
    image: Image,
    code: int,
    count: int,
    offers: list[bool],
    leaves: list[int],
    end: int,
    *,
    stop: int | None = None,
    part: Controller | None = None,
) -> Seen:
    """Play one command: a beat is offered in the cycles that `offers` says; words leave the output in `leaves`. From
    cycle `stop` on samples that have not begun are struck. `part` is the controller if it is not to be a plain one.
    """
    controller = part or Controller(parameters=image.parameters, timing=Timing.of(image))
    seen = Seen()

    async def bench(context: Any) -> None:
        context.set(controller.command_code, code)
        context.set(controller.command_count, count)
        context.set(controller.command_valid, 1)
        context.set(controller.prepared, 3)
        assert context.get(controller.command_ready)
        await context.tick()
        context.set(controller.command_valid, 0)
        for cycle in range(1, end):
            takes = bool(context.get(controller.in_ready)) and offers[cycle % len(offers)]
            if takes:
                seen.beats.append(cycle)
                seen.firsts.append(bool(context.get(controller.begins)))
            context.set(controller.taken, int(takes))
            context.set(controller.output_taken, int(cycle in leaves))
            if stop is not None:
                context.set(controller.stop, int(cycle >= stop))
            assert context.get(controller.restart) == (cycle == 1)
            if context.get(controller.token):
                live = image.parameters.stages == 1 or context.get(controller.live)
                (seen.tokens if live else seen.empty).append(cycle)
            if context.get(controller.command_ready) and not seen.idle:
                seen.idle = cycle
            await context.tick()

    simulator = Simulator(controller)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def expected(image: Image, samples: int, beats: int, offers: list[bool], leaves: list[int]) -> Seen:
    """The recurrence: when beats are taken and tokens fire."""
    seen, run = Seen(), image.run
    cycle = FRONT
    for sample in range(samples):
        earliest = FRONT + 1 if not seen.tokens else seen.tokens[-1] + run.period
        for beat in range(beats):
            cycle += 1
            if beat == 0 and sample >= image.parameters.ring_slots:
                cycle = max(cycle, seen.tokens[sample - image.parameters.ring_slots] + image.release + 1)
            while not offers[cycle % len(offers)]:
                cycle += 1
            seen.beats.append(cycle)
            seen.firsts.append(beat == 0)
        if beats:
            earliest = max(earliest, cycle + READY)
        while True:
            # All words that samples before this one put out, less those that have left, plus its own.
            inside = (sample + 1) * run.outputs - sum(leave + CREDIT <= earliest for leave in leaves)
            if inside <= image.parameters.output_depth:
                break
            earliest += 1
        if seen.tokens:
            # While samples are under way there is a token in each period, and a sample can only begin with one of them.
            periods = -(-(earliest - seen.tokens[-1]) // run.period)
            if periods <= image.parameters.stages:
                earliest = seen.tokens[-1] + periods * run.period
            others = range(1, min(periods, image.parameters.stages))
            seen.empty += [seen.tokens[-1] + n * run.period for n in others]
        seen.tokens.append(earliest)
    if seen.tokens:
        seen.empty += [seen.tokens[-1] + n * run.period for n in range(1, image.parameters.stages)]
    # A run of no samples is over as soon as it begins.
    seen.idle = seen.tokens[-1] + run.drain + FRONT if samples else FRONT + 1
    return seen


def image_with(*, beats: int, slots: int, depth: int, entry: Entry, release: int) -> Image:
    plain = assemble(parameters(2, ring_slots=slots, output_depth=depth), {}, period=1)
    return replace(
        plain,
        run=entry,
        dump=replace(entry, period=entry.period + 2),
        stream_run=StreamEntry(begin=0, strands=1, beats=beats),
        stream_load=StreamEntry(begin=0, strands=1, beats=beats + 1),
        release=release,
    )


def entry_with(*, period: int, outputs: int, drain: int) -> Entry:
    none = dict.fromkeys(("lane_issue", "lane_write", "root_issue", "root_write"), 0)
    return Entry(period=period, skew=none, begin=none, strands=none, outputs=outputs, drain=drain)


@given(
    beats=st.integers(0, 4),
    slots=st.integers(2, 4),
    period=st.integers(1, 12),
    release=st.integers(3, 40),
    samples=st.integers(0, 9),
    offers=st.lists(st.booleans(), min_size=1, max_size=12).filter(any),
)
@settings(max_examples=60, deadline=None)
def test_a_run_keeps_the_recurrence(
    beats: int, slots: int, period: int, release: int, samples: int, offers: list[bool]
) -> None:
    entry = entry_with(period=period, outputs=0, drain=17)
    image = image_with(beats=beats, slots=slots, depth=1, entry=entry, release=release)
    wanted = expected(image, samples, beats, offers, [])
    assert observed(image, RUN, samples, offers, [], wanted.idle + 5) == wanted


@given(
    beats=st.integers(0, 4),
    slots=st.integers(2, 4),
    period=st.integers(2, 12),
    stages=st.integers(2, 5),
    release=st.integers(3, 40),
    samples=st.integers(0, 9),
    offers=st.lists(st.booleans(), min_size=1, max_size=40).filter(any),
)
@settings(max_examples=60, deadline=None)
def test_a_run_in_which_samples_overlap_keeps_to_its_periods(
    beats: int, slots: int, period: int, stages: int, release: int, samples: int, offers: list[bool]
) -> None:
    # A sample is under way for as many periods as there are stages, so the drain is no shorter.
    entry = entry_with(period=period, outputs=0, drain=17 + stages * period)
    plain = image_with(beats=beats, slots=slots, depth=1, entry=entry, release=release)
    image = replace(plain, parameters=replace(plain.parameters, stages=stages))
    wanted = expected(image, samples, beats, offers, [])
    assert observed(image, RUN, samples, offers, [], wanted.idle + 5) == wanted


@given(
    outputs=st.integers(1, 4),
    extra=st.integers(0, 5),
    samples=st.integers(1, 6),
    waits=st.lists(st.integers(0, 6), min_size=24, max_size=24),
)
@settings(max_examples=40, deadline=None)
def test_tokens_wait_for_credit(outputs: int, extra: int, samples: int, waits: list[int]) -> None:
    entry = entry_with(period=3, outputs=outputs, drain=0)
    image = image_with(beats=0, slots=2, depth=outputs + extra, entry=entry, release=20)
    # Words may leave at any time after the first token's; the recurrence gives the earliest tokens for them.
    leaves: list[int] = []
    cycle = FRONT + 5
    for wait in waits[: samples * outputs]:
        cycle += 1 + wait
        leaves.append(cycle)
    wanted = expected(image, samples, 0, [True], leaves)
    # A word cannot leave before its token: push such words behind it, and look again.
    for _ in range(samples * outputs):
        for n in range(len(leaves)):
            leaves[n] = max(leaves[n], wanted.tokens[n // outputs] + 1, leaves[n - 1] + 1 if n else 0)
        wanted = expected(image, samples, 0, [True], leaves)
    seen = observed(image, RUN, samples, [True], leaves, wanted.idle + 5)
    assert seen.tokens == wanted.tokens


@given(beats=st.integers(1, 5), offers=st.lists(st.booleans(), min_size=1, max_size=9).filter(any))
@settings(max_examples=20, deadline=None)
def test_a_load_takes_its_beats_once_and_fires_nothing(beats: int, offers: list[bool]) -> None:
    image = image_with(beats=beats, slots=2, depth=1, entry=entry_with(period=9, outputs=1, drain=9), release=20)
    seen = observed(image, LOAD, 77, offers, [], 200)
    free = (c for c in range(FRONT + 1, 200) if offers[c % len(offers)])
    assert seen.beats == [next(free) for _ in range(beats + 1)]
    assert seen.firsts == [True] + [False] * beats
    assert not seen.tokens
    assert seen.idle == seen.beats[-1] + FRONT


def test_a_dump_fires_count_tokens_a_period_apart_and_takes_nothing() -> None:
    image = image_with(beats=3, slots=2, depth=50, entry=entry_with(period=9, outputs=1, drain=4), release=20)
    seen = observed(image, DUMP, 5, [True], [], 200)
    assert seen.tokens == [FRONT + 1 + 11 * n for n in range(5)]
    assert not seen.beats
    assert seen.idle == seen.tokens[-1] + 4 + FRONT


@given(
    beats=st.integers(1, 4),
    slots=st.integers(2, 4),
    period=st.integers(1, 12),
    before=st.integers(0, 6),
    more=st.integers(1, 9),
    offers=st.lists(st.booleans(), min_size=1, max_size=12).filter(any),
)
@settings(max_examples=40, deadline=None)
def test_a_run_that_is_stopped_between_two_samples_ends_as_one_of_fewer(
    beats: int, slots: int, period: int, before: int, more: int, offers: list[bool]
) -> None:
    """The samples that have come whole have their tokens in their cycles, and no beat of another one is taken."""
    image = image_with(
        beats=beats, slots=slots, depth=1, entry=entry_with(period=period, outputs=0, drain=17), release=20
    )
    wanted = expected(image, before, beats, offers, [])
    # The stop comes in the cycle behind a sample's last beat, or before the first one.
    stop = wanted.beats[-1] + 1 if before else FRONT
    part = Controller(parameters=image.parameters, timing=Timing.of(image), stoppable=True)
    end = max(wanted.idle, stop) + 40
    seen = observed(image, RUN, before + more, lasting(offers, wanted.beats), [], end, stop=stop, part=part)
    assert (seen.beats, seen.firsts, seen.tokens) == (wanted.beats, wanted.firsts, wanted.tokens)
    assert seen.idle and seen.idle <= end - 20


def lasting(offers: list[bool], beats: list[int]) -> list[bool]:
    """The offers of a host that has nothing more to give before it stops: those up to the last beat, then some later
    ones, which nobody may take.
    """
    last = beats[-1] if beats else FRONT
    return [offers[cycle % len(offers)] if cycle <= last else cycle > last + 4 for cycle in range(400)]


@given(offers=st.lists(st.booleans(), min_size=1, max_size=12).filter(any), samples=st.integers(0, 9))
@settings(max_examples=20, deadline=None)
def test_a_run_that_nobody_stops_keeps_the_recurrence(offers: list[bool], samples: int) -> None:
    image = image_with(beats=2, slots=3, depth=1, entry=entry_with(period=7, outputs=0, drain=17), release=20)
    wanted = expected(image, samples, 2, offers, [])
    part = Controller(parameters=image.parameters, timing=Timing.of(image), stoppable=True)
    assert observed(image, RUN, samples, offers, [], wanted.idle + 5, part=part) == wanted


def test_a_controller_that_cannot_be_stopped_has_nothing_for_it() -> None:
    image = image_with(beats=2, slots=3, depth=1, entry=entry_with(period=7, outputs=0, drain=17), release=20)
    none = replace(image, stream_run=replace(image.stream_run, strands=0, beats=0))
    texts = [rtlil.convert(Controller(parameters=each.parameters, timing=Timing.of(each))) for each in (image, none)]
    assert not any("begun" in text for text in texts)
