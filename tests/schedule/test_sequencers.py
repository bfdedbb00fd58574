"""Sequencers side by side: words, cycles, the checker's laws, and what it is good for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.legalise.materialise import materialise
from tabla.graph.passes.legalise.snapshot import snapshot
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.program.decode import disassemble
from tabla.program.encode import encode
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.candidates import divisors, spread_out
from tabla.schedule.mapping.search import Search
from tabla.schedule.placing.build import schedule_mapping
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Strand
from tabla.sim.machine import Stalls
from tabla.templates.template import Template, template_for
from tests.draws import draws
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import agree, agree_on
from tests.schedule.bank import bank
from tests.schedule.test_random_programs import FORMATS, lowered

Q6_10 = Format(integer=6, fraction=10)


def array(pes: int, sequencers: int) -> Template:
    return replace(template_for(pes), sequencers=sequencers)


ARRAYS = st.sampled_from([(p, n) for p in (2, 4, 6, 8, 16) for n in divisors(p)]).map(lambda pn: array(*pn))
SEVERAL = ARRAYS.filter(lambda t: t.sequencers > 1)


def side_by_side(graph: Graph, template: Template, format: Format, least: int) -> Schedule | None:
    """The first mapping that can be scheduled with clusters in few lanes, be it fast or not."""
    material = materialise(snapshot(graph), format)
    for mapping in Search(material, template.with_roots(1)).candidates(3):
        spread = spread_out(mapping, least=least)
        if any(fit.span.lanes for fit in spread.fits):
            found = schedule_mapping(graph, spread, format)
            if found is not None:
                check(found)
                return found
    return None


@pytest.mark.slow
@draws(30, 60)
@given(programs(), ARRAYS, st.sampled_from(FORMATS), st.integers(0, 2**20))
def test_random_programs(text: str, template: Template, format: Format, seed: int) -> None:
    agree(lowered(text, format), template, format, seed=seed)


@draws(40, 80)
@given(programs(), SEVERAL, st.sampled_from(FORMATS), st.integers(0, 2**20), st.sampled_from([1, 1, 2]))
def test_random_programs_side_by_side(text: str, template: Template, format: Format, seed: int, least: int) -> None:
    """Also where it is slower; and whenever the host pauses."""
    schedule = side_by_side(lowered(text, format), template, format, least)
    if schedule is not None:
        agree_on(schedule, seed=seed)
        agree_on(schedule, seed=seed, samples=8, stalls=Stalls.random(seed, longest=schedule.initiation_interval))


@pytest.mark.parametrize("neurons", [0, 3, 6])
@pytest.mark.parametrize("sequencers", [2, 4, 8])
def test_banks_of_models(neurons: int, sequencers: int) -> None:
    schedule = agree(graph_of(bank(6, neurons=neurons)), array(8, sequencers), Q6_10)
    # Several roots are another way, with one sequencer.
    alone = schedule_graph(graph_of(bank(6, neurons=neurons)), array(8, 1).with_roots(1), Q6_10)
    assert schedule.cycles <= alone.cycles


def test_irregular_work_runs_in_half_the_cycles() -> None:
    """24 models of four words on 16 PEs: one sequencer keeps four PEs busy, four sequencers all."""
    graph = graph_of(bank(24))
    one, four = (agree(graph, array(16, n).with_roots(1), Q6_10) for n in (1, 4))
    assert 2 * four.cycles < one.cycles
    assert four.utilisation > 2 * one.utilisation


def test_the_tool_chooses_sequencers_where_they_pay() -> None:
    text = """
    model_input x1[10], x2[10], r1[138], r2[130]; model_output y1[138], y2[130]; model w1[138][10], w2[130][10];
    gradient g1[138][10] -> w1, g2[130][10] -> w2; iterator i[0:138]; iterator j[0:130]; iterator l[0:10];
    e1[i] = sum[l](w1[i][l]*x2[l])*r1[i] - y1[i]; e2[j] = sum[l](w2[j][l]*x1[l])*r2[j] - y2[j];
    g1[i][l] = e1[i]*x2[l]; g2[j][l] = e2[j]*x1[l];
    """
    graph = graph_of(text)
    free, one = (schedule_graph(graph, t, Q6_10) for t in (template_for(64), array(64, 1)))
    # Five passes of 32 lanes for each tensor at the same time, not three of 64 one after the other.
    assert (free.template.sequencers, one.template.sequencers) == (2, 1)
    assert free.cycles <= 0.87 * one.cycles
    agree_on(free)


def test_one_sequencer_is_enough_for_a_neuron() -> None:
    text = """
    model_input x[64]; model w[64]; gradient g[64] -> w; iterator i[0:64]; h = sum[i](w[i]*x[i]); g[i] = h*x[i];
    """
    assert schedule_graph(graph_of(text), template_for(64), Q6_10).template.sequencers == 1


def graph_of(text: str) -> Graph:
    return lower(parse(Source.from_text(text)), number_format=Q6_10)


# ---- the checker


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    found = side_by_side(graph_of(bank(7, words=12, neurons=4)), array(16, 4), Q6_10, 1)
    assert found is not None
    return found


def lanes_of_some(strand: Strand) -> bool:
    return bool(strand.sequencers)


def changed(schedule: Schedule, which: Callable[[Strand], bool], how: Callable[[Strand], Strand]) -> Iterator[Schedule]:
    """The schedule with one of the strands that `which` picks changed, for each of them."""
    for position, strand in enumerate(schedule.strands):
        if which(strand):
            strands = (*schedule.strands[:position], how(strand), *schedule.strands[position + 1 :])
            yield replace(schedule, strands=tuple(sorted(strands, key=lambda s: (s.unit, s.start))))


def refused(schedule: Schedule, message: str | None = None) -> None:
    with pytest.raises(ScheduleFault, match=message):
        check(schedule)


@pytest.mark.parametrize("step", [-1, 1])
def test_no_strand_of_a_sequencer_may_move_alone(schedule: Schedule, step: int) -> None:
    for moved in changed(schedule, lanes_of_some, lambda s: s.at(s.start + step)):
        refused(moved)


def test_no_strand_may_run_in_the_lanes_of_another_sequencer(schedule: Schedule) -> None:
    count = 0
    for moved in changed(schedule, lanes_of_some, lambda s: replace(s, sequencers=((s.sequencers[0] + 1) % 4,))):
        refused(moved)
        count += 1
    assert count >= 20


def test_nor_in_all_lanes(schedule: Schedule) -> None:
    for moved in changed(schedule, lanes_of_some, lambda s: replace(s, sequencers=())):
        refused(moved)


def test_a_sum_must_be_marked_for_the_tree(schedule: Schedule) -> None:
    def mark(strand: Strand, up: int) -> Strand:
        return replace(strand, body=tuple(o.with_fields(up=up) for o in strand.body))

    sends = [s for s in schedule.strands if s.unit == "lane_issue" and s.body[-1].field("up")]
    assert len(sends) >= 2
    for silent in changed(schedule, lambda s: s in sends, lambda s: mark(s, 0)):
        refused(silent, "a sum that is not at the tree's end")
    for loud in changed(schedule, lambda s: s.unit == "lane_issue" and s not in sends, lambda s: mark(s, 1)):
        refused(loud, "nobody takes|meet")


def test_two_sums_may_not_meet(schedule: Schedule) -> None:
    """A sum of another sequencer in the very cycle of a sum."""
    first, second = [s for s in schedule.strands if s.unit == "lane_issue" and s.body[-1].field("up")][:2]
    assert first.sequencers != second.sequencers
    for meeting in changed(schedule, lambda s: s is second, lambda s: s.at(first.end - s.length)):
        refused(meeting, "two sums meet")


# ---- what is written


def test_every_sequencer_has_programs_of_its_own(schedule: Schedule) -> None:
    image = encode(schedule)
    assert len(image.memories) == 2 * (1 + 4 + 4 + 2) and image.memory_bits == 5
    assert len({image.operations[f"lane_issue_{n}"] for n in range(4)}) == 4
    text = disassemble(image)
    assert all(f"lane_issue_{n}: " in text for n in range(4)) and " up=1" in text


def test_one_sequencer_has_no_more_bits_than_before() -> None:
    image = encode(schedule_graph(graph_of(bank(4, neurons=1)), template_for(8), Q6_10))
    assert image.memory_bits == 4 and len(image.memories) == 10
    assert " up=" not in disassemble(image)
