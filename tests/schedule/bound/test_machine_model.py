"""The bound against the truth: a solver's best initiation interval of the machine's model lies between bound and
cycles.

The model (`machine_model.py`) shares no code with the bound. Programs are tiny, so that the solver comes to an end.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tabla.graph.graph import Graph
from tabla.schedule import bound
from tabla.schedule.compile import schedule_graph
from tabla.templates.template import Template, template_for
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.bound.cases import FOUND, case

pytest.importorskip("ortools", reason="the solver comes with the extra 'test'")

FEW = range(30)
MANY = range(240)
WORK = 4.0
"""What the solver may do for a case, in its own deterministic seconds."""
NETWORK = """
mu = 0.25; model_input x[{n}]; model_output y[{k}]; model w1[{m}][{n}]; model w2[{k}][{m}];
gradient g1[{m}][{n}] -> w1; gradient g2[{k}][{m}] -> w2; iterator a[0:{n}]; iterator b[0:{m}]; iterator c[0:{k}];
h[b] = sum[a](w1[b][a] * x[a]); o[c] = sum[b](w2[c][b] * h[b]); e[c] = o[c] - y[c]; d[b] = sum[c](w2[c][b] * e[c]);
g1[b][a] = d[b] * x[a]; g2[c][b] = e[c] * h[b];
"""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is known of a program's cycles: both bounds, the model's best initiation interval if it was found,
    and our cycles.
    """

    quick: int
    full: int
    least: int
    most: int
    cycles: int


def array(pes: int) -> Template:
    """The array that the model knows: one root, one sequencer."""
    return template_for(pes).with_roots(1).with_sequencers(1)


def truth(text: str, pes: int) -> Truth:
    """Bound, optimum and cycles of a program; `AssertionError` if they are not in this order."""
    from tests.schedule.bound.machine_model import best_period

    graph: Graph = shaped_graph(text)
    template = array(pes)
    cycles = schedule_graph(graph, template, Q6_10).cycles
    quick, full = (law(graph, template, Q6_10).cycles for law in (bound.quick, bound.full))
    best = best_period(graph, template, Q6_10, most=cycles, below=full, work=WORK)
    assert quick <= full <= best.most <= cycles, text
    # The solver has shown that the model cannot take fewer cycles than the bound.
    assert best.least >= full, text
    return Truth(quick=quick, full=full, least=best.least, most=best.most, cycles=cycles)


@pytest.mark.parametrize("seed", FEW)
def test_the_optimum_lies_between_bound_and_cycles(seed: int) -> None:
    truth(*case(seed))


@pytest.mark.parametrize("number", range(len(FOUND)))
def test_where_the_solver_once_beat_the_bound(number: int) -> None:
    truth(*FOUND[number])


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_two_hundred_cases() -> None:
    """Every case holds; and the bound is the optimum in most."""
    found = [truth(*case(seed)) for seed in MANY]
    assert len(found) >= 200
    exact = sum(each.full == each.least == each.most for each in found)
    assert exact >= len(found) // 2


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("pes", [1, 2, 4])
@pytest.mark.parametrize("sizes", [(2, 2, 1), (3, 2, 2), (4, 2, 2)])
def test_networks_of_two_layers(sizes: tuple[int, int, int], pes: int) -> None:
    n, m, k = sizes
    truth(NETWORK.format(n=n, m=m, k=k), pes)


def test_a_neuron_by_hand() -> None:
    """One feature on one PE: product, error, update, and the memory before the next sample reads."""
    text = """mu = 0.25; model_input x[1]; model_output y; model w[1]; gradient g[1] -> w; iterator i[0:1];
    h = sum[i](w[i]*x[i]); e = h - y; g[i] = e*x[i];"""
    found = truth(text, 1)
    # The sum is there 5 cycles after its operands, the difference, which takes it late, 4 later, the update 5 later,
    # and the next sample reads it from a memory 3 later.
    assert found.full == found.least == found.most == 5 + 4 + 5 + 3 == found.cycles
