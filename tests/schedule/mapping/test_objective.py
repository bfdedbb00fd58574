"""The objective of a search: latency first, with a stream that is as wide as helps; and nothing else changes."""

from __future__ import annotations

import pytest

from tabla.build.options import Options
from tabla.driver import build
from tabla.examples.catalogue import EXAMPLES
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS, OBJECTIVES, effort_of
from tabla.schedule.mapping.judge import Judged
from tabla.templates.template import template_for
from tests.schedule.agreement import Q6_10, agree_on, shaped_graph
from tests.schedule.mapping.judges import figures
from tests.schedule.mapping.single import array
from tests.schedule.mapping.test_judge import on

NEURON = """mu = 0.125; model_input x[9]; model_output y; model w[9]; gradient g[9] -> w; iterator i[0:9];
h = sigmoid(sum[i](w[i] * x[i])); e = h - y; g[i] = e * x[i];"""


def test_levels_keep_their_numbers() -> None:
    for level, effort in enumerate(EFFORTS):
        assert effort_of(level) == effort
        assert effort_of(level, "latency").objective == "latency"
    assert OBJECTIVES == ("throughput", "latency")


def test_latency_comes_first_and_roots_cost_nothing() -> None:
    quick = Judged(mapping=on(array(8, roots=4)), figures=figures(200, latency=50))
    steady = Judged(mapping=on(array(8)), figures=figures(100, latency=60))
    latency, throughput = effort_of(2, "latency"), effort_of(2)
    assert quick.merit(latency) < steady.merit(latency) and quick.merit(latency)[0] == 50
    assert steady.merit(throughput) < quick.merit(throughput)
    large = Judged(mapping=on(array(8)), figures=figures(100, latency=60, too_large=True))
    assert large.merit(latency)[0] == 120
    assert (quick.aim(latency), quick.aim(throughput)) == (50, 200)


def test_words_cycles_and_latency_are_as_predicted() -> None:
    graph = shaped_graph(NEURON)
    plain, hasty = (schedule_graph(graph, template_for(4), Q6_10, effort_of(1, each)) for each in OBJECTIVES)
    agree_on(hasty)
    assert hasty.latency < plain.latency and hasty.beats < plain.beats
    # Ten words on four lanes are three beats of four, and one of the label.
    assert hasty.stream_words == 4


def test_a_stream_that_the_user_names_stays() -> None:
    template = Options(pes=4, stream_words=2).chosen_template()
    assert schedule_graph(shaped_graph(NEURON), template, Q6_10, effort_of(0, "latency")).stream_words == 2


@pytest.mark.parametrize("name", ["linear", "logistic", "svm"])
def test_examples_take_no_longer(name: str) -> None:
    program = EXAMPLES[name].program
    plain, hasty = (build(program, Options(effort=1, objective=each)).schedule for each in OBJECTIVES)
    assert hasty.latency < plain.latency


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_take_no_longer_at_the_default_effort(name: str) -> None:
    program = EXAMPLES[name].program
    plain, hasty = (build(program, Options(objective=each)).schedule for each in OBJECTIVES)
    assert hasty.latency < plain.latency
