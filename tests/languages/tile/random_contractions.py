"""Random contractions, written as data: built through the notation, and computed by trying all index values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tabla.languages.tile import Program, trace
from tabla.tile import TensorIndexes, TensorOutput, cond

Array = np.ndarray[Any, Any]
# Every index value of a contraction that is drawn lies well inside.
REACH = 18
COUNT = 3


@dataclass(frozen=True)
class Form:
    """``(sum(factors * index) + constant) // divisor``."""

    factors: tuple[int, ...]
    constant: int
    divisor: int

    def written(self, indices: Any) -> Any:
        """As a subscript of the notation."""
        total: Any = self.constant
        for factor, index in zip(self.factors, indices, strict=True):
            if factor:
                total = total + factor * index
        return total // self.divisor if self.divisor > 1 and any(self.factors) else total


@dataclass(frozen=True)
class Drawn:
    """A contraction: shapes and subscripts of the output and the sources, constraints as (form, bound)."""

    aggregation: str
    combination: str
    shape: tuple[int, ...]
    write: tuple[Form, ...]
    shapes: tuple[tuple[int, ...], ...]
    reads: tuple[tuple[Form, ...], ...]
    constraints: tuple[tuple[Form, int], ...]

    def traced(self) -> Program:
        """Through the notation."""

        def function(A: Any, B: Any = None, C: Any = None) -> Any:
            indices = TensorIndexes(COUNT)
            parts = [
                tensor[tuple(form.written(indices) for form in forms)]
                for tensor, forms in zip((A, B, C), self.reads, strict=False)
            ]
            match self.combination:
                case "none":
                    right = parts[0]
                case "multiply":
                    right = parts[0] * parts[1]
                case "add":
                    right = parts[0] + parts[1]
                case _:
                    right = cond(*parts)
            O = TensorOutput(*self.shape)
            key = tuple(form.written(indices) for form in self.write)
            match self.aggregation:
                case "sum":
                    O[key] += right
                case "product":
                    O[key] *= right
                case "max":
                    O[key] >= right
                case "min":
                    O[key] <= right
                case _:
                    O[key] = right
            for form, bound in self.constraints:
                O.add_constraint(_expression(form, indices) < bound)
            return O

        return trace(function, dict(zip("ABC", self.shapes, strict=False)))

    def brute(self, arrays: list[Array]) -> tuple[Array, Array]:
        """(result, how many valid index values lead to each element), by trying all index values in reach."""
        line = np.arange(-REACH, REACH + 1)
        grid = np.stack([axis.reshape(-1) for axis in np.meshgrid(*[line] * COUNT, indexing="ij")])
        # Variables that nothing mentions have one value.
        valid = np.ones(grid.shape[1], dtype=bool)
        for place in range(COUNT):
            if not any(form.factors[place] for form in self.forms()):
                valid &= grid[place] == 0
        limits = [*zip(self.write, self.shape, strict=True)]
        for forms, shape in zip(self.reads, self.shapes, strict=True):
            limits += zip(forms, shape, strict=True)
        for form, bound in [*limits, *self.constraints]:
            raw = np.array(form.factors) @ grid + form.constant
            divisor = form.divisor if any(form.factors) else 1
            valid &= raw % divisor == 0
            valid &= (raw // divisor >= 0) & (raw // divisor < bound)
        assert not (abs(grid[:, valid]) == REACH).any(), "the reach of the brute force is too short"
        result, counts = np.zeros(self.shape), np.zeros(self.shape, dtype=int)
        for point in grid[:, valid].T:
            parts = [a[self._at(forms, point)] for a, forms in zip(arrays, self.reads, strict=True)]
            value = self._combined(parts)
            place = self._at(self.write, point)
            result[place] = value if not counts[place] else self._joined(result[place], value)
            counts[place] += 1
        return result, counts

    def forms(self) -> list[Form]:
        """All index expressions."""
        return [*self.write, *(form for forms in self.reads for form in forms), *(form for form, _ in self.constraints)]

    def _at(self, forms: tuple[Form, ...], point: Array) -> tuple[int, ...]:
        return tuple((int(np.array(f.factors) @ point) + f.constant) // _divisor(f) for f in forms)

    def _combined(self, parts: list[Any]) -> float:
        match self.combination:
            case "none":
                return float(parts[0])
            case "multiply":
                return float(parts[0] * parts[1])
            case "add":
                return float(parts[0] + parts[1])
            case _:
                return float(parts[2]) if parts[0] == parts[1] else 0.0

    def _joined(self, one: float, other: float) -> float:
        match self.aggregation:
            case "product":
                return one * other
            case "max":
                return max(one, other)
            case "min":
                return min(one, other)
            case _:
                return one + other


def _divisor(form: Form) -> int:
    return form.divisor if any(form.factors) else 1


def _expression(form: Form, indices: Any) -> Any:
    """A constraint needs an index variable, were it with a factor of 0."""
    return form.written(indices) + 0 * indices[0]


@st.composite
def contractions(draw: st.DrawFn, aggregations: tuple[str, ...] = ("sum", "product", "max", "min", "assign")) -> Drawn:
    """Any contraction of up to three index variables, each alone in one subscript or constraint.

    One point is drawn first and is valid, so that few contractions are empty.
    """
    combination = draw(st.sampled_from(["none", "multiply", "add", "condition"]))
    count = {"none": 1, "multiply": 2, "add": 2, "condition": 3}[combination]
    shape = tuple(draw(st.lists(st.integers(1, 5), max_size=2)))
    shapes = tuple(tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=2))) for _ in range(count))
    point = draw(st.tuples(*[st.integers(-1, 2)] * COUNT))

    def form(bound: int, factors: tuple[int, ...] | None = None) -> Form:
        factors = factors or draw(st.tuples(*[st.sampled_from([0, 0, 0, 1, 1, 2, -1, 3])] * COUNT))
        divisor = draw(st.sampled_from([1, 1, 1, 1, 2, 3]))
        at = sum(f * p for f, p in zip(factors, point, strict=True))
        target = draw(st.integers(0, bound - 1))
        if not any(factors):
            return Form(factors, target, 1)
        return Form(factors, target * divisor - at, divisor)

    write = tuple(form(extent) for extent in shape)
    reads = tuple(tuple(form(extent) for extent in each) for each in shapes)
    bounds = draw(st.lists(st.integers(1, 5), max_size=2))
    constraints = [(form(bound), bound) for bound in bounds]
    aggregation = draw(st.sampled_from(aggregations))
    drawn = Drawn(aggregation, combination, shape, write, shapes, reads, tuple(constraints))
    for place in range(COUNT):
        alone = tuple(int(place == other) for other in range(COUNT))
        bounded = any(sum(map(bool, f.factors)) == 1 and f.factors[place] for f in drawn.forms())
        if not bounded and any(f.factors[place] for f in drawn.forms()):
            bound = draw(st.integers(1, 5))
            constraints.append((form(bound, alone), bound))
    return Drawn(aggregation, combination, shape, write, shapes, reads, tuple(constraints))
