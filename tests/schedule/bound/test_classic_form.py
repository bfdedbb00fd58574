"""Why the bound is more than its classic form: resources, latencies of recurrences, stream and functions.

The classic form is simpler. It would replace the bound if it were nearly as high on the published problems.
"""

from __future__ import annotations

import pytest

from benchmarks.learning.problems import Problem, problems
from tabla.driver import build
from tabla.graph.work import multiplies
from tabla.schedule.bound import full
from tabla.schedule.bound.latencies import Latencies
from tabla.schedule.bound.lower_bound import plain_path


def classic_and_full(problem: Problem, pes: int, roots: int) -> tuple[int, int]:
    """Return the cycles that the classic form gives, and those of the full bound."""
    made = build(problem.file, problem.options(pes))
    template = made.template.with_roots(roots)
    bound = full(made.graph, template, made.format)
    busy = -(-multiplies(made.graph, made.format) // (pes + roots))
    path, _ = plain_path(made.graph, Latencies(template, made.format))
    return max(busy, path, bound.terms["stream"], bound.terms["functions"]), bound.cycles


@pytest.mark.parametrize(
    ("kind", "sizes", "pes", "roots", "expected"),
    [
        ("backprop", (16, 32, 3), 64, 1, (72, 146)),
        ("backprop", (64, 128, 10), 64, 8, (285, 348)),
        ("svm", (1740,), 64, 1, (57, 80)),
        ("reco", (138, 130, 10), 64, 1, (87, 126)),
    ],
)
def test_the_classic_form_is_far_below_the_bound(
    kind: str, sizes: tuple[int, ...], pes: int, roots: int, expected: tuple[int, int]
) -> None:
    assert classic_and_full(Problem(kind=kind, sizes=sizes), pes, roots) == expected


@pytest.mark.slow
@pytest.mark.parametrize("roots", [1, 8])
def test_it_is_within_five_percent_on_few_published_rows(roots: int) -> None:
    found = [classic_and_full(problem, pes, roots) for problem in problems() for pes in (16, 64, 128)]
    assert all(classic <= bound for classic, bound in found)
    near = sum(classic >= 0.95 * bound for classic, bound in found)
    assert (near, len(found)) == ({1: 4, 8: 1}[roots], 66)
