"""Which mappings and which arrays are worth an exact schedule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.graph.graph import Graph
from tabla.schedule.mapping.candidates import candidates, distinct, in_own_lanes, roots_to_try, side_by_side
from tabla.schedule.mapping.changes import at_hand
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.mapping.places import ALL
from tabla.schedule.mapping.search import Search
from tabla.templates.template import template_for
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.bank import bank
from tests.schedule.mapping.single import array, legal_of

EFFORT = EFFORTS[2]
LAYER = """
model_input x[8]; model_output y[4]; model w[4][8]; gradient g[4][8] -> w; iterator i[0:8]; iterator k[0:4];
s[k] = sum[i](w[k][i] * x[i]); p[k] = sigmoid(s[k] * y[k]); g[k][i] = (p[k] - y[k]) * x[i];
"""


def legal(text: str) -> Graph:
    return legal_of(shaped_graph(text), Q6_10)


def test_with_functions_a_second_estimate_joins() -> None:
    """It adds at most `fused` mappings behind those of the first estimate, and none twice.

    Behind all of them come those in which lanes keep copies of models.
    """
    made = legal(LAYER)
    plain = Search(made, array(4), effort=EFFORT).candidates(EFFORT.candidates)
    found = candidates(made, array(4), EFFORT)
    assert found[: len(plain)] == plain
    assert len([mapping for mapping in found if not mapping.kept]) <= len(plain) + EFFORT.fused
    assert distinct(found) == found
    without = candidates(made, array(4), replace(EFFORT, fused=0))
    assert without[: len(plain)] == plain and all(mapping.kept for mapping in without[len(plain) :])


def test_without_functions_there_is_one_estimate() -> None:
    made = legal("model_input x[4]; model w[4]; gradient g[4] -> w; iterator i[0:4]; g[i] = w[i] * x[i];")
    assert candidates(made, array(4), EFFORT) == Search(made, array(4), effort=EFFORT).candidates(EFFORT.candidates)


def test_several_sequencers_get_clusters_in_lanes_of_their_own() -> None:
    made = legal(bank(4))
    spans = {fit.span for mapping in candidates(made, array(16, sequencers=4), EFFORT) for fit in mapping.fits}
    assert ALL in spans and any(span.lanes == 4 for span in spans)
    assert {fit.span for mapping in candidates(made, array(16), EFFORT) for fit in mapping.fits} == {ALL}


def test_clusters_have_at_least_the_lanes_that_are_asked_for() -> None:
    made, template = legal(bank(4)), array(16, sequencers=4)
    for least in (1, 2, 4):
        lanes = {
            fit.span.lanes or 16
            for mapping in in_own_lanes(made, template, 2, (least,), EFFORT)
            for fit in mapping.fits
            if fit.index
        }
        assert min(lanes) >= 4 * least


def test_what_samples_bring_lies_in_the_lanes_too() -> None:
    made = legal(LAYER)
    found = in_own_lanes(made, array(8, sequencers=2), 30, (1,), EFFORT)
    streamed = {tensor.name for tensor in made.tensors.values() if tensor.role in ("input", "label")}
    by_bus = [mapping for mapping in found if any(fit.bus in streamed for fit in mapping.fits)]
    local = [mapping for mapping in found if mapping not in by_bus]
    assert by_bus and local
    assert all(any(at_hand(mapping).fits == each.fits for each in local) for mapping in by_bus)


@pytest.mark.parametrize(("pes", "sequencers", "roots"), [(16, 2, 0), (16, 0, 2)])
def test_who_names_roots_or_sequencers_gets_no_others(pes: int, sequencers: int, roots: int) -> None:
    template = replace(template_for(pes), sequencers=sequencers, roots=roots)
    assert not list(side_by_side(legal(bank(4)), template, EFFORT))


def test_side_by_side_leaves_enough_lanes() -> None:
    made = legal(bank(4))
    free = replace(template_for(16), sequencers=0, roots=0)
    found = list(side_by_side(made, free, EFFORT))
    assert {mapping.template.sequencers for mapping in found} == {2, 4}
    assert all(any(fit.span != ALL for fit in mapping.fits) for mapping in found)
    assert {m.template.sequencers for m in side_by_side(made, free, replace(EFFORT, least_lanes=8))} == {2}
    small = replace(template_for(4), sequencers=0, roots=0)
    assert not list(side_by_side(made, small, EFFORT))


@pytest.mark.parametrize(
    ("pes", "roots", "sequencers", "tried"),
    [
        (4, 0, 0, ()),
        (8, 0, 0, (2,)),
        (16, 0, 0, (2, 4)),
        (12, 0, 1, (2,)),
        (64, 0, 1, (2, 4, 8)),
        (64, 1, 1, ()),
        (64, 4, 1, (4,)),
        (64, 0, 2, ()),
    ],
)
def test_roots_to_try(pes: int, roots: int, sequencers: int, tried: tuple[int, ...]) -> None:
    template = replace(template_for(pes), roots=roots, sequencers=sequencers)
    assert roots_to_try(template, EFFORT) == tried


def test_the_first_of_equals_stays() -> None:
    one = Search(legal(LAYER), array(4)).candidates(2)
    again = [replace(mapping, estimate=0.0) for mapping in one]
    assert [id(mapping) for mapping in distinct([*one, *again])] == [id(mapping) for mapping in one]
