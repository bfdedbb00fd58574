"""Arrays with several sequencers: what leaves the Verilog is what the graph means, in the cycles predicted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tabla.templates.template import Template, template_for

from tests.end_to_end.algorithms import PROGRAMS, graph_of, hold_against_evaluation, need


def array(pes: int, sequencers: int, pes_per_pu: int | None = None) -> Template:
    template = template_for(pes)
    return replace(template, sequencers=sequencers, pes_per_pu=pes_per_pu or template.pes_per_pu)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.parametrize(("pes", "sequencers"), [(4, 2), (6, 3), (16, 4), (4, 4)])
def test_algorithms_on_the_cycle_model(name: str, pes: int, sequencers: int) -> None:
    hold_against_evaluation(graph_of(PROGRAMS[name]), "model", array(pes, sequencers))


# Whole sequencers in a PU, whole PUs in a sequencer, lanes of two sequencers in the middle PU, a sequencer a lane.
@pytest.mark.parametrize(
    ("name", "pes", "sequencers", "pes_per_pu"),
    [("linear", 4, 2, 4), ("backprop", 4, 2, 1), ("backprop", 12, 2, 4), ("svm", 3, 3, 3)],
)
def test_algorithms_in_icarus(name: str, pes: int, sequencers: int, pes_per_pu: int) -> None:
    need("icarus")
    hold_against_evaluation(graph_of(PROGRAMS[name]), "icarus", array(pes, sequencers, pes_per_pu))
