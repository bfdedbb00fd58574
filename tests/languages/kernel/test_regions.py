"""Regions against sets of elements, one by one."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tabla.graph.boxes import Box
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.regions import Region, first_outside

SIZE = 5
ends = st.tuples(st.integers(0, SIZE - 1), st.integers(1, 3)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def elements(box: Box) -> set[tuple[int, ...]]:
    return set(product(*(range(start, stop) for start, stop in box)))


def build(boxes: list[Box]) -> tuple[Region, set[tuple[int, ...]]]:
    region, filled = Region(), set()
    for box in boxes:
        region = region.with_box(box)
        filled |= elements(box)
    return region, filled


@given(st.integers(0, 3).flatmap(lambda rank: st.lists(st.tuples(*[ends] * rank), max_size=6)))
def test_region_holds_what_was_added(boxes: list[Box]) -> None:
    region, filled = build(boxes)
    assert set().union(*(elements(box) for box in region.boxes)) == filled
    for box in boxes:
        assert region.covers(box) and region.meets(box)
    if boxes:
        assert region.extents() == tuple(max(e[d] for e in filled) + 1 for d in range(len(boxes[0])))


@given(st.lists(st.tuples(ends, ends), max_size=5), st.tuples(ends, ends))
def test_covers_and_meets(boxes: list[Box], asked: Box) -> None:
    region, filled = build(boxes)
    assert region.covers(asked) == (elements(asked) <= filled)
    assert region.meets(asked) == bool(elements(asked) & filled)


terms = st.dictionaries(st.sampled_from("ij"), st.sampled_from([-2, -1, 1, 2]), max_size=2)
affines = st.builds(
    lambda parts, constant: Affine.make(constant, parts),
    terms,
    st.integers(-1, 4),
)


def indices(**ranges: tuple[int, int]) -> dict[str, Index]:
    return {name: Index(name=name, low=low, high=high) for name, (low, high) in ranges.items()}


@given(st.lists(st.tuples(ends, ends), max_size=6), st.tuples(affines, affines), ends, ends)
def test_first_outside_is_exact(
    boxes: list[Box], subscripts: tuple[Affine, Affine], i: tuple[int, int], j: tuple[int, int]
) -> None:
    region, filled = build(boxes)
    points = [dict(i=a, j=b) for a in range(*i) for b in range(*j)]
    reached = {tuple(s.at(point) for s in subscripts) for point in points}
    found = first_outside(region, subscripts, indices(i=i, j=j))
    if reached <= filled:
        assert found is None
    else:
        assert found in reached - filled


@given(affines, ends, ends)
def test_interval_is_exact(affine: Affine, i: tuple[int, int], j: tuple[int, int]) -> None:
    values = [affine.at(dict(i=a, j=b)) for a in range(*i) for b in range(*j)]
    assert affine.bounds(indices(i=i, j=j)) == (min(values), max(values))


def test_a_large_read_is_not_enumerated() -> None:
    region = Region().with_box(((0, 10**9), (0, 10**9)))
    diagonal = Affine.of(i=1)
    assert first_outside(region, (diagonal, diagonal), indices(i=(0, 10**9))) is None


def test_neighbours_merge() -> None:
    region = Region()
    for i in range(1000):
        region = region.with_box(((i, i + 1),))
    assert region.boxes == (((0, 1000),),)
