"""Tensor Comprehensions as loops: an interpreter that reads a kernel's text and shares no code with the product.

The lexer and the parser are in ``reader.py``. It has its own inference of ranges and its own arithmetic. Ranges are
found by trying numbers: an index has the values at which every subscript stays in its tensor, unless the conditions of
the read ensure that already. Values are Python numbers, taken one point at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from tests.corpus.reader import INTEGERS, Definition, Node, Reader

Number = Any
Range = tuple[int, int]
Path = tuple[tuple[Node, bool], ...]
"""Conditions on the way to a read, and whether each holds there."""

_REACH = 256
"""Every index of the kernels lies within this distance of 0."""
_NEAR = 40
"""What a condition on one or two indices excludes is found by trying indices up to this distance from 0."""
_FAR = 10**6

FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "tanh": math.tanh, "sin": math.sin, "cos": math.cos,
    "fabs": abs, "fmax": max, "fmin": min, "pow": lambda base, power: base**power, "hypot": math.hypot,
    "rsqrt": lambda x: 1 / math.sqrt(x),
}  # fmt: skip


@dataclass
class Array:
    """A tensor: the values at its positions, the range of each dimension, and whether it holds integers."""

    values: dict[tuple[int, ...], Number]
    ranges: list[Range]


@dataclass
class Result:
    """All tensors of a run, and the ranges of the indices of each statement that is no call, in order."""

    arrays: dict[str, Array]
    ranges: list[dict[str, Range]] = field(default_factory=list)


def nodes(node: Any) -> Iterator[Node]:
    """Return a node and all nodes in it."""
    if isinstance(node, (tuple, list)):
        if isinstance(node, tuple):
            yield node
        for part in node:
            yield from nodes(part)


def _reads(node: Any, path: Path = ()) -> Iterator[tuple[Node, Path]]:
    """Return all applications in a node, each with the conditions on the way to it, and whether they hold there."""
    match node:
        case ("choice", condition, chosen, other):
            yield from _reads(condition, path)
            yield from _reads(chosen, (*path, *_parts(condition, True)))
            yield from _reads(other, (*path, *_parts(condition, False)))
        case ("binary", "&&" | "||" as operator, left, right):
            yield from _reads(left, path)
            yield from _reads(right, (*path, *_parts(left, operator == "&&")))
        case tuple() | list():
            if node and node[0] == "apply":
                yield node, path
            for part in node:
                yield from _reads(part, path)


def _parts(condition: Node, truth: bool) -> Path:
    """Return the conditions that hold together when one of several parts holds or fails."""
    match condition:
        case ("unary", "!", operand):
            return _parts(operand, not truth)
        case ("binary", "&&" | "||" as operator, left, right) if truth == (operator == "&&"):
            return (*_parts(left, truth), *_parts(right, truth))
    return ((condition, truth),)


def run(text: str, name: str, inputs: dict[str, Array], sizes: dict[str, int]) -> Result:
    """Run the ``def`` called `name` on arrays, where `sizes` gives each size."""
    definitions = Reader(text).definitions()
    return _run(definitions, definitions[name], inputs, sizes)


def _run(
    definitions: dict[str, Definition], definition: Definition, inputs: dict[str, Array], sizes: dict[str, int]
) -> Result:
    done = Result(dict(inputs))
    for statement in definition.statements:
        call = _called(statement, definitions)
        if call is not None:
            _call(definitions, *call, done)
        else:
            done.ranges.append(_Loops(statement, done.arrays, sizes).run())
    return done


def _called(statement: Node, definitions: dict[str, Definition]) -> tuple[list[str], Node] | None:
    if statement[0] == "call":
        return statement[1], statement[2]
    _, target, indices, _, value, _ = statement
    return ([target], value) if indices is None and value[0] == "apply" and value[1] in definitions else None


def _call(definitions: dict[str, Definition], targets: list[str], value: Node, done: Result) -> None:
    inner = definitions[value[1]]
    given = {i[0]: _rebased(done.arrays[a[1]]) for i, a in zip(inner.inputs, value[2:], strict=True)}
    sizes = {}
    for name, _, dimensions in inner.inputs:
        for dimension, (low, high) in zip(dimensions, given[name].ranges, strict=True):
            sizes[dimension] = high - low
    found = _run(definitions, inner, given, sizes).arrays
    for target, result in zip(targets, inner.results, strict=True):
        done.arrays[target] = _rebased(found[result])


def _rebased(array: Array) -> Array:
    lows = [low for low, _ in array.ranges]
    moved = {tuple(i - low for i, low in zip(at, lows, strict=True)): value for at, value in array.values.items()}
    return Array(moved, [(0, high - low) for low, high in array.ranges])


class _Loops:
    """One statement as nested loops."""

    def __init__(self, statement: Node, arrays: dict[str, Array], sizes: dict[str, int]) -> None:
        _, self.target, indices, self.operator, self.value, self.clauses = statement
        self.left: list[str] = indices or []
        self.arrays, self.sizes = arrays, sizes
        self.lets = {clause[1]: clause[2] for clause in self.clauses if clause[0] == "let"}
        self.given = {clause[1]: clause[2:] for clause in self.clauses if clause[0] == "in"}
        self.indices = self._indices()

    def _indices(self) -> list[str]:
        known = self.sizes.keys() | self.arrays.keys() | self.lets.keys()
        named = [node[1] for node in nodes([self.clauses, self.value]) if node[0] == "name"]
        return list(dict.fromkeys([*self.left, *self.given, *(name for name in named if name not in known)]))

    def run(self) -> dict[str, Range]:
        ranges = self._infer()
        reduces = self.operator != "="
        box = [ranges[name] for name in self.left]
        target = self.arrays.get(self.target)
        before = Array(dict(target.values), list(target.ranges)) if target is not None else Array({}, [])
        self.before = self.arrays | {self.target: before}
        values = dict(before.values)
        hull = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(box, before.ranges or box, strict=True)]
        if reduces and self.operator.endswith("!"):
            values = {}
        identity = {"+": 0, "*": 1, "max": -3.4028234663852886e38, "min": 3.4028234663852886e38}
        empty = identity[self.operator.rstrip("!").rstrip("=")] if self.operator.endswith("!") else 0
        for at in product(*(range(low, high) for low, high in hull)):
            values.setdefault(at, empty)
        for numbers in product(*(range(low, high) for low, high in ranges.values())):
            point = dict(zip(ranges, numbers, strict=True))
            if all(self._at(low, point) <= point[i] < self._at(high, point) for i, (low, high) in self.given.items()):
                at = tuple(point[name] for name in self.left)
                values[at] = self._combined(values[at], self._at(self.value, point))
        self.arrays[self.target] = Array(values, hull)
        return ranges

    def _combined(self, old: Number, new: Number) -> Number:
        match self.operator.rstrip("!"):
            case "=":
                return new
            case "+=":
                return old + new
            case "*=":
                return old * new
            case "min=":
                return min(old, new)
            case _:
                return max(old, new)

    def _infer(self) -> dict[str, Range]:
        self.before = self.arrays
        bounds, unguarded = [], []
        for node, path in [*_reads(self.value), *_reads(self.clauses)]:
            if node[1] in self.arrays:
                for subscript, limits in zip(node[2:], self.arrays[node[1]].ranges, strict=True):
                    if self._takes_part(subscript):
                        bounds.append((subscript, limits))
                        unguarded.append((subscript, self._demanded(subscript, limits, path)))
        target = self.arrays.get(self.target)
        if target is not None and self.operator != "=":
            own = [(("name", i), limits) for i, limits in zip(self.left, target.ranges, strict=True)]
            bounds, unguarded = bounds + own, unguarded + own
        solved: dict[str, Range] = {}
        while len(solved) < len(self.indices):
            found = self._solved(unguarded, solved) or self._solved(bounds, solved)
            assert found, f"no range for {set(self.indices) - solved.keys()}"
            solved |= found
        return {name: solved[name] for name in self.indices}

    def _solved(self, bounds: list[tuple[Node, Range]], solved: dict[str, Range]) -> dict[str, Range]:
        tried = {index: self._solve(index, bounds, solved) for index in self.indices if index not in solved}
        return {index: interval for index, interval in tried.items() if interval is not None}

    def _demanded(self, subscript: Node, limits: Range, path: Path) -> Range:
        """Return the limits that a read demands beyond what its conditions ensure. A limit of `_FAR` demands nothing.

        A condition counts only if all of its indices are in the subscript, so few numbers have to be tried.
        """
        names = sorted(self._free(subscript))
        told = [(c, truth) for c, truth in path if self._of_indices(c) and self._free(c) <= set(names)]
        low, high = limits
        if not told or len(names) > 2:
            return limits
        places = [
            self._at(subscript, point, floor=True)
            for numbers in product(range(-_NEAR, _NEAR), repeat=len(names))
            if (point := dict(zip(names, numbers, strict=True))) is not None
            and all(bool(self._at(condition, point)) == truth for condition, truth in told)
        ]
        return -_FAR if all(low <= at for at in places) else low, _FAR if all(at < high for at in places) else high

    def _of_indices(self, node: Node) -> bool:
        return all(part[0] != "apply" and (part[0] != "name" or part[1] not in self.arrays) for part in nodes(node))

    def _takes_part(self, node: Node) -> bool:
        """Whether a subscript is affine; quotients by a constant count as affine."""
        match node:
            case ("name", name) if name in self.lets:
                return self._takes_part(self.lets[name])
            case ("name", name):
                return name not in self.arrays
            case ("constant" | "extent", *_):
                return True
            case ("unary", "-", operand):
                return self._takes_part(operand)
            case ("binary", "+" | "-", left, right):
                return self._takes_part(left) and self._takes_part(right)
            case ("binary", "*", left, right):
                one = not (self._free(left) and self._free(right))
                return one and self._takes_part(left) and self._takes_part(right)
            case ("binary", "/", left, right):
                return self._takes_part(left) and not self._free(right)
        return False

    def _free(self, node: Node) -> set[str]:
        found = {part[1] for part in nodes(node) if part[0] == "name"}
        for let in found & self.lets.keys():
            found |= self._free(self.lets[let])
        return found & set(self.indices)

    def _solve(self, index: str, bounds: list[tuple[Node, Range]], solved: dict[str, Range]) -> Range | None:
        """Return the range of an index, given those that are solved, or None where it has to wait."""
        if index in self.given:
            low, high = self.given[index]
            if (self._free(low) | self._free(high)) - solved.keys():
                return None
            return min(self._over(low, solved)), max(self._over(high, solved))
        if any(name not in solved for name in self.given):
            return None
        own = [(form, limits) for form, limits in bounds if index in self._free(form) <= {index, *solved}]
        if not own:
            return None
        fits = [
            value
            for value in range(-_REACH, _REACH)
            if all(
                limits[0] <= place < limits[1]
                for form, limits in own
                for place in self._over(form, solved | {index: (value, value + 1)}, floor=True)
            )
        ]
        assert fits, f"the range of {index} is empty"
        assert fits == list(range(fits[0], fits[-1] + 1))
        return (fits[0], fits[-1] + 1) if -_REACH < fits[0] and fits[-1] < _REACH - 1 else None

    def _over(self, form: Node, ranges: dict[str, Range], floor: bool = False) -> list[int]:
        """Return a form's values at the corners of the ranges. A form rises or falls in each index."""
        names = sorted(self._free(form))
        corners = product(*((ranges[name][0], ranges[name][1] - 1) for name in names))
        return [self._at(form, dict(zip(names, corner, strict=True)), floor) for corner in corners]

    def _at(self, node: Node, point: dict[str, int], floor: bool = False) -> Number:
        match node:
            case ("constant", value):
                return value
            case ("name", name):
                if name in point:
                    return point[name]
                if name in self.lets:
                    return self._at(self.lets[name], point, floor)
                return self.sizes[name] if name in self.sizes else self.before[name].values[()]
            case ("extent", tensor, axis):
                low, high = self.before[tensor].ranges[axis]
                return high - low
            case ("unary", operator, operand):
                value = self._at(operand, point, floor)
                return -value if operator == "-" else not value
            case ("cast", kind, operand):
                value = self._at(operand, point, floor)
                return int(value) if kind in INTEGERS else bool(value) if kind == "bool" else float(value)
            case ("choice", condition, chosen, other):
                return self._at(chosen if self._at(condition, point, floor) else other, point, floor)
            case ("binary", "&&", left, right):
                return bool(self._at(left, point, floor) and self._at(right, point, floor))
            case ("binary", "||", left, right):
                return bool(self._at(left, point, floor) or self._at(right, point, floor))
            case ("binary", operator, left, right):
                return _binary(operator, self._at(left, point, floor), self._at(right, point, floor), floor)
            case ("apply", name, *arguments):
                values = [self._at(argument, point, floor) for argument in arguments]
                if name in self.before:
                    return self.before[name].values[tuple(values)]
                if name in ("min", "max"):
                    return min(values) if name == "min" else max(values)
                return float(FUNCTIONS[name](*map(float, values)))
        raise AssertionError(node)


def _binary(operator: str, left: Number, right: Number, floor: bool) -> Number:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if isinstance(left, float) or isinstance(right, float):
            return left / right
        case "/":
            return left // right if floor or (left < 0) == (right < 0) else -(abs(left) // abs(right))
        case "%" if isinstance(left, float) or isinstance(right, float):
            return math.fmod(left, right)
        case "%":
            return int(math.copysign(abs(left) % abs(right), left))
        case "<":
            return left < right
        case ">":
            return left > right
        case "<=":
            return left <= right
        case ">=":
            return left >= right
        case "==":
            return left == right
    return left != right
