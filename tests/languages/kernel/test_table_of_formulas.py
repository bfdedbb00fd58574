"""The table of formulas: every operator and function at the corners of three formats, in each notation that has it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tabla.graph.format import Format
from tests.languages.kernel.formulas import MEANINGS, Formula, Words, wrong

FORMATS = [Format.parse(text) for text in ("q6.10", "q8.16", "q7.1")]
NUMBERS: dict[str, tuple[str, ...]] = {
    "times": ("2", "-0.75", "0.1", "3", "100", "0.0001", "1000", "-1"),
    "over": ("2", "-0.75", "3", "10", "100", "1000", "-1"),
    "plus": ("1", "-0.5", "3.25"),
    "power": (
        "0",
        "1",
        "2",
        "3",
        "4",
        "10",
        "16",
        "17",
        "20",
        "-1",
        "-2",
        "-5",
        "0.5",
        "-0.5",
        "1.5",
        "-2.5",
        "0.7",
        "-0.3",
    ),
}
"""The constants beside which an operator stands."""


def corners(fmt: Format) -> Words:
    """The ends of a format, the words around 0, a half, 1, 2 and the root of the largest number, and some more."""
    near = [0, fmt.one // 2, fmt.one, 2 * fmt.one, round(fmt.one * (fmt.highest / fmt.one) ** 0.5), fmt.highest - 2]
    around = {word + step for word in near for step in (-1, 0, 1, 2)}
    drawn = np.random.default_rng(45).integers(fmt.lowest, fmt.highest, 6).tolist()
    words = {*around, *(-word for word in around), *drawn, fmt.lowest, fmt.lowest + 1, fmt.highest}
    return np.array(sorted(word for word in words if fmt.lowest <= word <= fmt.highest))


def formulas() -> list[Formula]:
    """Each operator with the operands a and b, or with a and each constant."""
    found = []
    for name, meaning in MEANINGS.items():
        for number in NUMBERS[name] if meaning.constant else ("",):
            others = ("a", Fraction(number)) if number else ("a", "b")[: meaning.count]
            found.append(Formula(name, others))
    return found


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("formula", formulas(), ids=str)
def test_a_formula(formula: Formula, fmt: Format) -> None:
    words = corners(fmt)
    pairs = np.array(list(product(words, words))) if len(formula.names()) == 2 else np.array([words, words]).T
    found = wrong(formula, fmt, {"a": pairs[:, 0], "b": pairs[:, 1]})
    # So small a factor makes nothing but zeros, and so large a one nothing but the ends: both are refused.
    beyond = [op for op in formula.operands if isinstance(op, Fraction) and not 1 / 999 < abs(op) < 999]
    assert found in ("", "refused") if beyond and fmt.width == 8 else found == ""


APART = [
    Formula("times", (Formula(sign, (Formula("*", ("a", "b")), "a")), Fraction(number)))
    for sign, number in product(("+", "-"), ("3", "50", "-10.7", "0.3", "0.9", "-0.5"))
]
"""Words and products of words in one sum, whose multiples may saturate apart although their sum does not."""
NEGATED = [
    Formula("*", (Formula("negative", (Formula(name, ("a", "b")[: MEANINGS[name].count]),)), "b"))
    for name in ("+", "-", "*", "min", "max", "absolute", "softplus", "choice", "negative", "exp")
]
BESIDE = [
    Formula(sign, (Formula("times", ("a", Fraction(number))), Formula(name, ("b", "a")[: MEANINGS[name].count])))
    for name, sign, number in product(("max", "absolute", "softplus"), "+-", ("-50", "0.3"))
]
"""A choice beside a term that a constant scales."""
SPREAD = [
    Formula("times", (Formula("+", (Formula("over", ("b", Fraction(-59))), "a")), Fraction(number)))
    for number in ("-60", "3.7", "0.9")
]
"""Constants of a sum that are far apart, so that each has a place of its own."""
TWICE = (
    SPREAD
    + APART
    + NEGATED
    + BESIDE
    + [
        Formula(
            outer, (Formula(inner, ("a", "b")), "a") if MEANINGS[outer].count == 2 else (Formula(inner, ("a", "b")),)
        )
        for outer, inner in product(
            ("+", "-", "*", "min", "max", "absolute", "negative", "softplus"), ("+", "*", "min", "max")
        )
    ]
    + [
        Formula(outer, (Formula(inner, ("a", "b")[: MEANINGS[inner].count]), Fraction(number)))
        for (outer, number), inner in product(
            (("times", "0.1"), ("times", "3"), ("over", "3"), ("over", "100"), ("plus", "0.1")),
            ("+", "-", "*", "/", "min", "max", "absolute", "softplus", "negative", "sqrt"),
        )
    ]
)


@pytest.mark.parametrize("formula", TWICE, ids=str)
def test_a_formula_of_two_operators(formula: Formula) -> None:
    for fmt in FORMATS:
        words = corners(fmt)[::3]
        pairs = np.array(list(product(words, words)))
        assert wrong(formula, fmt, {"a": pairs[:, 0], "b": pairs[:, 1]}) == "", fmt


@pytest.mark.parametrize("inner", [">", "min", "absolute", "sigmoid", "negative", "exp", "a"])
@pytest.mark.parametrize(("divisor", "factor"), [(75, 193), (75, 100), (2, 193), (100, 3)])
def test_small_constants_in_a_format_without_fraction_bits(inner: str, divisor: int, factor: int) -> None:
    """What the machine has no place for, it has in no notation: 1/75 is below 2^-(W - 2), so the quotient is a word."""
    value: Formula | str = "a" if inner == "a" else Formula(inner, ("a", "b")[: MEANINGS[inner].count])
    formula = Formula("times", (Formula("over", (value, Fraction(divisor))), Fraction(factor)))
    words = np.array([-128, -75, -38, -1, 0, 1, 2, 37, 75, 127])
    pairs = np.array(list(product(words, words)))
    found = wrong(formula, Format.parse("q8.0"), {"a": pairs[:, 0], "b": pairs[:, 1]})
    assert found == ("refused" if factor == 193 and divisor == 75 else ""), formula
