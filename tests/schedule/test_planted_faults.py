"""The checker refuses faults of every kind, planted into right schedules, whatever their strands are called."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest

from tabla.base.source import Source
from tabla.build.options import Options
from tabla.driver import build
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower import lower
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Owner
from tabla.templates.template import template_for
from tests.end_to_end.test_several_roots_port import softmax
from tests.schedule.agreement import FREE_ROOTS, shaped_graph
from tests.schedule.bank import bank
from tests.schedule.kept import KEPT_FOLDER, kept
from tests.schedule.kernels import padded, triangle
from tests.schedule.planted import FAULTS
from tests.schedule.strands.scans import Shape, scan_graph
from tests.schedule.strands.test_gathers import embedding
from tests.schedule.test_check import BACKPROP
from tests.schedule.test_sequencers import array, graph_of, side_by_side

Q6_10 = Format(integer=6, fraction=10)
MOST = 10 if os.environ.get("TABLA_EXPLORE") or os.environ.get(KEPT_FOLDER) else 2
"""Of each fault as many are tried in a program: more in ``make test-all``, and where the checker itself is changed."""
GAUGES = """
model_input x[6], u, v; model w[6], k; gradient g[6] -> w; iterator i[0:6];
s = sum[i](w[i]*x[i]); c = s < u; d = u / v; p = sigmoid(s) * d; q = tanh(d) + k; r = c * p - q;
g[i] = r * x[i];
"""


def _bank(models: int, words: int, neurons: int) -> Callable[[], Schedule]:
    def made() -> Schedule:
        found = side_by_side(graph_of(bank(models, words=words, neurons=neurons)), array(16, 4), Q6_10, 1)
        assert found is not None
        return found

    return made


def _running(kind: str) -> Callable[[], Schedule]:
    return lambda: schedule_graph(scan_graph(Shape(kind=kind, rows=3)), template_for(4), Q6_10)


def _text(text: str, pes: int, roots: int = 1, **results: tuple[str, ...]) -> Callable[[], Schedule]:
    return lambda: schedule_graph(shaped_graph(text), template_for(pes).with_roots(roots), Q6_10)


def _integers() -> Schedule:
    """Integers that become real words by a shift alone, which may overflow."""
    text = "def scaled(int32(N) A, float(N) x) -> (O) { O(i) = A(i) * x(i) }"
    function = parse(Source.from_text(text)).function()
    graph = run_passes(lower(function, bind_sizes(function, {"A": (6,)}), number_format=Q6_10), Q6_10)
    return schedule_graph(graph, template_for(4), Q6_10)


SCATTERED = """
model_input u, v, at[3]; model_output y; model U[90][2], W[90]; gradient gU -> U, gW -> W;
iterator k[0:2], n[0:3];
h = sum[k](U[u][k] * U[v + 1][k]) + sum[n](W[at[n]]);
e = h - y;
gU[u][k] = e * U[v + 1][k];
gU[v + 1][k] = e * U[u][k];
gW[at[n]] = e;
"""


PROGRAMS: Mapping[str, Callable[[], Schedule]] = {
    "network": _text(BACKPROP, 8),
    "network on four roots": _text(BACKPROP, 16, 4),
    "gauges": _text(GAUGES, 4),
    "svm": lambda: build("examples/svm.t", Options(pes=4)).schedule,
    "recommender": lambda: build("examples/recommender.t", Options(pes=4, results=("h",))).schedule,
    "bank": _bank(7, 12, 4),
    "small bank": _bank(5, 6, 3),
    "integers": _integers,
    "padded": lambda: schedule_graph(padded(), template_for(4), Q6_10),
    "triangle": lambda: schedule_graph(triangle(), template_for(4), Q6_10),
    "scatters": lambda: build(Source.from_text(SCATTERED), Options(pes=2, effort=0)).schedule,
    "gathers": lambda: schedule_graph(embedding(), template_for(4), Q6_10),
    "softmax on four roots": lambda: schedule_graph(softmax(8, 8), template_for(16).with_roots(4), Q6_10, FREE_ROOTS),
    **{f"running {kind}": _running(kind) for kind in ("products", "both", "product", "scaled")},
}


@cache
def right(name: str) -> Schedule:
    """A schedule without a fault, whose strands are all called the same."""
    made = kept(name, PROGRAMS[name])
    check(made)
    return replace(made, strands=tuple(replace(s, comment="a strand", owner=Owner()) for s in made.strands))


@pytest.mark.parametrize("kind", FAULTS)
def test_planted_faults_are_refused(kind: str) -> None:
    planted = 0
    for name in PROGRAMS:
        for number, schedule in enumerate(islice(FAULTS[kind](right(name)), MOST)):
            planted += 1
            try:
                check(schedule)
            except ScheduleFault:
                continue
            pytest.fail(f"{kind}: number {number} in {name} is accepted")
    assert planted, f"no program has a place for {kind}"


def test_there_are_enough_kinds() -> None:
    assert len(FAULTS) >= 30


@pytest.mark.parametrize("name", PROGRAMS)
def test_labels_are_for_people(name: str) -> None:
    """Whatever strands are called, and whoever owns them: what is right stays right."""
    schedule, draw = right(name), random.Random(5)
    own = kept(name, PROGRAMS[name]).strands if name == "gauges" else ()
    labels = [strand.comment for strand in own] or ["s1 x", "", "tree"]
    strands = tuple(
        replace(s, comment=draw.choice(labels), owner=Owner(statement=draw.randrange(-1, 9), part=draw.randrange(3)))
        for s in schedule.strands
    )
    check(replace(schedule, strands=strands))
