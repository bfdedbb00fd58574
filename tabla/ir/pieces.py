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
    """A kind of number: how it shows constants, ordinals and the scale of a term."""

    def constant(self, operand: Constant) -> Number:
        """The constant."""

    def ordinal(self, operand: Ordinal, values: NDArray[np.int64]) -> NDArray[Any]:
        """The integers `values` of an ordinal."""

    def scale(self, factors: int, shift: int) -> Number:
        """What a term of one or two factors is multiplied by."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Piece:
    """``weight * contraction``; without a contraction, just `weight`. `products` is how many the sum adds."""

    weight: Number
    contraction: Contraction | None
    products: int = 1

    def value(self) -> Any:
        """The weighted sum, broadcastable to the output box."""
        if self.contraction is None:
            return self.weight
        value = self.contraction.value()
        return value if self.weight == 1 else value * self.weight


def array_of(
    operand: Operand, buffers: Mapping[str, NDArray[Any]], indices: Sequence[Index], numbers: Numbers
) -> NDArray[Any]:
    """An operand over a box: a view for a read. One axis per index, extent 1 where it is not mentioned."""
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
    """One term over an output box; its constants go into the weight."""
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
