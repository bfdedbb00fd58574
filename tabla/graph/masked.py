"""Operands under constraints: copies that are made anew for every evaluation, neutral where a constraint fails.

Without constraints an operand is a view of a whole box. A constrained box may reach outside its tensors, so its words
are collected one by one.

The terms of a Linear are weighted contractions, for words and for reals alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, assert_never

import numpy as np
from numpy.typing import NDArray

from tabla.graph.constraints import Mask, applying, satisfied
from tabla.graph.contraction import Contraction, contract
from tabla.graph.graph import Affine, Constant, Index, Operand, Ordinal, Read, Statement, Term
from tabla.graph.windows import ramp, window

Number = int | float


class Numbers(Protocol):
    """One kind of number: how it represents constants, ordinals and the scale of a term."""

    def constant(self, operand: Constant) -> Number:
        """Return a constant as such a number."""

    def ordinal(self, operand: Ordinal, values: NDArray[np.int64]) -> NDArray[Any]:
        """Return the integers `values` of an ordinal as such numbers."""

    def scale(self, factors: int, shift: int) -> Number:
        """Return the factor that a term of one or of two factors is multiplied by."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Piece:
    """``weight * contraction``, or `weight` alone where there is no contraction. `products` is how many products the
    sum adds.
    """

    weight: Number
    contraction: Contraction | None
    products: int = 1

    def value(self) -> Any:
        """Return the weighted sum, which broadcasts to the output box."""
        if self.contraction is None:
            return self.weight
        value = self.contraction.value()
        return value if self.weight == 1 else value * self.weight


def array_of(
    operand: Operand, buffers: Mapping[str, NDArray[Any]], indices: Sequence[Index], numbers: Numbers
) -> NDArray[Any]:
    """Return an operand over a box; a read is a view. There is one axis per index, of extent 1 where the operand does
    not mention it.
    """
    match operand:
        case Read(tensor=tensor, subscripts=subscripts):
            return window(buffers[tensor], subscripts, indices)
        case Constant():
            return np.full((1,) * len(indices), numbers.constant(operand))
        case Ordinal(value=value):
            return numbers.ordinal(operand, ramp(value, indices))
        case _:
            assert_never(operand)


