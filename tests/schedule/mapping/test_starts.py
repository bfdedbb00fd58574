"""Which mappings changes go on from."""

from __future__ import annotations

from dataclasses import replace

from tabla.graph.format import Format
from tabla.schedule.compile import legal_graph
from tabla.schedule.mapping.candidates import candidates
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS
from tabla.schedule.mapping.judge import Figures, Judged
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.starts import Start, chosen
from tabla.templates.template import template_for
from tests.schedule.agreement import Q6_10, shaped_graph

EFFORT = EFFORTS[DEFAULT_EFFORT]
DOT = "model_input x[4], z[4]; iterator i[0:4]; h = sum[i](x[i] * z[i]);"


def mapping(number: Format = Q6_10) -> Mapping:
    template = template_for(4).with_roots(1)
    return candidates(legal_graph(shaped_graph(DOT), template, number), template, EFFORT)[0]


def start(found: Mapping, cycles: int) -> Start:
    figures = Figures(cycles=cycles, latency=9, microcode_words=9, too_large=False, further_blocks=0, waits=())
    judged = Judged(mapping=found, figures=figures)
    return Start(found=judged, merit=judged.merit(EFFORT), promise=judged.merit(EFFORT))


def test_equal_mappings_of_two_cuts_are_two_starts() -> None:
    one, other = start(mapping(), 9), start(mapping(), 9)
    assert one == other
    worth = chosen([[one], [other]], 3, 0, EFFORT)
    assert [each is one for each in worth] == [True, False]


def test_no_start_is_chosen_twice() -> None:
    found = [start(mapping(), 9), start(mapping(), 20)]
    worth = chosen([found], 3, 0, replace(EFFORT, far=9))
    assert [any(each is other for other in found) for each in worth] == [True, True]
    assert worth[0] is not worth[1]


def test_what_promises_little_is_no_start() -> None:
    """A start of another cut is taken for its promise: at most 1.12 times what the best one promises."""
    best, slow = start(mapping(), 100), start(mapping(), 300)
    for times, taken in ((1.11, True), (1.13, False)):
        other = replace(slow, promise=(times * best.promise[0], *slow.promise[1:]))
        worth = chosen([[best], [other]], 3, 0, EFFORT)
        assert [each is best or each is other for each in worth] == [True] * len(worth)
        assert (len(worth) == 2) is taken


def test_mappings_are_compared_without_their_estimates() -> None:
    found = mapping()
    assert replace(found, estimate=found.estimate + 1) == found
    assert replace(found, waves=not found.waves) != found
