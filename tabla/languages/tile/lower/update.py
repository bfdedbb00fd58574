"""The step ``w - rate * gradient`` of the weights of a Tile program."""

from __future__ import annotations

from tabla.base.source import Label, TablaError
from tabla.graph.graph import Affine, Index, Term
from tabla.graph.rate import RATE
from tabla.languages.kernel.lower.builder import GraphBuilder
from tabla.languages.kernel.lower.quantise import shown
from tabla.languages.kernel.lower.rate import Descent, Rate, is_product
from tabla.languages.tile.lower.expressions import Expressions
from tabla.languages.tile.lower.region import Region, region_of
from tabla.languages.tile.program import Contraction, Elementwise, Node, Number, Program, Step
from tabla.languages.tile.text import names_of


class Updater:
    """Emits the statement of one next value."""

    def __init__(self, builder: GraphBuilder, expressions: Expressions, step: Step, rate: Rate) -> None:
        self._builder, self._expressions, self._step = builder, expressions, step
        weights = step.weights.parameter
        self._descent = Descent(builder=builder, rate=rate, target=f"{weights}.next", weights=weights)

    def update(self) -> str:
        """Emit the update, and return the tensor of the next value."""
        weights, gradient, span = self._step.weights, self._step.gradient, self._step.span
        target = self._descent.target
        self._builder.tensor(target, weights.shape, "next", origin=weights.parameter, span=weights.span)
        self._expressions.owner = target
        if gradient not in self._expressions.held and (region := product_region(gradient)) is not None:
            assert isinstance(gradient, Contraction)
            left, right = (
                self._expressions.element(source.node, at, source.span)
                for source, at in zip(gradient.sources, region.reads, strict=True)
            )
            self._descent.by_factors(Term(factors=(left, right)), region.write, region.indices, span)
            return target
        at = tuple(Affine.make(0, {f"i{axis}": 1}) for axis in range(len(gradient.shape)))
        indices = tuple(Index(name=f"i{axis}", low=0, high=extent) for axis, extent in enumerate(gradient.shape))
        self._expressions.indices = indices
        terms = self._expressions.sum_of(gradient, at)
        if len(terms) == 1 and is_product(terms[0]):
            self._descent.by_factors(terms[0], at, indices, span)
        else:
            self._descent.by_word(self._expressions.word(gradient, at), at, indices, span)
        return target


def rates_of(program: Program, builder: GraphBuilder, *, loaded: bool) -> list[Rate]:
    """Return the rate of each step. A `loaded` one is the same for all of them, and its model is defined here.

    Raises `TablaError` for a program whose rate cannot be loaded: one without steps, one whose steps have several
    rates, and one with another value of that name.
    """
    if not loaded:
        places = dict.fromkeys((step.rate, step.span) for step in program.steps)
        found = {(rate, span): Rate(rate, builder.number_format, span) for rate, span in places}
        for each in found.values():
            each.check(builder.quantiser)
        return [found[step.rate, step.span] for step in program.steps]
    _refuse_loaded_rate(program)
    rate = Rate(program.steps[0].rate, builder.number_format, program.steps[0].span, loaded=True)
    rate.define(builder)
    return [rate] * len(program.steps)


def _refuse_loaded_rate(program: Program) -> None:
    if not program.steps:
        raise TablaError(
            f"--runtime-rate: '{program.name}' updates no tensor, so it has no learning rate", hint="leave it out"
        )
    first = program.steps[0].rate
    for step in program.steps:
        if step.rate != first:
            raise TablaError(
                f"--runtime-rate: this step has the rate {shown(step.rate)} and the first one has {shown(first)}",
                *([Label(step.span)] if step.span else []),
                hint="give all steps one rate: only one is loaded",
            )
    for node, name in names_of(program).items():
        if name == RATE:
            raise TablaError(
                f"--runtime-rate: '{RATE}' is the name of the learning rate that is loaded",
                *([Label(node.span)] if node.span else []),
                hint="give this value another name",
            )


def product_region(gradient: Node) -> Region | None:
    """Return the region of a gradient that is a product of two elements at every weight and sums nothing; None for any
    other.
    """
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
    """Return whether a gradient that `uses` other nodes read needs no tensor of its own."""
    return uses == 0 and (isinstance(gradient, Elementwise) or product_region(gradient) is not None)
