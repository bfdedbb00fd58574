"""The meaning of a graph in float64: what the program would learn if words had infinitely many digits.

Constants are not quantised and nothing saturates. Outside its domain a function gives inf or nan. An integer n of the
machine is the number n * 2^-F there, as its word says for a format with F fraction bits. Users of a plan give and get n
itself where they know the tensors of integers (`WithIntegers` in :mod:`tabla.graph.compiled.plans`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce as fold
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from tabla.graph import function_reals
from tabla.graph.fixed_kernels import COMPARISONS, EXTREMES
from tabla.graph.functions import apply_to_reals
from tabla.graph.gathers import gathered, scattered
from tabla.graph.graph import (
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Gather,
    Graph,
    Linear,
    Ordinal,
    Product,
    Scatter,
    Statement,
)
from tabla.graph.masked import Operands
from tabla.graph.memory import Memory

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FloatRun:
    """What many samples give: the models after the last one, and the kept tensors after each, with a leading axis of
    samples.
    """

    models: Mapping[str, Reals]
    kept: Mapping[str, Reals]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FloatPlan:
    """A graph made ready to work in float64. It works as `FixedPlan` does, and counts nothing."""

    graph: Graph
    memory: Memory[np.float64]
    kernels: tuple[Callable[[], None], ...] = field(repr=False)

    @staticmethod
    def of(graph: Graph, fraction: int = 0) -> FloatPlan:
        """Make a graph ready. `fraction` are the fraction bits of the format, by which a number says a position."""
        memory = Memory.of(graph, np.float64)
        kernels = tuple(_kernel(graph, statement, memory.buffers, fraction) for statement in graph.statements)
        return FloatPlan(graph=graph, memory=memory, kernels=kernels)

    def load(self, models: Mapping[str, Reals]) -> None:
        """Replace all models, given by name, before the next run."""
        self.memory.load(models)

    def compute(self) -> None:
        """Compute every statement once, from the inputs in memory.

        The models keep their values until `memory.commit`.
        """
        with np.errstate(all="ignore"):
            for kernel in self.kernels:
                kernel()

    def run(self, samples: Mapping[str, Reals], keep: Sequence[str] = (), count: int | None = None) -> FloatRun:
        """Work through samples (arrays with a leading axis) from the models as they are."""
        kept = self.memory.run(self.compute, samples, keep, count)
        return FloatRun(models=self.memory.models(), kept=kept)


class _RealNumbers:
    """Constants and ordinals as they are."""

    def constant(self, operand: Constant) -> float:
        return float(operand.value)

    def ordinal(self, operand: Ordinal, values: NDArray[np.int64]) -> Reals:
        return np.ldexp(values.astype(np.float64), -operand.fraction)

    def scale(self, factors: int, shift: int) -> float:
        return 2.0**-shift if factors == 2 else 1.0


def _kernel(graph: Graph, statement: Statement, buffers: Mapping[str, Reals], fraction: int) -> Callable[[], None]:
    operands = Operands.of(statement, buffers, _RealNumbers())
    if isinstance(statement.operation, Gather):
        return operands.around(gathered(operands, statement.operation, flat=graph.flat_gathers, fraction=fraction))
    if isinstance(statement.operation, Scatter):
        return operands.around(scattered(operands, statement.operation, flat=graph.flat_gathers, fraction=fraction))
    target, value = operands.target, _value(statement, operands)

    def run() -> None:
        target[...] = value()

    return operands.around(run)


def _value(statement: Statement, operands: Operands) -> Callable[[], Any]:
    """A function that computes the operation over the output box."""
    indices = statement.indices
    reduced = {index.name: index for index in statement.reduced}
    operation = statement.operation
    match operation:
        case Linear(terms=terms, shift=shift, test=test):
            pieces = [operands.piece(term, shift) for term in terms]
            if test is not None:
                holds = COMPARISONS[test]
                return lambda: holds(sum(p.value() for p in pieces), 0)
            return lambda: sum(p.value() for p in pieces)
        case Compare(op=op, left=left, right=right):
            a, b = operands.outputs(left), operands.outputs(right)
            return lambda: COMPARISONS[op](a, b)
        case Function(name=name, operand=operand):
            argument = operands.outputs(operand)
            return lambda: apply_to_reals(name, argument)
        case Divide(left=left, right=right, fraction=fraction):
            a, b = operands.outputs(left), operands.outputs(right)
            if fraction is not None:
                return lambda: function_reals.quotient(a, b, fraction)
            return lambda: function_reals.divide(a, b)
        case Product(operand=operand, reduce=reduce, initial=initial, shift=shift):
            summed = [reduced[name] for name in reduce]
            factors = operands.array(operand, [*indices, *summed], 2.0**shift)
            whole = np.broadcast_to(factors, (*factors.shape[: len(indices)], *(index.extent for index in summed)))
            axes = tuple(range(len(indices), whole.ndim))
            begin = 2.0**shift if initial is None else operands.outputs(initial)
            return lambda: begin * np.prod(np.ldexp(whole, -shift), axis=axes)
        case Gather() | Scatter():
            raise AssertionError("gathers and scatters put their words in place themselves")
        case Extreme(op=extreme, operands=words, reduce=reduce, initial=initial):
            box = [*indices, *(reduced[name] for name in reduce)]
            neutral = -np.inf if extreme == "max" else np.inf
            arrays = [operands.array(word, box, neutral) for word in words]
            first = [] if initial is None else [operands.outputs(initial)]
            join, axes = EXTREMES[extreme], tuple(range(len(indices), len(box)))
            return lambda: fold(join, [*first, *(join.reduce(array, axis=axes) for array in arrays)])
        case _:
            assert_never(operation)
