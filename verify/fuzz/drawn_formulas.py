"""``make fuzz-formulas``: draws formulas, and holds the words of all notations against each other and against float64.

A formula has up to three operators inside each other, of those that at least two notations have. A formula that shows a
fault is made smaller before it is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random

import numpy as np

from tabla.graph.format import Format
from tests.languages.kernel.formulas import MEANINGS, Formula, Words, wrong

FORMATS = [Format.parse(text) for text in ("q6.10", "q8.16", "q7.1", "q2.6", "q12.4", "q4.14", "q8.0", "q16.16")]
OPERATORS = [
    name for name, meaning in MEANINGS.items() if sum(map(bool, map(meaning.written, ("tabla", "tc", "tile")))) > 1
]
DEEPEST = 3
COUNT = 60
"""The pairs of words for which a formula is evaluated."""


def drawn(chance: Random, depth: int = 0) -> Formula:
    """Draw a formula."""
    operator = chance.choice(OPERATORS)
    meaning = MEANINGS[operator]
    operands: list[Formula | str | Fraction] = []
    for place in range(meaning.count):
        if place and meaning.constant:
            operands.append(number(chance, operator))
        elif depth + 1 < DEEPEST and chance.random() < 0.6:
            operands.append(drawn(chance, depth + 1))
        else:
            operands.append(chance.choice("ab"))
    return Formula(operator, tuple(operands))


def number(chance: Random, operator: str) -> Fraction:
    """Draw a constant, as a decimal number that all notations read alike."""
    match operator:
        case "power":
            return Fraction(
                chance.choice(["0", "1", "2", "3", "4", "7", "17", "-1", "-2", "-3", "0.5", "-0.5", "1.5", "0.7"])
            )
        case "plus":
            return Fraction(round(chance.uniform(-2, 2) * 4096), 4096)
    # Decimal and binary numbers are the same number: all notations read it alike.
    size = float(chance.randint(2, 200)) if chance.random() < 0.5 else 10 ** chance.uniform(-3.5, 1.5)
    return Fraction(max(1, round(size * 4096)), 4096) * chance.choice([1, -1])


def words(chance: Random, fmt: Format) -> Words:
    """Draw words: ends, small ones, and others of every size."""
    ends = [fmt.lowest, fmt.lowest + 1, -fmt.one, -1, 0, 1, fmt.one, fmt.highest]
    found = [
        chance.choice(ends)
        if chance.random() < 0.2
        else chance.randint(fmt.lowest, fmt.highest) >> chance.randrange(fmt.width - 1)
        for _ in range(COUNT)
    ]
    return np.array(found)


def smaller(formula: Formula) -> Iterator[Formula]:
    """Yield formulas that lack an operator."""
    for place, operand in enumerate(formula.operands):
        if isinstance(operand, Formula):
            yield operand
            others: list[Formula | str] = [*smaller(operand), "a", "b"]
            for other in others:
                yield Formula(formula.operator, (*formula.operands[:place], other, *formula.operands[place + 1 :]))


def smallest(formula: Formula, fmt: Format, given: dict[str, Words]) -> tuple[Formula, str]:
    """Return the smallest formula that still shows a fault, and the fault."""
    for each in smaller(formula):
        found = wrong(each, fmt, given) if each.names() else ""
        if found not in ("", "refused"):
            return smallest(each, fmt, given)
    return formula, wrong(formula, fmt, given)


def main() -> int:
    """Draw formulas for some seconds, and print each that shows a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=10, help="stop after so many faults")
    asked = parser.parse_args()
    counted, began, faults = Counter[str](), time.monotonic(), 0
    while time.monotonic() - began < asked.seconds and faults < asked.most:
        chance = Random(f"{asked.seed} {counted.total()}")
        formula, fmt = drawn(chance), chance.choice(FORMATS)
        given = {name: words(chance, fmt) for name in "ab"}
        found = wrong(formula, fmt, given) if len(formula.notations) > 1 and formula.names() else "said by one notation"
        counted[found if found in ("", "refused", "said by one notation") else "wrong"] += 1
        if found not in ("", "refused", "said by one notation"):
            faults += 1
            least, fault = smallest(formula, fmt, given)
            print(f"{fmt}: {least}: {fault}\n  drawn as {formula}", flush=True)
    held = ", ".join(f"{count:,} {kind or 'held'}" for kind, count in sorted(counted.items()))
    print(f"seed {asked.seed}, {time.monotonic() - began:.0f} s: {held}")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
