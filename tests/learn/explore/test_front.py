"""The Pareto front against its definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tabla.learn.explore.result import front

ROWS = st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=30)


def beats(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether a row is as good everywhere and better somewhere."""
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


@given(ROWS)
def test_the_front_is_what_nothing_beats(rows: list[tuple[int, ...]]) -> None:
    expected = [n for n, row in enumerate(rows) if row not in rows[:n] and not any(beats(other, row) for other in rows)]
    assert front(rows) == expected


def test_a_known_front() -> None:
    assert front([(1, 1), (2, 0), (0, 2), (1, 0), (2, 0)]) == [0, 1, 2]
    assert front([]) == []
