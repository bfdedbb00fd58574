"""Arrays with several sequencers: what leaves the Verilog is what the graph means, in the cycles predicted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.templates.template import Template, template_for
from tests.end_to_end.algorithms import PROGRAMS, Q6_10, graph_of, hold_against_evaluation, hold_schedule, need
from tests.schedule.bank import bank
from tests.schedule.test_sequencers import side_by_side


def array(pes: int, sequencers: int, pes_per_pu: int | None = None) -> Template:
    template = template_for(pes)
    return replace(template, sequencers=sequencers, pes_per_pu=pes_per_pu or template.pes_per_pu)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.parametrize(
    ("pes", "sequencers"),
    [(4, 2), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((6, 3), (4, 4))), (16, 4)],
)
def test_algorithms_on_the_cycle_model(name: str, pes: int, sequencers: int) -> None:
    hold_against_evaluation(graph_of(PROGRAMS[name]), "model", array(pes, sequencers))


# Whole sequencers in a PU, whole PUs in a sequencer, lanes of two sequencers in the middle PU, a sequencer a lane.
@pytest.mark.parametrize(
    ("name", "pes", "sequencers", "pes_per_pu"),
    [
        ("linear", 4, 2, 4),
        ("recommender", 4, 2, 1),
        pytest.param("backprop", 12, 2, 4, marks=pytest.mark.slow),
        ("svm", 3, 3, 3),
    ],
)
def test_algorithms_in_icarus(name: str, pes: int, sequencers: int, pes_per_pu: int) -> None:
    need("icarus")
    hold_against_evaluation(graph_of(PROGRAMS[name]), "icarus", array(pes, sequencers, pes_per_pu))


@pytest.mark.parametrize(
    ("pes", "sequencers", "pes_per_pu", "text"),
    [
        pytest.param(8, 2, 8, bank(5, words=12, neurons=3), marks=pytest.mark.slow),
        pytest.param(8, 4, 2, bank(6, words=11, neurons=4), marks=pytest.mark.slow),
        pytest.param(6, 3, 3, bank(6, words=16, neurons=4), marks=pytest.mark.slow),
        # Sums that are subtracted go up as complements.
        (8, 2, 4, bank(5, words=12, neurons=3).replace("= sum[i](", "= 0.5 - sum[i](")),
    ],
)
def test_sequencers_side_by_side_in_icarus(pes: int, sequencers: int, pes_per_pu: int, text: str) -> None:
    need("icarus")
    # The errors too: what a wrong rounding does there is too little to move a model, and not seen in every sample.
    graph = graph_of(text, results=("e2", "e4"))
    schedule = side_by_side(graph, array(pes, sequencers, pes_per_pu), Q6_10, 1)
    assert schedule is not None
    lanes = [s for s in schedule.strands if s.unit == "lane_issue"]
    assert len({s.sequencers for s in lanes}) > 1 and any(s.sequencers and s.body[-1].field("up") for s in lanes)
    hold_schedule(schedule, "icarus", samples=6)
