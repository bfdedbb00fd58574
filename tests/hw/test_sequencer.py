"""Strands, loops, generators and tokens against a naive nested-loop interpreter."""

import itertools
from dataclasses import dataclass
from math import prod
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabla.hw.sequencer import Sequencer
from tabla.hw.tokens import TokenDelay
from tabla.hw.window import Window
from tabla.program.image import Parameters
from tabla.program.layout import generator_width
from tests.hw.bench import every_feature, played
from tests.sim.hand_assembler import Nest, Op, operation_word, parameters, strand_word

UNIT = "lane_issue"
GENERATORS = ("model", "data", "interim", "low", "high")
SETUP = 12
"""Cycles between the restart and the first token."""


@dataclass(frozen=True, kw_only=True)
class Issue:
    """What an operation shows, its fields in cycle `cycle` and its generators' values two cycles later."""

    cycle: int
    number: int
    first: bool
    last: bool
    open: bool
    values: dict[str, int]


def wrapped(value: int, bits: int, *, signed: bool) -> int:
    value &= (1 << bits) - 1
    return value - (value >> (bits - 1) << bits) if signed else value


def interpreted(nests: list[Nest], token: int, offset: int, build: Parameters) -> list[Issue]:
    """The law in plain loops: one sample whose token comes in cycle `token`."""
    found = []
    for nest in nests:
        issue = nest.start
        for counters in itertools.product(*(range(c) for c in reversed(nest.counts))):
            inner = counters[::-1]
            for operation in nest.body:
                values = {}
                for name in GENERATORS:
                    base, *strides = operation.generators[name]
                    value = base + sum(s * c for s, c in zip(strides, inner, strict=False))
                    value += offset if name in operation.windows else 0
                    bits = generator_width(UNIT, name, build)
                    values[name] = wrapped(value, bits, signed=False)
                gate = operation.fields["gate"]
                found.append(
                    Issue(
                        cycle=token + Sequencer.FIELDS + issue,
                        number=operation.fields["emit"] | operation.fields["shift"] << 1,
                        first=not any(inner[: nest.reduce]),
                        last=all(c == n - 1 for c, n in zip(inner[: nest.reduce], nest.counts, strict=False)),
                        open=not any(inner[:gate]),
                        values=values,
                    )
                )
                issue += nest.interval
    return found


@st.composite
def programs(draw: st.DrawFn) -> tuple[Parameters, list[Nest]]:
    levels, body = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    # Programs that are at hand, and such that are fetched ahead; with and without intervals.
    depth, paced = draw(st.sampled_from([4, 16, 32])), draw(st.booleans())
    build = parameters(4, levels=levels, body=body, strand_depth={UNIT: depth}, interval_bits=5 if paced else 1)
    nests, start = [], 0
    for _ in range(draw(st.integers(1, 4))):
        counts = draw(st.lists(st.integers(1, 3), max_size=levels))
        small = st.integers(-20, 20)
        operations = [
            Op(
                fields={
                    "gate": draw(st.integers(0, len(counts))),
                    "emit": draw(st.integers(0, 1)),
                    "shift": draw(st.integers(0, 3)),
                },
                generators={
                    name: tuple(draw(st.lists(small, min_size=1 + len(counts), max_size=1 + len(counts))))
                    for name in GENERATORS
                },
                windows=draw(st.lists(st.sampled_from(GENERATORS), unique=True)),
            )
            for _ in range(draw(st.integers(1, body)))
        ]
        nest = Nest(
            start=start,
            interval=draw(st.integers(1, 4)) if paced else 1,
            counts=counts,
            reduce=draw(st.integers(0, len(counts))),
            body=operations,
        )
        nests.append(nest)
        # Most strands follow the last operation of the one before without a gap, whatever its interval.
        start += taken(nest) + draw(st.sampled_from([0, 0, 1, 2, 7]))
    return build, nests


def taken(nest: Nest) -> int:
    """Cycles from the first operation to the first free one."""
    return (len(nest.body) * prod(nest.counts) - 1) * nest.interval + 1


