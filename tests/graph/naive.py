"""Decision 2 read aloud: an interpreter of graphs, one scalar at a time, that shares nothing with `evaluate`.

Only the graph, the format and the integers of the function tables are taken from the code under test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import floor, isqrt, trunc

from tabla.graph.format import Format
from tabla.graph.functions import table
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Graph,
    Index,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Statement,
)

Element = tuple[str, tuple[int, ...]]
Point = Mapping[str, int]


def points(indices: tuple[Index, ...]) -> Iterator[dict[str, int]]:
    """Every point of a box, lexicographic."""
    for values in product(*(range(index.low, index.high) for index in indices)):
        yield dict(zip((index.name for index in indices), values, strict=True))


def inside(statement: Statement, at: Iterator[dict[str, int]], point: Point | None = None) -> Iterator[dict[str, int]]:
    """Those points that satisfy all constraints that mention no other index than theirs and those of `point`."""
    for inner in at:
        whole = {**(point or {}), **inner}
        known = [c for c in statement.constraints if all(name in whole for name, _ in c.coefficients)]
        if all(constraint.at(whole) >= 0 for constraint in known):
            yield inner


def elements(name: str, shape: tuple[int, ...]) -> Iterator[Element]:
    """Every element of a tensor."""
    return ((name, position) for position in product(*map(range, shape)))


@dataclass
class Naive:
    """Words of elements; `overflows`, `domain_errors`, `updates` and `zero_updates` count as they should."""

    graph: Graph
    format: Format
    words: dict[Element, int]
    overflows: int = 0
    domain_errors: int = 0
    updates: int = 0
    zero_updates: int = 0
    next: dict[Element, int] = field(default_factory=dict)

    def run(self) -> None:
        """One sample. Afterwards `words` has every element and `next` the models after it."""
        for model, following in self.graph.updates.items():
            for _, position in elements(model, self.graph.tensors[model].shape):
                self.words[following, position] = self.words[model, position]
        for statement in self.graph.statements:
            for point in inside(statement, points(statement.indices)):
                position = self.at(statement.write, point)
                word = self.compute(statement, point)
                if statement.target in self.graph.updates.values():
                    self.count_update(statement, point, position, word)
                self.words[statement.target, position] = word
        for model, following in self.graph.updates.items():
            for _, position in elements(model, self.graph.tensors[model].shape):
                self.next[model, position] = self.words[following, position]

    def at(self, subscripts: tuple[Affine, ...], point: Point) -> tuple[int, ...]:
        return tuple(subscript.at(point) for subscript in subscripts)

    def value(self, operand: Operand, point: Point) -> int:
        match operand:
            case Read():
                return self.words[operand.tensor, self.at(operand.subscripts, point)]
            case Constant():
                return floor(operand.value * (1 << self.format.fraction) + Fraction(1, 2))
            case Ordinal():
                return operand.value.at(point) << (self.format.fraction - operand.fraction)

    def saturate(self, word: int) -> int:
        low, high = -(1 << self.format.width - 1), (1 << self.format.width - 1) - 1
        self.overflows += not low <= word <= high
        return min(max(word, low), high)

    def exact_sum(self, statement: Statement, operation: Linear, point: Point) -> int:
        boxes = {index.name: index for index in statement.reduced}
        scale = 1 << (self.format.fraction + operation.shift)
        total = 0
        for term in operation.terms:
            for inner in inside(statement, points(tuple(boxes[name] for name in term.reduce)), point):
                values = [self.value(factor, {**point, **inner}) for factor in term.factors]
                total += term.sign * (values[0] * values[1] if len(values) == 2 else values[0] * scale)
        return total

    def compute(self, statement: Statement, point: Point) -> int:
        one = 1 << self.format.fraction
        operation = statement.operation
        match operation:
            case Linear():
                scale = Fraction(1 << (self.format.fraction + operation.shift))
                total = self.exact_sum(statement, operation, point)
                return self.saturate(floor(total / scale + Fraction(1, 2)) if scale > 1 else total)
            case Compare():
                left, right = self.value(operation.left, point), self.value(operation.right, point)
                held = {
                    "<": left < right,
                    "<=": left <= right,
                    ">": left > right,
                    ">=": left >= right,
                    "==": left == right,
                    "!=": left != right,
                }
                return one if held[operation.op] else 0
            case Function():
                return self.function(operation.name, self.value(operation.operand, point))
            case Divide():
                left, right = self.value(operation.left, point), self.value(operation.right, point)
                if right == 0:
                    self.domain_errors += 1
                    return (1 << self.format.width - 1) - 1 if left >= 0 else -(1 << self.format.width - 1)
                if operation.fraction is not None:
                    return self.saturate(trunc(Fraction(left, right)))
                return self.saturate(floor(Fraction(left * one, right) + Fraction(1, 2)))
            case Product():
                boxes = {index.name: index for index in statement.reduced}
                unit = 1 << (self.format.fraction + operation.shift)
                word = unit if operation.initial is None else self.value(operation.initial, point)
                for inner in inside(statement, points(tuple(boxes[name] for name in operation.reduce)), point):
                    exact = Fraction(word * self.value(operation.operand, {**point, **inner}), unit)
                    word = self.saturate(floor(exact + Fraction(1, 2)))
                return word
            case Extreme():
                boxes = {index.name: index for index in statement.reduced}
                box = inside(statement, points(tuple(boxes[name] for name in operation.reduce)), point)
                found = [self.value(operand, {**point, **p}) for p in box for operand in operation.operands]
                if operation.initial is not None:
                    found.append(self.value(operation.initial, point))
                low, high = -(1 << self.format.width - 1), (1 << self.format.width - 1) - 1
                return max(found, default=low) if operation.op == "max" else min(found, default=high)

    def function(self, name: str, x: int) -> int:
        made = table(name, self.format)
        width, fraction, integer = self.format.width, self.format.fraction, self.format.integer

        def value(i: int, f: int, more: int = 0) -> int:
            slope = made.slope[i]
            if fraction > 16:
                c = max(0, made.shift - 17)
                slope += made.curve[i] * ((2**made.shift - 1 - f) >> c) >> (made.shift - c)
            total = (made.base[i] << made.shift) + slope * f + (more << made.shift)
            return (total + (1 << (made.shift + made.guard - 1))) >> (made.shift + made.guard)

        match name:
            case "sigmoid" | "tanh" | "gaussian" | "erf" | "atan" | "arc":
                reach = 1 << made.reach
                u = max(-reach, min(reach - 1, x)) + reach
                return self.saturate(value(u >> made.shift, u & ((1 << made.shift) - 1)))
            case "exp":
                scaled, e = x * made.constant, 24 if fraction > 16 else 16
                n = scaled >> (fraction + e)
                if n >= integer - 1:
                    return self.saturate(1 << width - 1)
                r = (scaled % (1 << (fraction + e))) >> (fraction + e - made.fraction_bits)
                rest = made.fraction_bits - made.index_bits
                s = width + 1 - fraction - n
                m = value(r >> rest, r % (1 << rest))
                return 0 if s > width + 2 else self.saturate((m + (1 << (s - 1))) >> s)
            case "sin" | "cos":
                point = fraction + min(width + 3, 33)
                r = (x * made.constant % (1 << point)) >> (point - made.fraction_bits)
                rest = made.fraction_bits - made.index_bits
                return self.saturate(value(r >> rest, r % (1 << rest)))
            case "log":
                if x <= 0:
                    self.domain_errors += 1
                    return -(1 << width - 1)
                p = x.bit_length() - 1
                z = (x << (width - 2 - p)) % (1 << (width - 2))
                rest = width - 2 - made.index_bits
                return self.saturate(value(z >> rest, z % (1 << rest), made.exponent[p]))
            case "sqrt":
                if x < 0:
                    self.domain_errors += 1
                    return 0
                return (isqrt(4 * (x << fraction)) + 1) >> 1
            case "divide" | "quotient":
                raise AssertionError("division is no function of one operand")

    def count_update(self, statement: Statement, point: Point, position: tuple[int, ...], word: int) -> None:
        self.updates += 1
        model = next(m for m, following in self.graph.updates.items() if following == statement.target)
        own = (Read(tensor=model, subscripts=statement.write),)
        if not isinstance(statement.operation, Linear):
            return
        terms = list(statement.operation.terms)
        kept = next((t for t in terms if t.factors == own and t.sign == 1 and not t.reduce), None)
        if kept is None:
            return
        terms.remove(kept)
        rest = Linear(terms=tuple(terms), shift=statement.operation.shift)
        if self.exact_sum(statement, rest, point) != 0 and word == self.words[model, position]:
            self.zero_updates += 1
