"""The number format that fits a program and its data, chosen from a run in float64 and from intervals.

A word qI.F has I + F bits. The choice takes the fewest integer bits in which no value of any tensor saturates, because
every bit that is left is a bit of fraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tabla.compiled.plans import RealsPlan
from tabla.ir.format import Format
from tabla.ir.graph import (
    Compare,
    Constant,
    Divide,
    Graph,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Product,
    Read,
    Statement,
    Term,
)
from tabla.ir.intervals import UNKNOWN, Interval, intervals
from tabla.source import TablaError
from tabla.training.arrays import Arrays
from tabla.training.observed import Observed, observe

HEADROOM = 2.0
"""A measured range counts this many times, because other data may take larger values."""
MOST_LOST = 0.01
"""Guard bits are added until steps that are too small carry at most this share of the sum of all steps."""
_LEAST_INTEGER, _LARGEST_FRACTION = 2, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The range of a tensor or of the constants: `largest` was measured, and `bound` is the proven one.

    `bits` are the integer bits that it needs, with the sign. They are `proven` if `bound` decides, which is then the
    smaller of the bound and twice the measured range; otherwise they are `measured`.
    """

    name: str
    largest: float
    bound: float
    bits: int

    @property
    def need(self) -> float:
        """The absolute value that a word must be able to hold."""
        return min(self.bound, HEADROOM * self.largest)

    @property
    def basis(self) -> Literal["proven", "measured"]:
        """Say what decides `need`: the bound, or the measured value."""
        return "proven" if self.bound <= HEADROOM * self.largest else "measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatChoice:
    """A chosen format, with the ranges that it was chosen by, in the order of the program's tensors.

    `epochs` and `samples` say what was run in float64. `guard` are the guard bits of models, and `lost` is the share of
    the steps of the last epoch, by their sizes, that are still too small for the models.
    """

    format: Format
    guard: int
    lost: float
    ranges: tuple[Range, ...] = field(repr=False)
    samples: int
    epochs: int

    @property
    def binding(self) -> tuple[str, ...]:
        """The names of what needs the most integer bits."""
        most = max((each.bits for each in self.ranges), default=_LEAST_INTEGER)
        return tuple(each.name for each in self.ranges if each.bits == most)

    def lines(self) -> Iterator[str]:
        """Yield what the commands print: the format, and the range of every tensor."""
        run = f"{self.epochs} epoch{'s' * (self.epochs > 1)} of {self.samples:,} samples in float64"
        guard = f" and {self.guard} guard bit{'s' * (self.guard != 1)} of models" if self.guard else ""
        yield f"format       {self.format}{guard}, chosen from {run}"
        width = max(len(each.name) for each in self.ranges)
        for each in self.ranges:
            bound = f"at most {each.bound:.4g}" if math.isfinite(each.bound) else "no bound"
            binds = "  <- binds" if each.name in self.binding else ""
            yield (
                f"  {each.name:<{width}}  up to {each.largest:<9.4g}  {bound:<17}  {each.bits:2} integer bits,"
                f" {each.basis}{binds}"
            )

    def as_json(self) -> dict[str, object]:
        """Return the choice for the manifest and for ``--json``. An unknown bound is null."""
        return {
            "format": str(self.format),
            "model_guard": self.guard,
            "lost_steps": self.lost,
            "samples": self.samples,
            "epochs": self.epochs,
            "binding": list(self.binding),
            "ranges": [
                {
                    "name": each.name,
                    "largest": each.largest,
                    "bound": each.bound if math.isfinite(each.bound) else None,
                    "basis": each.basis,
                    "integer_bits": each.bits,
                }
                for each in self.ranges
            ],
        }