class Probe(Sequencer):
    """A sequencer for all that `lane_issue` can say."""

    def __init__(self, build: Parameters, nests: list[Nest]) -> None:
        strands, operations = [], []
        for nest in nests:
            strands.append(strand_word(UNIT, nest, len(operations), build))
            operations += [operation_word(UNIT, o, nest.counts, build) for o in nest.body]
        super().__init__(
            unit=UNIT, parameters=build, features=every_feature(UNIT), strands=strands, operations=operations
        )


def number(instruction: int) -> int:
    """`emit` and `shift` of an instruction: enough to tell operations apart."""
    return (instruction >> 17 & 1) | (instruction >> 12 & 3) << 1


@given(programs(), st.lists(st.integers(0, 12), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_programs_run_as_nested_loops_sample_after_sample(
    program: tuple[Parameters, list[Nest]], waits: list[int]
) -> None:
    build, nests = program
    period = nests[-1].start + taken(nests[-1])
    tokens = list(itertools.accumulate((period + w for w in waits), initial=SETUP))
    wanted = [issue for n, token in enumerate(tokens) for issue in interpreted(nests, token, offset=3 * n, build=build)]
    end = tokens[-1] + period + 20
    inputs: list[dict[str, Any]] = [{"restart": 0, "token": int(c in tokens)} for c in range(end)]
    inputs[0] |= {"restart": 1, "enable": 1, "first_strand": 0, "last_strand": len(nests) - 1}
    # The offset of sample n stands from the cycle after its turn on.
    changes = [token + Sequencer.FIELDS + 1 for token in tokens]
    for cycle in range(end):
        inputs[cycle]["offset"] = 3 * max(0, sum(c <= cycle for c in changes) - 1)
    seen = played(Probe(build, nests), inputs)
    assert [c for c, s in enumerate(seen) if s["turn"]] == [t + Sequencer.FIELDS for t in tokens]
    assert [c for c, s in enumerate(seen) if s["valid"]] == [issue.cycle for issue in wanted]
    later = Sequencer.VALUES - Sequencer.FIELDS
    for issue in wanted:
        shown = seen[issue.cycle]
        assert (number(shown["instruction"]), shown["first"], shown["last"], shown["open"]) == (
            issue.number,
            issue.first,
            issue.last,
            issue.open,
        ), issue
        then = seen[issue.cycle + later]
        assert {name: then[f"values.{name}"] for name in GENERATORS} == issue.values, issue


@pytest.mark.parametrize("depth", [1, 2, 16, 32])
def test_a_program_can_be_written(depth: int) -> None:
    """Strand by strand and word by word, while the sequencer is enabled and has prepared what was there before."""
    build = parameters(2, strand_depth={UNIT: depth})

    def program(step: int, start: int) -> list[Nest]:
        body = [Op(fields={"gate": 0, "emit": 1, "shift": 0}, generators={name: (1, step) for name in GENERATORS})]
        return [Nest(counts=(3,), body=body), Nest(start=start, counts=(2,), body=body)][:depth]

    before, after = program(1, 9), program(2, 7)
    still = dict.fromkeys(("restart", "token", "strand_write", "operation_write"), 0)
    inputs: list[dict[str, Any]] = [{**still, "enable": 1, "last_strand": len(after) - 1} for _ in range(90)]
    for number, nest in enumerate(after):
        words = {
            "strand": strand_word(UNIT, nest, number, build),
            "operation": operation_word(UNIT, nest.body[0], nest.counts, build),
        }
        for place, (memory, word) in enumerate(words.items()):
            inputs[20 + 2 * number + place] |= {f"{memory}_write": 1, "write_address": number, "write_data": word}
    for begin in (0, 40):
        inputs[begin]["restart"] = 1
    inputs[40 + SETUP]["token"] = 1
    seen = played(Probe(build, before), inputs)
    wanted = interpreted(after, 40 + SETUP, 0, build)
    assert [c for c, s in enumerate(seen) if s["valid"]] == [issue.cycle for issue in wanted]
    for issue in wanted:
        then = seen[issue.cycle + Sequencer.VALUES - Sequencer.FIELDS]
        assert {name: then[f"values.{name}"] for name in GENERATORS} == issue.values, issue


def test_a_restart_in_the_middle_leaves_nothing_behind() -> None:
    build = parameters(2)
    body = [Op(fields={"gate": 0, "emit": 1, "shift": 0}, generators={name: (1, 1) for name in GENERATORS})]
    nests = [Nest(counts=(9,), body=body), Nest(start=20, counts=(3,), body=body)]
    for restart in range(14, 40, 3):
        again = restart + SETUP
        inputs: list[dict[str, Any]] = [
            {"restart": int(c == restart), "token": int(c in (12, again))} for c in range(again + 40)
        ]
        inputs[0] |= {"restart": 1, "enable": 1, "last_strand": 1}
        seen = played(Probe(build, nests), inputs)
        shown = [c for c, s in enumerate(seen) if s["valid"] and c > restart]
        assert shown == [issue.cycle for issue in interpreted(nests, again, 0, build)], restart


@given(
    st.tuples(st.integers(0, 100), st.integers(0, 100)),
    st.integers(1, 15),
    st.lists(st.integers(0, 20), min_size=1, max_size=30),
    st.integers(0, 1),
)
@settings(max_examples=40, deadline=None)
def test_tokens_are_only_delayed_however_many_are_on_the_way(
    delays: tuple[int, int], period: int, waits: list[int], dump: int
) -> None:
    sent = list(itertools.accumulate((period + w for w in waits), initial=3))
    end = sent[-1] + max(delays) + 8
    inputs = [{"token": int(c in sent), "dump": dump} for c in range(end)]
    seen = played(TokenDelay(delays=delays, periods=(period, period)), inputs)
    assert [c for c, s in enumerate(seen) if s["delayed"]] == [t + TokenDelay.LATENCY + delays[dump] for t in sent]


@given(
    st.tuples(st.integers(0, 90), st.integers(0, 90)),
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(0, 60), st.booleans()), min_size=1, max_size=8),
)
@settings(max_examples=30, deadline=None)
def test_a_bit_comes_out_with_its_token(delays: tuple[int, int], period: int, tokens: list[tuple[int, bool]]) -> None:
    sent = list(itertools.accumulate((period + wait for wait, _ in tokens), initial=3))[:-1]
    live = {cycle: bit for cycle, (_, bit) in zip(sent, tokens, strict=True)}
    inputs = [
        {"token": int(c in sent), "live": int(live.get(c, 1)), "dump": 0} for c in range(sent[-1] + delays[0] + 8)
    ]
    seen = played(TokenDelay(delays=delays, periods=(period, period), overlapping=True), inputs)
    assert [bool(s["delayed_live"]) for s in seen if s["delayed"]] == [bit for _, bit in tokens]