def piece(
    term: Term,
    shift: int,
    buffers: Mapping[str, NDArray[Any]],
    outputs: Sequence[Index],
    reduced: Mapping[str, Index],
    numbers: Numbers,
) -> Piece:
    """Return one term over an output box. Its constants become part of the weight."""
    summed = [reduced[name] for name in term.reduce]
    weight = term.sign * numbers.scale(len(term.factors), shift)
    arrays = []
    for factor in term.factors:
        if isinstance(factor, Constant):
            weight *= numbers.constant(factor)
        else:
            arrays.append(array_of(factor, buffers, [*outputs, *summed], numbers))
    made, repeats = contract(arrays, len(outputs), [index.extent for index in summed])
    products = 1
    for index in summed:
        products *= index.extent
    return Piece(weight=weight * repeats, contraction=made if arrays else None, products=products // repeats)


Array = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operands:
    """The operands of one statement as arrays, and the array that takes its words.

    Call `collect` before the arrays are used, and `deliver` when `target` is filled. Without constraints the arrays are
    views of the buffers, and both do nothing.
    """

    statement: Statement
    buffers: Mapping[str, Array]
    numbers: Numbers
    target: Array
    collectors: list[Callable[[], None]] = field(default_factory=list)
    deliver: Callable[[], None] | None = None

    @staticmethod
    def of(statement: Statement, buffers: Mapping[str, Array], numbers: Numbers) -> Operands:
        """Return the operands of a statement over given buffers."""
        buffer = buffers[statement.target]
        outer = applying(statement.constraints, statement.indices)
        if not outer:
            view = window(buffer, statement.write, statement.indices)
            return Operands(statement=statement, buffers=buffers, numbers=numbers, target=view)
        shape = [index.extent for index in statement.indices]
        mask = np.broadcast_to(satisfied(outer, statement.indices), shape)
        places = np.broadcast_to(_places(buffer, statement.write, statement.indices), shape)[mask]
        target, flat = np.zeros(shape, dtype=buffer.dtype), buffer.reshape(-1)

        def deliver() -> None:
            flat[places] = target[mask]

        return Operands(statement=statement, buffers=buffers, numbers=numbers, target=target, deliver=deliver)

    @property
    def written(self) -> int:
        """How many elements the statement writes."""
        outer = applying(self.statement.constraints, self.statement.indices)
        mask = satisfied(outer, self.statement.indices)
        return int(np.count_nonzero(mask)) * (self.target.size // mask.size)

    def array(self, operand: Operand, indices: Sequence[Index], neutral: Any = 0) -> Array:
        """Return an operand over a box, with `neutral` where a constraint on it fails. The axes are those of
        :func:`array_of`.
        """
        constraints = applying(self.statement.constraints, indices)
        if not constraints:
            return array_of(operand, self.buffers, indices, self.numbers)
        mask = satisfied(constraints, indices)
        match operand:
            case Read(tensor=tensor, subscripts=subscripts):
                return self._collected(self.buffers[tensor], subscripts, indices, mask, neutral)
            case Constant():
                return np.where(mask, self.numbers.constant(operand), neutral)
            case Ordinal(value=value):
                # Values at points that do not count need not fit the format.
                held = self.numbers.ordinal(operand, np.where(mask, ramp(value, indices), 0))
                return np.where(mask, held, neutral)
            case _:
                assert_never(operand)

    def outputs(self, operand: Operand, neutral: Any = 0) -> Array:
        """Return an operand over the output box."""
        return self.array(operand, self.statement.indices, neutral)

    def piece(self, term: Term, shift: int) -> Piece:
        """Return a term as a weighted contraction. Points at which a constraint fails add nothing."""
        statement = self.statement
        reduced = {index.name: index for index in statement.reduced}
        summed = [reduced[name] for name in term.reduce]
        box = [*statement.indices, *summed]
        constraints = applying(statement.constraints, box)
        if not constraints:
            return piece(term, shift, self.buffers, statement.indices, reduced, self.numbers)
        weight = term.sign * self.numbers.scale(len(term.factors), shift)
        arrays: list[Array] = []
        for factor in term.factors:
            if isinstance(factor, Constant):
                weight *= self.numbers.constant(factor)
            else:
                arrays.append(self.array(factor, box))
        if not arrays:
            arrays.append(satisfied(constraints, box).astype(self.target.dtype))
        made, repeats = contract(arrays, len(statement.indices), [index.extent for index in summed])
        points = 1
        for index in summed:
            points *= index.extent
        return Piece(weight=weight * repeats, contraction=made, products=points // repeats)

    def around(self, run: Callable[[], None]) -> Callable[[], None]:
        """Return the whole evaluation: collect the operands, run, and deliver the words."""
        collectors, deliver = tuple(self.collectors), self.deliver
        if not collectors and deliver is None:
            return run

        def whole() -> None:
            for collect in collectors:
                collect()
            run()
            if deliver is not None:
                deliver()

        return whole

    def _collected(
        self, buffer: Array, subscripts: Sequence[Affine], indices: Sequence[Index], mask: Mask, neutral: Any
    ) -> Array:
        places = np.where(mask, _places(buffer, subscripts, indices), 0)
        outside = ~np.broadcast_to(mask, places.shape)
        held, flat = np.zeros(places.shape, dtype=buffer.dtype), buffer.reshape(-1)

        def collect() -> None:
            np.take(flat, places, out=held)
            held[outside] = neutral

        self.collectors.append(collect)
        return held


def _places(buffer: Array, subscripts: Sequence[Affine], indices: Sequence[Index]) -> NDArray[np.int64]:
    """Row-major positions of elements over a box, wherever they lie."""
    places: NDArray[np.int64] = np.zeros((1,) * len(indices), dtype=np.int64)
    for subscript, extent in zip(subscripts, buffer.shape, strict=True):
        places = places * extent + ramp(subscript, indices)
    return places
