"""The loss curve in the terminal."""

from __future__ import annotations

from tabla.training.curve import curve


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
