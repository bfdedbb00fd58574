"""Sums with a name that only quotients by constants read.

In a ``.t`` file a name is a word, so such a sum may saturate before it is divided, although the quotient fits the
format. ``tabla check`` and ``tabla gen`` say so (decision 22).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from math import prod

from tabla.graph.format import Format
from tabla.graph.graph import Constant, Index, Term
from tabla.languages.kernel.choices import adds
from tabla.languages.kernel.quantise import shown
from tabla.languages.tabla.constants import constant_value
from tabla.languages.tabla.operators import Operator
from tabla.languages.tabla.program import Expression, Node, Operation, Program, Read


def divided_alone(program: Program, seen: Collection[str]) -> dict[str, Fraction]:
    """Return the names that only quotients by constants read, each with the constant of its first quotient.

    `seen` are the names that somebody reads outside of the program. They are left out.
    """
    dividends: dict[str, Fraction] = {}
    others = set(seen)
    for assignment in program.assignments:
        for node in _nodes(assignment.value):
            match node:
                case Operation(operator=Operator.DIVIDE, left=Read(name=name), right=right) if divisor := _known(right):
                    dividends.setdefault(name, divisor)
                case _:
                    others.update(part.name for part in _operands(node) if isinstance(part, Read))
        if isinstance(assignment.value, Read):
            others.add(assignment.value.name)
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


def _operands(node: Node) -> Iterator[Node]:
    for each in (getattr(node, field.name) for field in fields(node)):
        yield from (part for part in (each if isinstance(each, tuple) else (each,)) if isinstance(part, Node))


def _nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes below it, in no particular order."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += _operands(found)
