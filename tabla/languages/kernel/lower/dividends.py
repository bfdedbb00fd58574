"""Sums with a name that only quotients by constants read.

A name is a word, so such a sum may saturate before it is divided, although the quotient fits the format. ``tabla
check`` and ``tabla gen`` say so (decision 22).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import prod

from tabla.graph.format import Format
from tabla.graph.graph import Constant, Index, Term
from tabla.languages.kernel.constants import constant_value
from tabla.languages.kernel.lower.choices import adds
from tabla.languages.kernel.lower.quantise import shown
from tabla.languages.kernel.tree import Apply, Expression, Gather, Kernel, Read, Reduce, walk


def divided_alone(kernel: Kernel, seen: Collection[str]) -> dict[str, Fraction]:
    """Return the names that only quotients by constants read, each with the constant of its first quotient.

    `seen` are the names that somebody reads outside of the program. They are left out.
    """
    dividends: dict[str, Fraction] = {}
    others = set(seen)
    for statement in kernel.statements:
        if isinstance(statement.value, Read):
            others.add(statement.value.tensor)
        others.update(part.tensor for part in walk(statement.value) if isinstance(part, Gather))
        for part in walk(statement.value):
            match part:
                case Apply(function="divide", type="real", arguments=(Read(tensor=name), right)) if divisor := _known(
                    right
                ):
                    dividends.setdefault(name, divisor)
                case Apply(arguments=arguments):
                    others.update(argument.tensor for argument in arguments if isinstance(argument, Read))
                case Reduce(body=Read(tensor=name)):
                    others.add(name)
    return {name: divisor for name, divisor in dividends.items() if name not in others}


def remark(name: str, divisor: Fraction, terms: Sequence[Term], ranges: Mapping[str, Index], fmt: Format) -> str | None:
    """Return what to say of a sum that is only divided, or None if its terms cannot add up to more than a word."""
    words = Fraction(-fmt.lowest, fmt.one)

    def most(term: Term) -> Fraction:
        sizes = (abs(f.value) if isinstance(f, Constant) else words for f in term.factors)
        return prod(sizes, start=Fraction(prod(ranges[index].extent for index in term.reduce)))

    if not adds(terms) or sum(map(most, terms)) <= words:
        return None
    end = shown(Fraction(fmt.highest, fmt.one))
    return (
        f"'{name}' is a word of {fmt}, so it may saturate at {end} before it is divided by {shown(divisor)}; "
        f"write the sum where it is divided, without a name"
    )


def _known(expression: Expression) -> Fraction | None:
    value = constant_value(expression)
    return None if value is None or abs(value) <= 1 else value
