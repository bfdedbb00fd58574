"""The benchmark of ``tabla explore``: it counts the points that it asked for."""

from __future__ import annotations

from benchmarks.exploration import MOST_SECONDS, SPACE, bench_exploration


def test_a_small_exploration() -> None:
    row = bench_exploration("linear", ("--pes", "2", "--format", "q6.10"))
    assert row.points == row.front == 1
    assert 0 < row.processor_seconds and row.fine == (row.seconds <= MOST_SECONDS)


def test_the_whole_space_has_200_points() -> None:
    words = dict(zip(SPACE[::2], SPACE[1::2], strict=True))
    assert words["--pes"] == "4..64"  # each doubling: 4, 8, 16, 32 and 64
    assert 5 * len(words["--format"].split(",")) * len(words["--minibatch"].split(",")) == 200
