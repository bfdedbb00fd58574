"""The step ``w - rate * gradient`` of Tile weights: `rate` goes to the smaller factor, as decision 0002 says."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.ir.graph import Affine, Constant, Index, Linear, Read, Term
from tabla.lang.tile.program import Contraction, Elementwise, Node, Number, Step
from tabla.lower.builder import GraphBuilder
from tabla.lower.rate import Rate, is_product, touched
from tabla.lower.tile.expressions import Expressions
from tabla.lower.tile.region import Region, region_of


class Updater:
    """Emits the statement of one next value."""

    def __init__(self, builder: GraphBuilder, expressions: Expressions, step: Step) -> None:
        self._builder, self._expressions, self._step = builder, expressions, step
        self._rate = Rate(step.rate, builder.number_format, step.span)
        sign = -1 if step.rate < 0 else 1
        builder.quantiser.rate(self._rate.mantissa, abs(step.rate) / self._rate.mantissa * sign, step.span)
        self._target = f"{step.weights.parameter}.next"

    def update(self) -> str:
        """The tensor of the next value."""
        step = self._step
        self._builder.tensor(
            self._target, step.weights.shape, "next", origin=step.weights.parameter, span=step.weights.span
        )
        self._expressions.owner = self._target
        gradient = step.gradient
        if gradient not in self._expressions.held and (region := product_region(gradient)) is not None:
            assert isinstance(gradient, Contraction)
            left, right = (
                self._expressions.element(source.node, at, source.span)
                for source, at in zip(gradient.sources, region.reads, strict=True)
            )
            self._by_factors(Term(factors=(left, right)), region.write, region.indices)
            return self._target
        at = tuple(Affine.make(0, {f"i{axis}": 1}) for axis in range(len(gradient.shape)))
        indices = tuple(Index(name=f"i{axis}", low=0, high=extent) for axis, extent in enumerate(gradient.shape))
        self._expressions.indices = indices
        terms = self._expressions.sum_of(gradient, at)
        if len(terms) == 1 and is_product(terms[0]):
            self._by_factors(terms[0], at, indices)
        else:
            self._by_gradient(gradient, at, indices)
        return self._target

    def _by_factors(self, term: Term, write: tuple[Affine, ...], indices: Sequence[Index]) -> None:
        left, right = term.factors
        one, other = (touched(factor, tuple(indices)) for factor in (left, right))
        small, large = (left, right) if one <= other else (right, left)
        if self._rate.mantissa != 1:
            scaled = Linear(terms=(Term(factors=(self._mantissa(), small)),))
            small = self._builder.part(self._target, scaled, indices, self._step.span)
        self._emit(Term(factors=(small, large), sign=-self._rate.sign * term.sign), write, indices)

    def _by_gradient(self, gradient: Node, at: tuple[Affine, ...], indices: Sequence[Index]) -> None:
        word = self._expressions.word(gradient, at)
        if self._rate.mantissa == 1 and self._rate.shift == 0:
            self._emit(Term(factors=(word,), sign=-self._rate.sign), at, indices)
        else:
            self._emit(Term(factors=(self._mantissa(), word), sign=-self._rate.sign), at, indices)

    def _mantissa(self) -> Constant:
        return Constant(value=self._rate.mantissa, span=self._step.span)

    def _emit(self, term: Term, write: tuple[Affine, ...], indices: Sequence[Index]) -> None:
        old = Term(factors=(Read(tensor=self._step.weights.parameter, subscripts=write),))
        operation = Linear(terms=(old, term), shift=self._rate.shift)
        self._builder.emit(self._target, write, tuple(indices), operation, self._step.span)


def product_region(gradient: Node) -> Region | None:
    """The region of a gradient that is a product of two elements at every weight, with nothing to sum."""
    match gradient:
        case Contraction(aggregation="sum" | "assign", combination="multiply"):
            region = region_of(gradient)
            if region is None or region.reduced or region.constraints or region.points != gradient.size:
                return None
            # A number is no word that the rate may join.
            return None if any(isinstance(source.node, Number) for source in gradient.sources) else region
        case _:
            return None


def fused(gradient: Node, uses: int) -> bool:
    """Whether a gradient that `uses` other nodes read needs no tensor of its own."""
    return uses == 0 and (isinstance(gradient, Elementwise) or product_region(gradient) is not None)
