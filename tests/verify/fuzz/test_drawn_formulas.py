"""``make fuzz-formulas``: some formulas, that a fault is seen, and that its formula is made small."""

from __future__ import annotations

from random import Random

import pytest

from tests.languages.kernel.formulas import MEANINGS, Estimate, Formula, Meaning, wrong
from verify.fuzz import drawn_formulas
from verify.fuzz.drawn_formulas import FORMATS, drawn, smallest, words


@pytest.mark.parametrize("number", [*range(15), *(pytest.param(n, marks=pytest.mark.slow) for n in range(15, 2000))])
def test_a_drawn_formula(number: int) -> None:
    chance = Random(f"formula {number}")
    formula, fmt = drawn(chance), chance.choice(FORMATS)
    given = {name: words(chance, fmt) for name in "ab"}
    if formula.names() and len(formula.notations) > 1:
        assert wrong(formula, fmt, given) in ("", "refused"), f"{fmt} {formula}"


def test_a_fault_is_seen_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here TABLA adds where the others subtract."""
    other = Meaning(estimate=lambda a, b: a.plus(b, -1), tabla="({0} + {1})", tc="({0} - {1})", count=2)
    monkeypatch.setitem(MEANINGS, "-", other)
    fmt, chance = FORMATS[0], Random(1)
    given = {name: words(chance, fmt) for name in "ab"}
    formula = Formula("negative", (Formula("max", (Formula("-", ("a", "b")), Formula("exp", ("a",)))),))
    least, fault = smallest(formula, fmt, given)
    assert least == Formula("-", ("a", "b"))
    assert "tabla has" in fault and "tc" in fault


def test_a_wrong_value_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here all notations have the same words, which are not those of the real function."""
    wrongly = Meaning(estimate=Estimate.plus, tabla="({0} - {1})", tc="({0} - {1})", count=2)
    monkeypatch.setitem(MEANINGS, "+", wrongly)
    given = {name: words(Random(name), FORMATS[0]) for name in "ab"}
    assert "allowed" in wrong(Formula("+", ("a", "b")), FORMATS[0], given)


def test_the_command_counts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["drawn_formulas", "--seconds", "0.2", "--seed", "3"])
    assert drawn_formulas.main() == 0
    assert "held" in capsys.readouterr().out
