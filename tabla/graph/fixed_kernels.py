"""The kernel of a statement in words: a function without arguments that reads and writes the buffers it was
made for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Label, Span, TablaError
from tabla.graph import function_words
from tabla.graph.accumulate import Sum, Summand
from tabla.graph.format import Format
from tabla.graph.functions import apply_to_words
from tabla.graph.gathers import gathered, scattered
from tabla.graph.graph import (
    Compare,
    CompareOp,
    Constant,
    Divide,
    Extreme,
    ExtremeOp,
    Function,
    Gather,
    Graph,
    Index,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Scatter,
    Statement,
    is_stored,
)
from tabla.graph.masked import Operands
from tabla.graph.memory import stored_name

Words = NDArray[np.int64]
Kernel = Callable[[], None]
COMPARISONS: Mapping[CompareOp, np.ufunc] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
EXTREMES: Mapping[ExtremeOp, np.ufunc] = {"max": np.maximum, "min": np.minimum}


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counters that the kernels of one plan share; the lists are indexed by statement id."""

    overflows: list[int]
    domain_errors: list[int]
    updates: int = 0
    zero_updates: int = 0

    @staticmethod
    def of(statements: int) -> Tally:
        """Return counters that are all zero."""
        return Tally(overflows=[0] * statements, domain_errors=[0] * statements)

    def clear(self) -> None:
        """Set all counters back to zero, in place."""
        self.overflows[:] = [0] * len(self.overflows)
        self.domain_errors[:] = [0] * len(self.domain_errors)
        self.updates = self.zero_updates = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WordNumbers:
    """Constants and ordinals as words of a format."""

    format: Format

    def constant(self, operand: Constant) -> int:
        """Return the word nearest to a constant. A constant outside the format is the user's fault."""
        word = self.format.nearest(operand.value)
        return self._checked(word, f"the constant {float(operand.value):g}", operand.span)

    def ordinal(self, operand: Ordinal, values: Words) -> Words:
        """Return the words of integers. An integer outside the format is the user's fault."""
        one = self.format.one >> operand.fraction
        for value in (int(values.min()), int(values.max())):
            self._checked(value * one, f"the index value {value}", operand.span)
        return values * one

    def scale(self, factors: int, shift: int) -> int:
        """Return the factor that brings a term of one word to the scale of a product of two, which has twice the
        fraction bits.
        """
        return 1 if factors == 2 else 1 << (self.format.fraction + shift)

    def _checked(self, word: int, what: str, span: Span | None) -> int:
        if self.format.saturate(word) == word:
            return word
        raise TablaError(
            f"{what} does not fit the format {self.format}",
            *([Label(span, "used here")] if span else []),
            hint="take a format with more integer bits",
        )

    def limit(self, operand: Operand, indices: Mapping[str, Index]) -> int:
        """Return the largest magnitude that the word of an operand can have."""
        match operand:
            case Read():
                return -self.format.lowest
            case Constant():
                return abs(self.constant(operand))
            case Ordinal(value=value, fraction=fraction):
                return max(map(abs, value.bounds(indices))) * (self.format.one >> fraction)
            case _:
                assert_never(operand)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Site:
    """What the kernel of a statement works with. `flat` says that gathers are flat."""

    statement: Statement
    format: Format
    operands: Operands
    tally: Tally
    model: str | None
    flat: bool

    @property
    def target(self) -> Words:
        """What it puts its words into."""
        target: Words = self.operands.target
        return target


def fixed_kernel(graph: Graph, statement: Statement, fmt: Format, buffers: Mapping[str, Words], tally: Tally) -> Kernel:
    """Return the kernel of a statement in a format, over given buffers."""
    model = next((model for model, following in graph.updates.items() if following == statement.target), None)
    operands = Operands.of(statement, buffers, WordNumbers(format=fmt))
    site = _Site(statement=statement, format=fmt, operands=operands, tally=tally, model=model, flat=graph.flat_gathers)
    return operands.around(_kernel(site))


def _kernel(site: _Site) -> Kernel:
    operation = site.statement.operation
    match operation:
        case Linear():
            return _linear(site, operation)
        case Compare():
            return _compare(site, operation)
        case Function() | Divide():
            return _unit(site, operation)
        case Product():
            return _product(site, operation)
        case Extreme():
            return _extreme(site, operation)
        case Gather():
            return gathered(site.operands, operation, flat=site.flat)
        case Scatter():
            return scattered(site.operands, operation, flat=site.flat)
        case _:
            assert_never(operation)


