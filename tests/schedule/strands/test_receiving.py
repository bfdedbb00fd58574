"""Words that lanes take from the bus as the root makes them: a copy in the lanes that costs no broadcast."""

from __future__ import annotations

import pytest

from tabla.graph.graph import Affine, Graph, Index, Linear, Read, Statement, Tensor, Term
from tabla.schedule.compile import checked_schedule
from tabla.schedule.mapping.effort import EFFORTS, of_calls
from tabla.schedule.mapping.places import EVERY, ROOT, Spot
from tabla.schedule.mapping.search import Search
from tabla.schedule.strands.loops import Loop
from tabla.schedule.strands.receiving import _in_one_loop
from tabla.templates.template import template_for
from tests.schedule.agreement import Q6_10, agree_on

G, R, C = (Affine.index(name) for name in "grc")


def nest(*counts: tuple[str, int]) -> tuple[Loop, ...]:
    return tuple(Loop(name=name, count=count) for name, count in counts)


@pytest.mark.parametrize(
    ("write", "loops", "joined"),
    [
        # Rows of groups, one group after the other, are one axis.
        ((G * 3 + R, C), nest(("g", 4), ("r", 3), ("c", 2)), ((R, C), nest(("r", 12), ("c", 2)))),
        ((C, G * 3 + R + 1), nest(("c", 2), ("g", 4), ("r", 3)), ((C, R + 1), nest(("c", 2), ("r", 12)))),
        # There is a gap, another order, a loop between the two, or another axis that one of them runs along.
        ((G * 4 + R,), nest(("g", 4), ("r", 3)), None),
        ((G * 3 + R,), nest(("r", 3), ("g", 4)), None),
        ((G * 3 + R, C), nest(("g", 4), ("c", 2), ("r", 3)), None),
        ((G * 3 + R, R), nest(("g", 4), ("r", 3)), None),
    ],
)
def test_loops_over_one_axis(write: object, loops: object, joined: object) -> None:
    found = _in_one_loop(write, loops)  # type: ignore[arg-type]
    assert found == ((write, loops) if joined is None else joined)


def test_loops_that_do_not_begin_at_0() -> None:
    outer, inner = Loop(name="g", count=4, low=2), Loop(name="r", count=3, low=1)
    assert _in_one_loop((G * 3 + R,), (outer, inner)) == ((R,), (Loop(name="r", count=12, low=7),))


def rows_of_groups() -> Graph:
    """A sum ``t[3*g + r][c]`` that the root makes, and one along each row of it, which lanes with a row each make."""
    x, w = Tensor(name="x", shape=(4, 3, 5), role="input"), Tensor(name="w", shape=(6, 5), role="model")
    t, s = Tensor(name="t", shape=(12, 6), role="value"), Tensor(name="s", shape=(12,), role="value")
    indices = [Index(name=name, low=0, high=high) for name, high in (("g", 4), ("r", 3), ("c", 6))]
    k, n = Index(name="k", low=0, high=5), Index(name="n", low=0, high=12)
    read = Read(tensor="x", subscripts=(G, R, Affine.index("k"))), Read(tensor="w", subscripts=(C, Affine.index("k")))
    first = Statement(
        id=0,
        target="t",
        write=(G * 3 + R, C),
        indices=tuple(indices),
        reduced=(k,),
        operation=Linear(terms=(Term(factors=read, reduce=("k",)),)),
    )
    square = Read(tensor="t", subscripts=(Affine.index("n"), C))
    second = Statement(
        id=1,
        target="s",
        write=(Affine.index("n"),),
        indices=(n,),
        reduced=(indices[2],),
        operation=Linear(terms=(Term(factors=(square, square), reduce=("c",)),)),
    )
    tensors = {tensor.name: tensor for tensor in (x, w, t, s)}
    return Graph(name="rows", tensors=tensors, statements=(first, second), updates={}, results=(("s", "s"),))


def test_lanes_take_the_rows_of_groups_as_the_root_makes_them() -> None:
    graph, template = rows_of_groups(), template_for(4)
    made = Search(graph, template, effort=of_calls(EFFORTS[0]), received=True).candidates(6)
    rows = [m for m in made if m.homes["t"] == ROOT and ("t", Spot("lane", 0)) in m.copies]
    assert rows
    schedule = checked_schedule(graph, rows[0], template, Q6_10)
    assert not any(strand.comment == "broadcast t" for strand in schedule.units["root_issue"])
    assert any(strand.comment.startswith("t to ") for strand in schedule.units["lane_write"])
    agree_on(schedule)


def test_one_copy_is_taken_as_it_is_made() -> None:
    """A second copy in the lanes comes by a broadcast, and the estimate says so."""
    search = Search(rows_of_groups(), template_for(4), received=True)
    copies = {("t", Spot("lane", 0))}
    homes = {"t": ROOT}
    assert search._bring("t", Spot("lane", 0), homes, set()) < search._bring("t", EVERY, homes, copies)
    assert search._bring("t", EVERY, homes, set()) < Search(rows_of_groups(), template_for(4))._bring(
        "t", EVERY, homes, set()
    )
