"""The checker refuses planted faults: each kind that a scheduler could make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

import pytest

from tabla.base.source import Source
from tabla.build.options import Options
from tabla.driver import build
from tabla.graph.format import Format
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.check.laws import _bus
from tabla.schedule.compile import schedule_graph
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Address, Strand
from tabla.templates.template import template_for, timing
from tests.schedule.agreement import agree
from tests.schedule.kept import kept

Q6_10 = Format(integer=6, fraction=10)
BACKPROP = """
mu = 0.125;
model_input x[20]; model_output y[3]; model w1[12][20], w2[3][12];
gradient g1[12][20] -> w1, g2[3][12] -> w2;
iterator i[0:20]; iterator j[0:12]; iterator k[0:3];
h[j] = sigmoid(sum[i](w1[j][i] * x[i]));
o[k] = sigmoid(sum[j](w2[k][j] * h[j]));
d[k] = (o[k] - y[k]) * o[k] * (1 - o[k]);
b[j] = sum[k](w2[k][j] * d[k]) * h[j] * (1 - h[j]);
g2[k][j] = d[k] * h[j];
g1[j][i] = b[j] * x[i];
"""


@pytest.fixture(scope="module", params=[(8, 1), (16, 4)], ids=["one root", "four roots"])
def schedule(request: pytest.FixtureRequest) -> Schedule:
    pes, roots = request.param

    def make() -> Schedule:
        graph = lower(parse(Source.from_text(BACKPROP)), number_format=Q6_10)
        return schedule_graph(graph, template_for(pes).with_roots(roots), Q6_10)

    made = kept(f"backprop on {pes} PEs", make)
    assert made.template.roots == roots
    check(made)
    return made


@cache
def example() -> Schedule:
    """The network of the examples on 16 PEs."""
    return kept("example", lambda: build("examples/backprop.t", Options(pes=16)).schedule)


def with_strands(schedule: Schedule, strands: Iterable[Strand]) -> Schedule:
    """The schedule with other strands, in whatever order they are."""
    return replace(schedule, strands=tuple(sorted(strands, key=lambda s: (s.unit, s.start))))


def change(schedule: Schedule, which: Callable[[Strand], bool], how: Callable[[Strand], Strand]) -> Schedule:
    """The schedule with the first strand that `which` picks changed."""
    strands = list(schedule.strands)
    position = next(n for n, s in enumerate(strands) if which(s))
    strands[position] = how(strands[position])
    return with_strands(schedule, strands)


def refused(schedule: Schedule) -> str:
    with pytest.raises(ScheduleFault) as fault:
        check(schedule)
    return str(fault.value)


@pytest.mark.parametrize("unit", ["lane_issue", "lane_write", "root_issue", "root_write"])
@pytest.mark.parametrize("step", [-1, 1])
def test_no_strand_may_move_alone(schedule: Schedule, unit: str, step: int) -> None:
    """One cycle early or late: something no longer shows, is not there yet, or is taken."""
    for position, strand in enumerate(schedule.strands):
        if strand.unit == unit and strand.start + step >= 0:
            strands = list(schedule.strands)
            strands[position] = strand.at(strand.start + step)
            refused(with_strands(schedule, strands))


def test_units_overlap(schedule: Schedule) -> None:
    def stretched(strand: Strand) -> Strand:
        return replace(strand, interval=strand.interval + 40)

    assert "before" in refused(change(schedule, lambda s: s.unit == "lane_issue", stretched))


def test_the_block_of_a_beat_for_the_root(schedule: Schedule) -> None:
    """With one root the hardware looks at no block in such a beat, so there is none but 0."""
    strands = schedule.stream_sample
    at = next(n for n, s in enumerate(strands) if s.body[0].field("to_root_data"))
    (beat,) = strands[at].body
    block = replace(beat.addresses["block"], base=1)
    wrong = replace(strands[at], body=(replace(beat, addresses={**beat.addresses, "block": block}),))
    said = refused(replace(schedule, stream_sample=(*strands[:at], wrong, *strands[at + 1 :])))
    assert ("block other than 0" in said) == (schedule.template.roots == 1)


def test_initiation_interval_too_short(schedule: Schedule) -> None:
    refused(replace(schedule, initiation_interval=schedule.initiation_interval - 1))


def test_released_too_early(schedule: Schedule) -> None:
    assert "free" in refused(replace(schedule, release=schedule.release - 1))


def test_wrong_address(schedule: Schedule) -> None:
    def shifted(strand: Strand) -> Strand:
        operation = strand.body[0]
        address = operation.addresses["address"]
        changed = replace(
            operation, addresses={**operation.addresses, "address": replace(address, base=address.base + 1)}
        )
        return replace(strand, body=(changed,))

    refused(change(schedule, lambda s: s.unit == "root_write" and bool(s.body[0].field("to_memory")), shifted))


def test_write_into_the_streams_memory(schedule: Schedule) -> None:
    model = next(p for (t, _), p in schedule.layout.places.items() if t == "x")
    assert model.banks == ("data",)
    place = replace(model, banks=("interim",), base=schedule.depths.interim)
    schedule.layout.places[("x", model.spot)] = place
    try:
        writes = Address(base=place.base, strides=())

        def into(strand: Strand) -> Strand:
            operation = strand.body[0]
            addresses = {**operation.addresses, "address": replace(writes, strides=(0,) * len(strand.counts))}
            return replace(strand, body=(replace(operation, addresses=addresses),))

        refused(change(schedule, lambda s: s.unit == "lane_write" and bool(s.body[0].field("to_interim")), into))
    finally:
        schedule.layout.places[("x", model.spot)] = model


def test_missing_broadcast(schedule: Schedule) -> None:
    def silent(strand: Strand) -> Strand:
        return replace(strand, body=tuple(o.with_fields(to_bus=0) for o in strand.body))

    strands = [silent(s) if s.unit == "root_write" else s for s in schedule.strands]
    assert "arrival" in refused(replace(schedule, strands=tuple(strands)))


def test_missing_function(schedule: Schedule) -> None:
    def silent(strand: Strand) -> Strand:
        return replace(strand, body=tuple(o.with_fields(function=0) for o in strand.body))

    assert "show" in refused(change(schedule, lambda s: any(o.field("function") for o in s.body), silent))


def test_missing_write(schedule: Schedule) -> None:
    """Without its write, a word is read where nothing was written."""
    for position, strand in enumerate(schedule.strands):
        if strand.unit == "lane_write" and not strand.body[0].field("model"):
            rest = (*schedule.strands[:position], *schedule.strands[position + 1 :])
            refused(replace(schedule, strands=rest))


def test_another_ones_result() -> None:
    """The writes of two updates, of as many words, as far apart, change places: each takes what the other made."""
    text = """
    model_input x[8]; model_input y[8]; model v[8]; model w[8]; gradient g[8] -> v; gradient h[8] -> w;
    iterator i[0:8]; g[i] = v[i] * x[i]; h[i] = w[i] * y[i];
    """
    schedule = schedule_graph(lower(parse(Source.from_text(text)), number_format=Q6_10), template_for(4), Q6_10)
    check(schedule)
    strands = list(schedule.strands)
    one, other = (n for n, strand in enumerate(strands) if strand.unit == "lane_write")
    assert strands[one].counts == strands[other].counts
    strands[one], strands[other] = strands[one].at(strands[other].start), strands[other].at(strands[one].start)
    assert "writes v.next[0] where w.next[0] lies, to model" in refused(with_strands(schedule, strands))


def test_exchanged_writes_of_one_statement() -> None:
    """Two writes that are called the same change places: every cycle is right, and two words are not."""
    schedule = example()
    strands = list(schedule.strands)
    one, other = [n for n, s in enumerate(strands) if s.unit == "root_write" and s.comment == "s5 d.t2"][:2]
    first, second = strands[one].body, strands[other].body
    strands[one], strands[other] = replace(strands[one], body=second), replace(strands[other], body=first)
    message = refused(with_strands(schedule, strands))
    assert re.fullmatch(
        r"'s5 d.t2' writes d.t2\[(\d)\] where d.t2\[(?!\1)\d\] lies, to root memory\[\d+\] at cycle \d+", message
    )


@pytest.mark.parametrize("part", [0, 1])
def test_strands_say_whose_they_are(part: int) -> None:
    """The statement by its number, and which part of it; moves and results belong to none."""
    schedule = example()
    for strand in schedule.strands:
        if numbers := re.findall(r"s(\d+) ", strand.comment):
            assert str(strand.owner.statement) in numbers
        if strand.comment.startswith(("move", "result")):
            assert strand.owner.statement == -1
    assert any(strand.owner.part == part for strand in schedule.strands)


def test_names_of_the_machine() -> None:
    """Tensors may be called as its parts are."""
    text = """
    model_input tree[9]; model_input up; model_output memory; model root[9]; gradient interim[9] -> root;
    iterator the[0:9];
    to = sum[the](root[the] * tree[the]); result = to * up; s1 = result - memory; interim[the] = s1 * tree[the];
    """
    graph = lower(parse(Source.from_text(text)), number_format=Q6_10)
    for pes in (1, 4):
        agree(graph, template_for(pes), Q6_10)


def bus_cycles(schedule: Schedule) -> tuple[list[int], list[int]]:
    """The cycles in which words of a sample come to the bus, and those in which lanes take one."""
    laws, words, uses = timing(), list[int](), list[int]()
    for strand in schedule.strands:
        for slot, operation in enumerate(strand.body):
            cycles = strand.cycles(slot).tolist()
            if strand.unit == "root_write" and operation.field("to_bus"):
                words += [cycle + laws.broadcast for cycle in cycles]
            if strand.unit == "lane_issue" and "bus" in (operation.field("b"), operation.field("c")):
                uses += [cycle + laws.operand for cycle in cycles]
            if strand.unit == "lane_write" and operation.field("source") == "bus":
                uses += cycles
    return words, uses


def test_no_word_of_the_next_sample_is_on_the_bus_too_early(schedule: Schedule) -> None:
    """Word by word: the last word that came before each use is of the sample that uses it."""
    words, uses = bus_cycles(schedule)
    found = set()
    for initiation_interval in range(max(words) - min(words) + 1, schedule.initiation_interval + 1):
        both = [(cycle + late * initiation_interval, late) for cycle in words for late in (0, 1)]
        fine = all(max((c, late) for c, late in both if c <= use)[1] == 0 for use in uses)
        found.add(fine)
        if fine:
            _bus(replace(schedule, initiation_interval=initiation_interval))
        else:
            with pytest.raises(ScheduleFault, match="a word of the next sample is on the bus too early"):
                _bus(replace(schedule, initiation_interval=initiation_interval))
    # On four roots the last use comes before the first word of any sample that could follow.
    assert found == ({True, False} if schedule.template.roots == 1 else {True})
