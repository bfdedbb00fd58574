"""The update ``w - mu * g`` of every model of a TABLA program."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.ir.graph import Affine, Index
from tabla.lang.tabla.program import Gradient, Variable
from tabla.lang.tabla.regions import Box
from tabla.lower.builder import GraphBuilder
from tabla.lower.rate import Descent, Rate
from tabla.lower.tabla.elements import Elements, Multiplied, Piece


class Updater:
    """Emits the statements of ``w.next``."""

    def __init__(self, builder: GraphBuilder, elements: Elements, rate: Rate) -> None:
        self._builder, self._elements, self._rate = builder, elements, rate
        rate.define(builder)

    def update(self, gradient: Gradient, model: Variable) -> str:
        """Emit the update of a model, and return the tensor of its next value.

        Whether the gradient itself is a result changes nothing here.
        """
        target = f"{model.name}.next"
        self._builder.tensor(target, model.shape, "next", origin=model.name, span=model.span)
        descent = Descent(builder=self._builder, rate=self._rate, target=target, weights=model.name, span=model.span)
        for piece in self._elements.pieces(gradient.gradient):
            match piece.source:
                case Multiplied(term=term, write=write, span=span) as product:
                    descent.by_factors(term, write, _restricted(write, product.indices, piece.box), span)
                case _:
                    self._by_gradient(descent, piece, gradient)
        return target

    def _by_gradient(self, descent: Descent, piece: Piece, gradient: Gradient) -> None:
        indices = tuple(Index(name=f"axis{axis}", low=low, high=high) for axis, (low, high) in enumerate(piece.box))
        write = tuple(Affine.make(0, {index.name: 1}) for index in indices)
        word = self._elements.fetch(gradient.gradient, piece, write)
        descent.by_word(word, write, indices, gradient.span)


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
