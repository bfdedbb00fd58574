"""The number format that fits a program and its data, chosen by what the program makes of the data in each of them.

A word qI.F has I + F bits, and each bit that one side gets is taken from the other. A run in float64 and intervals say
how many integer bits keep every value from saturating. Formats with as many of them, and with fewer, are then tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from tabla.base.arrays import Arrays
from tabla.base.source import TablaError
from tabla.graph.compiled.plans import RealsPlan
from tabla.graph.format import Format
from tabla.graph.graph import (
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
from tabla.graph.intervals import UNKNOWN, Interval, intervals
from tabla.learn.observed import Observed, observe

HEADROOM = 2.0
"""A measured range counts this many times, because other data may take larger values."""
GUARDS = (0, 4, 8)
"""The guard bits of models that are tried, unless the user names some."""
MOST_FORMATS = 8
"""So many formats of a width are tried at most, each with all guard bits."""
CLOSE = 1.005
"""A loss that is at most so many times another one is as good as that one."""
_LEAST_INTEGER, _LARGEST_FRACTION = 2, 30


class Judge(Protocol):
    """What says how good a number format is. `judged` names what it measures; less is better."""

    @property
    def judged(self) -> str:
        """The name of the figure: of a loss, or of an error."""

    @property
    def samples(self) -> int:
        """The number of samples that the figure is of."""

    @property
    def reference(self) -> float:
        """The figure of float64; it is -inf where float64 has none, and no format can then be as good."""

    def guards(self, number: Format) -> Sequence[int]:
        """Return the guard bits to try in a format, in ascending order. A refusal of the format is a `TablaError`."""

    def of_format(self, number: Format, guard: int) -> Tried:
        """Try a format with so many guard bits. A refusal is a `TablaError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A format that was tried, with the `guard` bits that it took.

    `figure` is its loss or error, and infinite if it has none. `saturated` counts the values of data and the results
    that left its range. `refused` says why the program has no such format, if it has none.
    """

    format: Format
    guard: int
    figure: float = math.inf
    saturated: int = 0
    refused: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the format for JSON. The figure of one that was refused, or that diverged, is null."""
        return {
            "format": str(self.format),
            "model_guard": self.guard,
            "figure": self.figure if math.isfinite(self.figure) else None,
            "saturated": self.saturated,
            "refused": self.refused or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The range of a tensor or of the constants: `largest` was measured, and `bound` is the proven one.

    `bits` are the integer bits with which it does not saturate, with the sign; they may be more than a word has. They
    are `proven` if `bound` decides, which is then the smaller of the bound and twice the measured range; otherwise they
    are `measured`.
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
    """A chosen format with its `guard` bits of models, and all that was `tried`, in the order of the trials.

    `judged` names the figure by which it was chosen, and `held_back` is the number of samples that the figure is of.
    `reference` is the figure of float64, and None where float64 has none. `ranges` are those of the tensors, in the
    order of the program; `epochs` and `samples` say what was run in float64 to measure them.
    """

    format: Format
    guard: int
    judged: str
    held_back: int
    reference: float | None
    tried: tuple[Tried, ...] = field(repr=False)
    ranges: tuple[Range, ...] = field(repr=False)
    samples: int
    epochs: int

    @property
    def binding(self) -> tuple[str, ...]:
        """The names of what needs the most integer bits if nothing may saturate."""
        most = max((each.bits for each in self.ranges), default=_LEAST_INTEGER)
        return tuple(each.name for each in self.ranges if each.bits == most)

    def lines(self) -> Iterator[str]:
        """Yield what the commands print: the format, what was tried, and what decides where nothing saturates."""
        guard = f" and {_guard_bits(self.guard)} of models" if self.guard else ""
        many = "1 sample" if self.held_back == 1 else f"{self.held_back:,} samples"
        yield f"format       {self.format}{guard}, chosen by the {self.judged} of {many}"
        if self.reference is not None:
            yield f"  {'float64':<16}  {self.reference:.4g}"
        for each in self.tried:
            name = str(each.format) + (f", guard {each.guard}" if each.guard else "")
            chosen = "  <- chosen" if (each.format, each.guard) == (self.format, self.guard) else ""
            figure = f"{each.figure:<10.4g}" if math.isfinite(each.figure) else "diverges  "
            said = f"refused: {each.refused}" if each.refused else f"{figure}  saturated {each.saturated:,}{chosen}"
            yield f"  {name:<16}  {said}"
        most = max((each.bits for each in self.ranges), default=_LEAST_INTEGER)
        largest = next((each for each in self.ranges if each.bits == most), None)
        if largest is not None:
            others = f" and {len(self.binding) - 1} more need" if len(self.binding) > 1 else " needs"
            known = f"{self.binding[0]}{others} them, up to {largest.largest:.4g}"
            yield f"  with {most} integer bits nothing saturates: {known}"

    def as_json(self) -> dict[str, object]:
        """Return the choice for the manifest and for ``--json``. An unknown bound is null."""
        return {
            "format": str(self.format),
            "model_guard": self.guard,
            "judged": self.judged,
            "held_back": self.held_back,
            "reference": self.reference,
            "tried": [each.as_json() for each in self.tried],
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


def _guard_bits(guard: int) -> str:
    return f"{guard} guard bit{'s' * (guard != 1)}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """The values that the tensors of a graph take in float64, and their bounds: enough to choose for any width."""

    graph: Graph
    observed: Observed
    bounds: Mapping[str, Interval]
    samples: int
    epochs: int

    def choose(self, width: int, judge: Judge, *, guard: int | None = None) -> FormatChoice:
        """Choose the format of words of `width` bits, and the guard bits, by what the judge says.

        Formats are tried from the most integer bits to the fewest, and each with its guard bits in ascending order. The
        first one that comes close to float64 (`CLOSE`) is taken. If there is none, the smallest figure decides, and of
        those that are close to it the first one is taken. A `guard` that is given is the only one that is tried. Values
        that are infinite in float64, and a width of which every format is refused, are a `TablaError`.
        """
        ranges = tuple(_ranges(self.graph, self.observed, self.bounds, width))
        tried: list[Tried] = []
        fault: TablaError | None = None
        for number in _formats(ranges, width):
            bits = guard or 0
            try:
                for bits in judge.guards(number) if guard is None else (guard,):
                    found = judge.of_format(number, bits)
                    tried.append(found)
                    if found.figure <= CLOSE * judge.reference:
                        return self._choice(found, tried, ranges, judge)
            except TablaError as refused:
                fault = refused
                tried.append(Tried(format=number, guard=bits, refused=refused.message))
            if _has_turned(tried, judge):
                break
        fine = [each for each in tried if not each.refused]
        if not fine:
            assert fault is not None
            raise fault
        least = min(each.figure for each in fine)
        return self._choice(next(each for each in fine if each.figure <= CLOSE * least), tried, ranges, judge)

    def _choice(self, taken: Tried, tried: Sequence[Tried], ranges: tuple[Range, ...], judge: Judge) -> FormatChoice:
        return FormatChoice(
            format=taken.format,
            guard=taken.guard,
            judged=judge.judged,
            held_back=judge.samples,
            reference=judge.reference if math.isfinite(judge.reference) else None,
            tried=tuple(tried),
            ranges=ranges,
            samples=self.samples,
            epochs=self.epochs,
        )


def _formats(ranges: Sequence[Range], width: int) -> list[Format]:
    """Return the formats of a width to try, from the most integer bits to the fewest.

    The first one is the format in which nothing saturates, or the one without a fraction. More integer bits would take
    bits of the fraction and give nothing. Of more than `MOST_FORMATS`, some are left out at even distances.
    """
    most = min(width, max([_LEAST_INTEGER, *(each.bits for each in ranges)]))
    least = max(_LEAST_INTEGER, width - _LARGEST_FRACTION)
    count = min(MOST_FORMATS, most - least + 1)
    integers = np.linspace(most, least, count).round().astype(int).tolist()
    return [Format(integer=integer, fraction=width - integer) for integer in integers]


def _has_turned(tried: Sequence[Tried], judge: Judge) -> bool:
    """Return whether fewer integer bits can only be worse.

    That is so for a program that does not learn, once a format that saturates is worse than one before it.
    """
    last, earlier = tried[-1], [each.figure for each in tried[:-1]]
    return not math.isfinite(judge.reference) and last.saturated > 0 and last.figure > min(earlier, default=math.inf)


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
    if not math.isfinite(need):
        raise TablaError(
            f"'{name}' grows without limit in float64, so no number format holds it",
            hint="use a smaller learning rate (--learning-rate), or scale the data",
        )
    bits = _LEAST_INTEGER
    while need > 2.0 ** (bits - 1) - 2.0 ** -max(0, width - bits):
        bits += 1
    return Range(name=name, largest=largest, bound=bound, bits=bits)
