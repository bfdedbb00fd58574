"""The update ``w - mu * g`` of every model, placed as decision 0002 says: `mu` goes to the smaller factor."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tabla.ir.graph import Affine, Constant, Index, Linear, Read, Term
from tabla.lang.tabla.program import Gradient, Variable
from tabla.lang.tabla.regions import Box
from tabla.lower.builder import GraphBuilder
from tabla.lower.rate import Rate, touched
from tabla.lower.tabla.elements import Elements, Multiplied, Piece
from tabla.source import Span


class Updater:
    """Emits the statements of ``w.next``."""

    def __init__(self, builder: GraphBuilder, elements: Elements, rate: Rate) -> None:
        self._builder, self._elements, self._rate = builder, elements, rate
        scale = rate.sign * Fraction(2) ** -rate.shift
        builder.quantiser.rate(rate.mantissa, scale, rate.span)

    def update(self, gradient: Gradient, model: Variable) -> str:
        """The tensor of the model's next value. Whether the gradient itself is a result changes nothing here."""
        target = f"{model.name}.next"
        self._builder.tensor(target, model.shape, "next", origin=model.name, span=model.span)
        for piece in self._elements.pieces(gradient.gradient):
            match piece.source:
                case Multiplied() as product:
                    self._by_factors(target, model, piece.box, product)
                case _:
                    self._by_gradient(target, model, piece, gradient)
        return target

    def _by_factors(self, target: str, model: Variable, box: Box, product: Multiplied) -> None:
        indices = _restricted(product.write, product.indices, box)
        left, right = product.term.factors
        small, large = (left, right) if touched(left, indices) <= touched(right, indices) else (right, left)
        if self._rate.mantissa != 1:
            scaled = Linear(terms=(Term(factors=(self._mantissa(), small)),))
            small = self._builder.part(target, scaled, indices, product.span)
        step = Term(factors=(small, large), sign=-self._rate.sign * product.term.sign)
        self._emit(target, model, product.write, indices, step, product.span)

    def _by_gradient(self, target: str, model: Variable, piece: Piece, gradient: Gradient) -> None:
        indices = tuple(Index(name=f"axis{axis}", low=low, high=high) for axis, (low, high) in enumerate(piece.box))
        write = tuple(Affine.make(0, {index.name: 1}) for index in indices)
        word = self._elements.fetch(gradient.gradient, piece, write)
        sign = -self._rate.sign
        if self._rate.mantissa == 1 and self._rate.shift == 0:
            step = Term(factors=(word,), sign=sign)
        else:
            step = Term(factors=(self._mantissa(), word), sign=sign)
        self._emit(target, model, write, indices, step, gradient.span)

    def _mantissa(self) -> Constant:
        return Constant(value=self._rate.mantissa, span=self._rate.span)

    def _emit(
        self,
        target: str,
        model: Variable,
        write: tuple[Affine, ...],
        indices: tuple[Index, ...],
        step: Term,
        span: Span,
    ) -> None:
        old = Term(factors=(Read(tensor=model.name, subscripts=write, span=model.span),))
        self._builder.emit(target, write, indices, Linear(terms=(old, step), shift=self._rate.shift), span)


def _restricted(write: Sequence[Affine], indices: tuple[Index, ...], box: Box) -> tuple[Index, ...]:
    """The part of `indices` for which `write` stays in `box`."""
    ranges = {index.name: index for index in indices}
    for subscript, (low, high) in zip(write, box, strict=True):
        for name, sign in subscript.coefficients:
            if sign > 0:
                ranges[name] = Index(name=name, low=low - subscript.constant, high=high - subscript.constant)
            else:
                ranges[name] = Index(name=name, low=subscript.constant - high + 1, high=subscript.constant - low + 1)
    return tuple(ranges[index.name] for index in indices)
