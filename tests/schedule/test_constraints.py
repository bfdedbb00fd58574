"""Kernels with constraints on the machine: words as evaluated, cycles as predicted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.verify import verify
from tabla.templates.template import template_for
from tests.schedule.agreement import agree
from tests.schedule.kernels import padded, triangle

Q6_10 = Format(integer=6, fraction=10)


@pytest.mark.parametrize("pes", [1, 4, pytest.param(16, marks=pytest.mark.slow)])
@pytest.mark.parametrize("made", [padded, triangle])
def test_words_and_cycles(made: Callable[[], Graph], pes: int) -> None:
    graph = made()
    verify(graph)
    agree(graph, template_for(pes), Q6_10)