def test_windows_of_earlier_samples_stay_while_later_ones_begin() -> None:
    turns = [1, 1, 0, 1, 1, 0, 0, 1]
    inputs = [{"restart": 1, "turn": 0, "live": 0, "stage": 0}]
    for live in turns:
        inputs.append({"restart": 0, "turn": 1, "live": live, "stage": 0})
        inputs += [{"restart": 0, "turn": 0, "live": 0, "stage": stage} for stage in range(3)]
    seen = played(Window(width=8, words=5, slots=3, stages=3), inputs, more=1)
    slots: list[int | None] = [None, None]
    begun = 0
    for n, live in enumerate(turns):
        slots.append(5 * (begun % 3) if live else None)
        begun += live
        # The three cycles after a turn ask for the offsets of its sample and of the two before it.
        asked = [s["offset"] for s in seen[2 + 4 * n : 5 + 4 * n]]
        wanted = slots[-1:-4:-1]
        assert [a for a, w in zip(asked, wanted, strict=True) if w is not None] == [w for w in wanted if w is not None]


def test_windows_go_round_the_ring_and_straight_in_a_dump() -> None:
    for dump, wanted in ((0, [0, 5, 10, 0, 5, 10, 0]), (1, [0, 1, 2, 3, 4, 5, 6])):
        inputs = [{"restart": 1, "turn": 0, "dump": dump}] + [{"restart": 0, "turn": 1}] * 7
        seen = played(Window(width=8, words=5, slots=3), inputs, more=1)
        assert [s["offset"] for s in seen[2:9]] == wanted