def _linear(site: _Site, operation: Linear) -> Kernel:
    statement, target, tally = site.statement, site.target, site.tally
    own = None if site.model is None else own_word(site.model, statement, operation)
    scale = WordNumbers(format=site.format)
    changes = []
    for place, term in enumerate(operation.terms):
        if place == own:
            continue
        made = site.operands.piece(term, operation.shift)
        limits = (scale.limit(f, statement.box) for f in term.factors if not isinstance(f, Constant))
        changes.append(
            Summand(weight=int(made.weight), contraction=made.contraction, products=made.products, limits=tuple(limits))
        )
    before = None if own is None else site.operands.outputs(_addend(operation, own))
    shift = site.format.fraction + operation.shift - operation.guard
    lowest, highest = site.format.limits(operation.guard)
    rounded = Sum(changes=tuple(changes), kept=before, shift=shift).rounded(-lowest)
    number, size, written = statement.id, target.size, site.operands.written

    def tested() -> None:
        exact, _ = rounded()
        target[...] = COMPARISONS[operation.test or "<"](exact, 0) * site.format.one

    if operation.test is not None:
        return tested

    def run() -> None:
        exact, changed = rounded()
        clipped = np.minimum(np.maximum(exact, lowest), highest)
        over = np.count_nonzero(clipped != exact)
        if over:
            tally.overflows[number] += int(over) * (size // np.size(exact))
        if changed is not None:
            still = changed & (clipped == before)
            tally.zero_updates += int(np.count_nonzero(still))
        target[...] = clipped
        if site.model is not None:
            tally.updates += written

    return run


def own_word(model: str, statement: Statement, operation: Linear) -> int | None:
    """Return which term of an update is the own word of its model, or None if no term is.

    In a wide model it is marked.
    """
    if operation.guard:
        return next(place for place, term in enumerate(operation.terms) if is_stored(term))
    # A graph that is straight from lowering has marks, whether its models are wide or not.
    own = [(Read(tensor=model, subscripts=statement.write, stored=stored),) for stored in (True, False)]
    terms = enumerate(operation.terms)
    return next((place for place, t in terms if t.factors in own and t.sign == 1 and not t.reduce), None)


def _addend(operation: Linear, place: int) -> Operand:
    """Return the read of the own word of an update. That of a wide model reads the stored integers."""
    (read,) = operation.terms[place].factors
    return replace(read, tensor=stored_name(read.tensor)) if operation.guard and isinstance(read, Read) else read


def _compare(site: _Site, operation: Compare) -> Kernel:
    left, right = site.operands.outputs(operation.left), site.operands.outputs(operation.right)
    holds, one, target = COMPARISONS[operation.op], site.format.one, site.target

    def run() -> None:
        target[...] = holds(left, right) * one

    return run


def _unit(site: _Site, operation: Function | Divide) -> Kernel:
    """A value of the function unit. An argument that many outputs share counts once for each of them."""
    tally, target, fmt, number = site.tally, site.target, site.format, site.statement.id
    match operation:
        case Function(name=name, operand=operand):
            # Where nothing is written nothing may be counted: words that every function takes without an event.
            argument = site.operands.outputs(operand, fmt.one if name == "log" else 0)

            def applied() -> function_words.Applied:
                return apply_to_words(name, argument, fmt)

        case Divide():
            left, right = site.operands.outputs(operation.left), site.operands.outputs(operation.right, fmt.one)

            quotient = function_words.divide if operation.fraction is None else function_words.quotient

            def applied() -> function_words.Applied:
                return quotient(left, right, fmt)

    def run() -> None:
        result = applied()
        times = target.size // np.size(result.words)
        tally.overflows[number] += result.overflows * times
        tally.domain_errors[number] += result.domain_errors * times
        target[...] = result.words

    return run


def _product(site: _Site, operation: Product) -> Kernel:
    statement, tally, target, fmt = site.statement, site.tally, site.target, site.format
    reduced = {index.name: index for index in statement.reduced}
    summed = [reduced[name] for name in operation.reduce]
    # A step times this word changes no word.
    scale = fmt.fraction + operation.shift
    unit = 1 << scale
    operand: Any = site.operands.array(operation.operand, (*statement.indices, *summed), unit)
    outputs = len(statement.indices)
    held = operand.shape[outputs:]
    # An index that the operand does not mention has one element to read, at every point.
    points = [
        range(index.extent) if extent > 1 else (0,) * index.extent for index, extent in zip(summed, held, strict=True)
    ]
    half = unit >> 1
    begin = unit if operation.initial is None else site.operands.outputs(operation.initial)
    shape = np.broadcast_shapes(operand.shape[:outputs], np.shape(begin))

    def run() -> None:
        word: Any = np.broadcast_to(np.asarray(begin, dtype=np.int64), shape)
        over = 0
        for point in product(*points):
            exact = (word * operand[(..., *point)] + half) >> scale
            word = np.minimum(np.maximum(exact, fmt.lowest), fmt.highest)
            over += int(np.count_nonzero(word != exact))
        tally.overflows[statement.id] += over * (target.size // np.size(word))
        target[...] = word

    return run


def _extreme(site: _Site, operation: Extreme) -> Kernel:
    target, statement = site.target, site.statement
    reduced = {index.name: index for index in statement.reduced}
    box = (*statement.indices, *(reduced[name] for name in operation.reduce))
    neutral = site.format.lowest if operation.op == "max" else site.format.highest
    arrays = [site.operands.array(operand, box, neutral) for operand in operation.operands]
    first = [] if operation.initial is None else [site.operands.outputs(operation.initial)]
    join, axes = EXTREMES[operation.op], tuple(range(len(statement.indices), len(box)))

    def run() -> None:
        # Points at which an operand is the same word change nothing, so each is reduced by itself.
        target[...] = reduce(join, [*first, *(join.reduce(array, axis=axes) for array in arrays)])

    return run
