"""The loss curve in the terminal."""

from __future__ import annotations

from math import inf, nan

import pytest

from tabla.learn.record import Pair, curve, diverged


def test_falls_from_the_left_to_the_right() -> None:
    lines = curve([4, 2, 1], [4, 3, 2], unicode=True, width=20, height=5).splitlines()
    assert lines[0].startswith("  4 │●")
    assert lines[4].startswith("  1 │")
    assert lines[4].endswith("●")
    # The curve of float64 ends at 2. With three rows between 1 and 4, that value is rounded to the third row.
    assert lines[3].endswith("·")
    assert lines[6].split() == ["0", "epochs", "2"]


def test_where_the_curves_meet_the_machine_is_shown() -> None:
    assert "·" not in "".join(curve([3, 1], [3, 1], unicode=True).splitlines()[:-1])


def test_flat_and_single() -> None:
    assert curve([1, 1], [1, 1], unicode=False).splitlines()[9].count("*") == 60
    assert curve([1], [1], unicode=False).isascii()


@pytest.mark.parametrize(
    ("losses", "epoch"),
    [
        ([1, 0.5, 0.2], None),
        ([1, 10, 10], None),
        ([1, 11, 12], 1),
        ([1, 11, 2, 12], 3),
        ([1, 200, 0.5], None),
        ([1, 2, inf, nan], 2),
        ([0, 0, 0], None),
        ([0, 1e-6, 1e-6], None),
        ([0, 1e-6, 300], 2),
    ],
)
def test_where_a_run_diverged(losses: list[float], epoch: int | None) -> None:
    assert diverged(losses) == epoch


def test_a_float64_run_that_diverges_does_not_flatten_the_accelerators_curve() -> None:
    machine = [4.0, 3.0, 2.0, 1.0]
    alone = curve(machine, machine, unicode=True)
    beside = curve(machine, [4.0, 1e6, inf, nan], unicode=True)
    assert [line.replace("·", " ").rstrip() for line in beside.splitlines()[:-1]] == alone.splitlines()[:-1]


def test_a_curve_that_diverges_ends_where_it_does() -> None:
    lines = curve([4.0, 5.0, 100.0, inf], [4.0, 3.0, 2.0, 1.0], unicode=True, width=31, height=4).splitlines()
    columns = [line.index("●") for line in lines[:4] if "●" in line] + [
        line.rindex("●") for line in lines[:4] if "●" in line
    ]
    # The plot begins five characters after the margin; a third of its 31 columns is one epoch.
    assert max(columns) - min(columns) <= 10


def test_two_runs_that_diverge_are_drawn_up_to_there() -> None:
    assert "●" in curve([1.0, 2.0, 50.0], [1.0, 3.0, nan], unicode=True)


def test_each_part_has_its_mark() -> None:
    parts = {
        "validation": Pair(machine=[4, 3, 3], reference=[4, 3, 3]),
        "test": Pair(machine=[4, 4, 4], reference=[4, 2, 2]),
    }
    lines = curve([4, 2, 1], [4, 2, 1], unicode=True, width=21, height=4, **parts).splitlines()
    # At first all parts meet, and the test part is shown; at the end each is in the row of its last loss.
    assert [line[-1] for line in lines[:4]] == ["○", "▲", "·", "●"]
    assert lines[0][5] == "○" and "●" not in lines[0]
    assert lines[-1].split() == ["●", "training", "▲", "validation", "○", "test", "·", "float64"]
    assert curve([4, 2], [4, 2], unicode=False, **parts).isascii()
