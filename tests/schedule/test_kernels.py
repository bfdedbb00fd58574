"""Kernels at the rate of the multipliers, and results that leave as they are made."""

from __future__ import annotations

import pytest

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.languages.tc import parse
from tabla.languages.tc.lower import lower
from tabla.schedule.mapping.places import ROOT
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import template_for
from tests.schedule.agreement import agree

Q6_10 = Format(integer=6, fraction=10)
MATMUL = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


def agreed(text: str, sizes: dict[str, int], pes: int, keep: tuple[str, ...] = ()) -> Schedule:
    """The schedule, every word of the machine against the evaluation, cycles predicted against cycles counted."""
    graph = lower(parse(Source.from_text(text)).function(), sizes, number_format=Q6_10, keep=keep)
    return agree(graph, template_for(pes), Q6_10)


@pytest.mark.parametrize("keep", [("B",), ("A",), ("A", "B")])
@pytest.mark.parametrize("size", [16, 32])
def test_matmul_uses_every_multiplier_in_every_cycle(size: int, keep: tuple[str, ...]) -> None:
    schedule = agreed(MATMUL, {"M": size, "K": size, "N": size}, 16, keep)
    assert schedule.cycles == size**3 // 16 and schedule.utilisation == 1
    # The result is read by nobody, so no memory holds it.
    assert not schedule.layout.holds("C", ROOT) and schedule.depths.root_memory <= 1


CONVOLUTION = "def f(float(C,H) I, float(O,C,K) F) -> (Y) { Y(o,h) +=! I(c,h+k) * F(o,c,k) }"


@pytest.mark.parametrize(
    ("text", "sizes", "straight"),
    [
        (CONVOLUTION, {"C": 2, "H": 10, "O": 16, "K": 3}, True),
        # Two rows of lanes and a part of a third, the spread axis first: the pieces follow each other.
        (CONVOLUTION, {"C": 2, "H": 10, "O": 37, "K": 3}, True),
        ("def f(float(M) a, float(N) b) -> (c, s) { c(i,j) = a(i) * b(j) s +=! c(i,j) }", {"M": 3, "N": 5}, None),
        ("def f(float(N,M) a) -> (c) { c(i,j) = a(j,i) * a(j,i) }", {"M": 3, "N": 5}, None),
        ("def f(float(N) a) -> (c, d) { c(i) = exp(a(i)) d(i) = c(i) * a(i) }", {"N": 5}, None),
        ("def f(float(N) a) -> (c) { c(i) = a(i) where i in 0:2 c(i) = 2 * a(i) where i in 2:N }", {"N": 5}, None),
        ("def f(float(N) a) -> (c, d) { d(i) = a(i) * a(i) c +=! a(i) }", {"N": 5}, None),
    ],
)
@pytest.mark.parametrize("pes", [4, 16])
def test_results_arrive_whole_and_in_order(text: str, sizes: dict[str, int], straight: bool | None, pes: int) -> None:
    schedule = agreed(text, sizes, pes)
    if straight:
        assert not schedule.layout.holds("Y", ROOT)