def choice_entry(choice: FormatChoice | None) -> dict[str, object]:
    """Return the entry of a manifest or a ``--json`` file; there is none if the format was not chosen from data."""
    return {} if choice is None else {"format_choice": choice.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """The values that the tensors of a graph take in float64, and their bounds: enough to choose for any width."""

    graph: Graph
    observed: Observed
    bounds: Mapping[str, Interval]
    samples: int
    epochs: int

    def choose(
        self, width: int, *, guard: int | None = None, largest_guard: Callable[[Format], int] = lambda number: 0
    ) -> FormatChoice:
        """Choose the format of words of `width` bits, and the guard bits.

        `largest_guard` says how many guard bits a format allows. A `guard` that is given is taken as it is. A tensor
        that no format of that width holds is a `TablaError`.
        """
        ranges = tuple(_ranges(self.graph, self.observed, self.bounds, width))
        number = _format(ranges, width)
        bits = _guard(self.observed, number, largest_guard(number)) if guard is None else guard
        return FormatChoice(
            format=number,
            guard=bits,
            lost=_lost(self.observed, number, bits),
            ranges=ranges,
            samples=self.samples,
            epochs=self.epochs,
        )


def survey(
    graph: Graph,
    samples: Arrays,
    models: Arrays,
    *,
    count: int,
    epochs: int,
    part: Arrays | None = None,
    plan: RealsPlan | None = None,
) -> Survey:
    """Run a graph in float64 over the samples that it learns from, and return all that a choice needs.

    `samples` have a leading axis of `count` steps, and `models` are the initial models. The graph runs over them for
    `epochs` epochs. `part` are all samples of the training part, if there are more of them than whole steps take.
    `plan` evaluates the graph; by default numpy does.
    """
    return Survey(
        graph=graph,
        observed=observe(graph, samples, models, count=count, epochs=epochs, plan=plan),
        bounds=_bounds(graph, {**samples, **(part or {})}, models),
        samples=count * graph.samples,
        epochs=epochs,
    )


def _lost(observed: Observed, number: Format, guard: int) -> float:
    """Return the share of the steps of the last epoch, by their sizes, that is below half a place of the models."""
    total = sum(sizes.total for sizes in observed.steps.values())
    below = sum(sizes.below(-(number.fraction + guard + 1)) for sizes in observed.steps.values())
    return below / total if total else 0.0


def _guard(observed: Observed, number: Format, largest: int) -> int:
    """Return the fewest guard bits with which hardly a step is lost, or the most that are allowed."""
    allowed = range(largest + 1)
    return next((bits for bits in allowed if _lost(observed, number, bits) <= MOST_LOST), largest)


def _bounds(graph: Graph, samples: Arrays, models: Arrays) -> dict[str, Interval]:
    given = {
        name: Interval(float(array.min()), float(array.max())) if array.size else UNKNOWN
        for name, array in {**models, **samples}.items()
    }
    return intervals(graph, given)


def _ranges(graph: Graph, observed: Observed, bounds: Mapping[str, Interval], width: int) -> Iterator[Range]:
    merged: dict[str, tuple[float, float]] = {}
    running = {s.target for s in graph.statements if isinstance(s.operation, Product)}
    for tensor in graph.tensors.values():
        name = graph.owner(tensor.name)
        largest, bound = observed.largest[tensor.name], bounds[tensor.name].magnitude
        if tensor.role in ("input", "label") or (tensor.name in running and math.isfinite(bound)):
            # Samples that fill no step count, too, and so do the steps of a running product, which nobody measures.
            largest = bound
        before = merged.get(name, (0.0, 0.0))
        merged[name] = max(before[0], largest), max(before[1], bound)
    for name, (largest, bound) in merged.items():
        yield _range(name, largest, bound, width)
    constants = list(_constants(graph.statements))
    if constants:
        yield _range("constants", max(constants), max(constants), width)


def _constants(statements: Iterable[Statement]) -> Iterator[float]:
    """Yield the magnitudes of the constants that words must hold."""
    for statement in statements:
        for operand in statement.operands:
            if operand in _in_every_format(statement.operation):
                continue
            match operand:
                case Constant(value=value):
                    yield abs(float(value))
                case Ordinal(value=value, fraction=fraction):
                    yield math.ldexp(max(map(abs, value.bounds(statement.box))), -fraction)
                case _:
                    pass


def _in_every_format(operation: Operation) -> tuple[Operand, ...]:
    """Return the operands that a format need not hold (decision 22).

    These are divisors, operands that are compared with an index, and the factors of a product that is the whole sum.
    The factors of a product in a longer sum are not among them, because that product may have to be a word.
    """
    match operation:
        case Linear(terms=(Term(factors=(left, right)),)):
            return left, right
        case Divide(right=divisor, fraction=None):
            return (divisor,)
        case Compare(left=left, right=right) if not isinstance(left, Read) and not isinstance(right, Read):
            return left, right
        case _:
            return ()


def _range(name: str, largest: float, bound: float, width: int) -> Range:
    need = min(bound, HEADROOM * largest)
    for bits in range(_LEAST_INTEGER, width + 1):
        fraction = width - bits
        if fraction <= _LARGEST_FRACTION and need <= 2.0 ** (bits - 1) - 2.0**-fraction:
            return Range(name=name, largest=largest, bound=bound, bits=bits)
    if not math.isfinite(need):
        raise TablaError(
            f"'{name}' grows without limit in float64, so no number format holds it",
            hint="use a smaller learning rate (--learning-rate), or scale the data",
        )
    raise TablaError(
        f"'{name}' takes values up to {need:.4g}, which no format of {width} bits holds",
        hint="scale the data, use a smaller learning rate, or use wider words, such as --format auto32",
    )


def _format(ranges: Sequence[Range], width: int) -> Format:
    integer = max([_LEAST_INTEGER, *(each.bits for each in ranges)])
    return Format(integer=integer, fraction=width - integer)
