"""The terms of a Linear as weighted contractions, for words and for reals alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, assert_never

import numpy as np
from numpy.typing import NDArray

from tabla.ir.contraction import Contraction, contract
from tabla.ir.graph import Constant, Index, Operand, Ordinal, Read, Term
from tabla.ir.windows import ramp, window

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
