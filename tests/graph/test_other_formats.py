"""Formats of other tools: the format that is offered exists, and holds every value of the other one."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import TablaValueError
from tabla.commands.cli import main
from tabla.graph.format import LARGEST_WIDTH, LEAST_INTEGER, LEAST_WIDTH, MOST_FRACTION, Format
from tabla.graph.other_formats import Limits
from tabla.graph.other_formats import cure as cure_within

LIMITS = Limits(integer=LEAST_INTEGER, fraction=MOST_FRACTION, narrowest=LEAST_WIDTH, widest=LARGEST_WIDTH)


def cure(text: str) -> str | None:
    return cure_within(text, LIMITS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ap_fixed<16,6>", "write q6.10: I counts the sign in both"),
        ("ap_fixed< 16, 6 >", "write q6.10: I counts the sign in both"),
        ("ap_fixed<16,6,AP_RND,AP_SAT>", "write q6.10: I counts the sign in both"),
        ("fixed<16,6>", "write q6.10: I counts the sign in both"),
        ("ac_fixed<16,6,true>", "write q6.10: I counts the sign in both"),
        ("ap_ufixed<16,6>", "write q7.10, which holds all values of ap_ufixed<16,6>: words are signed"),
        ("ufixed<8,0>", "write q2.8, which holds all values"),
        ("ac_fixed<16,6,false>", "write q7.10"),
        ("ap_fixed<8,1>", "write q2.7, which holds all values: I is 2 or more"),
        ("ap_fixed<4,2>", "write q2.6, which holds all values"),
        ("ap_fixed<64,32>", "no word has these 64"),
        ("ap_fixed<16", "ap_fixed<W,I> is qI.F with F = W - I"),
        ("Q6.10", "write q6.10 if the 6 bits of Q6.10 count the sign (ARM), q7.10 if not (Texas Instruments)"),
        ("UQ6.10", "write q7.10: words are signed"),
        ("Q15", "write q2.15, which holds all values"),
        ("int8", "write q8.0 for whole numbers; autoN"),
        ("uint8", "write q9.0 for whole numbers"),
        ("ap_int<12>", "write q12.0 for whole numbers"),
        ("int64", "no word has these 64"),
        ("float32", "words are fixed point"),
    ],
)
def test_the_cure_names_the_format(text: str, said: str) -> None:
    with pytest.raises(TablaValueError, match="is not a number format") as fault:
        Format.parse(text)
    assert said in (fault.value.hint or "")


@given(st.integers(1, 40), st.integers(-4, 44), st.sampled_from(["ap_fixed", "ap_ufixed"]))
def test_the_offered_format_holds_every_value(width: int, integer: int, name: str) -> None:
    unsigned = name == "ap_ufixed"
    found = re.search(r"\bq(\d+)\.(\d+)", cure(f"{name}<{width},{integer}>") or "")
    fraction = width - integer
    if "no word has" in (cure(f"{name}<{width},{integer}>") or ""):
        assert max(integer + unsigned, 2) + max(fraction, 0) > LARGEST_WIDTH or fraction > MOST_FRACTION
        return
    assert found is not None
    held = Format(integer=int(found[1]), fraction=int(found[2]))
    # The extremes of W bits with I before the point, and its unit.
    unit = Fraction(2) ** -fraction
    least, most = (
        (0, (2**width - 1) * unit) if unsigned else (-(2 ** (width - 1)) * unit, (2 ** (width - 1) - 1) * unit)
    )
    for value in (least, most, unit):
        word = value * held.one
        assert word.denominator == 1 and (value == unit or held.lowest <= word <= held.highest)


def test_the_limits_are_those_of_formats() -> None:
    Format(integer=LEAST_INTEGER, fraction=MOST_FRACTION)
    Format(integer=LEAST_WIDTH, fraction=0)
    for integer, fraction in ((LEAST_INTEGER - 1, 10), (2, MOST_FRACTION + 1), (LEAST_WIDTH - 1, 0), (16, 17)):
        with pytest.raises(TablaValueError):
            Format(integer=integer, fraction=fraction)


@pytest.mark.parametrize("text", ["", "q", "six", "auto", "Sensor", "q6", "fix", "in", "ap_fixed"])
def test_other_texts_are_no_formats_of_other_tools(text: str) -> None:
    assert text in ("q6", "ap_fixed") or cure(text) is None


def test_the_command_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "tabla/examples/linear.t", "--format", "ap_fixed<16,6>"]) == 1
    assert capsys.readouterr().err == (
        "error: 'ap_fixed<16,6>' is not a number format\nhint: write q6.10: I counts the sign in both\n"
    )
