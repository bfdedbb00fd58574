"""Predictions of random learning programs on the cycle model, and what the checker says of wrong marks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Linear
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.model_guard import largest_guard, with_model_guard
from tabla.graph.passes.pipeline import shaped
from tabla.program.encode import encode
from tabla.program.overlay import overlay_of
from tabla.schedule.check.proof import prove
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.strands.regions import ScheduleFault
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import Template, presets, template_for
from tests.draws import draws
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.held_models import hold_prediction, predictable, with_results
from tests.schedule.test_random_programs import lowered
from tests.small_overlay import ROOM
from verify.fuzz.learners import learners

FORMATS = [Format(integer=6, fraction=10), Format(integer=3, fraction=6), Format(integer=16, fraction=16)]
ARRAYS = [template_for(pes) for pes in (1, 2, 4)] + [
    replace(template_for(4), sequencers=2),
    replace(template_for(8), pes_per_pu=4, roots=2),
]
ARRAY, NUMBER, SEED = st.sampled_from(ARRAYS), st.sampled_from(FORMATS), st.integers(0, 2**20)
EXP = """
mu = 0.25;
model_input x[4]; model_output y; model w[4], v;
gradient g[4] -> w, f -> v;
iterator i[0:4];
s = sum[i](w[i] * x[i]);
h = exp(s) + v;
q = log(s);
e = (h - y) * 16;
g[i] = e * x[i] * 16;
f = q + e;
"""
"""The sum goes into two functions. One of them only learns, and so do the largest words."""


SMALL = """
mu = 0.03125;
model_input x; model_output y; model w; gradient g -> w;
h = w * x;
g = (h - y) * x;
"""


def hold(text: str, template: Template, format: Format, seed: int, samples: int = 1, guard: bool = False) -> None:
    graph = with_results(lowered(text, format), seed)
    if guard:
        updates = [s.operation for s in graph.statements if s.target in graph.updates.values()]
        most = min((largest_guard(o.shift, format) for o in updates if isinstance(o, Linear)), default=0)
        assume(most > 0)
        graph = with_model_guard(graph, 1 + seed % most, format)
    graph = predictable(shaped(minibatched(graph, samples), format), format)
    schedule = schedule_graph(graph, template, format, EFFORTS[0])
    with CycleModel(encode(schedule), strict=True) as machine:
        hold_prediction(machine, schedule, seed=seed)


@draws(25, 60)
@given(programs(), ARRAY, NUMBER, SEED)
def test_random_programs(text: str, template: Template, format: Format, seed: int) -> None:
    hold(text, template, format, seed)


@draws(15, 40)
@given(learners(), ARRAY, NUMBER, SEED)
def test_learning_problems(text: str, template: Template, format: Format, seed: int) -> None:
    hold(text, template, format, seed)


@draws(10, 30)
@given(programs(), ARRAY, NUMBER, SEED, st.integers(1, 3))
def test_minibatches_and_guard_bits(text: str, template: Template, format: Format, seed: int, samples: int) -> None:
    hold(text, template, format, seed, samples, guard=True)


@pytest.mark.parametrize(("result", "errors"), [("h", False), ("s", False), ("q", True)])
def test_only_words_of_a_result_count(result: str, errors: bool) -> None:
    """Of two functions of one sum, one has errors. They count in a prediction only if a result needs that function."""
    graph = replace(shaped_graph(EXP), results=((result, result),))
    schedule = schedule_graph(graph, template_for(2), Q6_10)
    with CycleModel(encode(schedule), strict=True) as machine:
        before, predicted, after = hold_prediction(machine, schedule, seed=3)
    assert (predicted.counters.domain_errors > before.counters.domain_errors) == errors
    assert after.counters.domain_errors > predicted.counters.domain_errors


def test_marks_that_are_wrong_are_found() -> None:
    graph = replace(shaped_graph(EXP), results=(("h", "h"),))
    schedule = schedule_graph(graph, template_for(2), Q6_10)
    prove(schedule)
    marked = 0
    for number, strand in enumerate(schedule.strands):
        for slot, operation in enumerate(strand.body):
            for mark, counts in (("learns", "emit"), ("function_learns", "function")):
                if not strand.unit.endswith("issue") or not operation.field(counts):
                    continue
                marked += 1
                other = operation.with_fields(**{mark: 1 - int(operation.field(mark))})
                body = (*strand.body[:slot], other, *strand.body[slot + 1 :])
                strands = (*schedule.strands[:number], replace(strand, body=body), *schedule.strands[number + 1 :])
                with pytest.raises(ScheduleFault, match="of a prediction are counted"):
                    prove(replace(schedule, strands=strands))
    assert marked > 6


def test_an_overlay_and_programs_without_results_do_not_predict() -> None:
    learns = shaped_graph(EXP)
    assert not encode(schedule_graph(learns, template_for(2), Q6_10)).parameters.predicts
    graph = replace(shaped_graph(SMALL), results=(("h", "h"),))
    overlay = overlay_of(presets()["Pe2"], ROOM)
    image = encode(schedule_graph(graph, overlay.template, Q6_10), overlay)
    assert not image.parameters.predicts
    with CycleModel(image) as machine, pytest.raises(TablaError, match="does not predict"):
        machine.predict([], 0)
