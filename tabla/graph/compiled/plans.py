"""Plans that work through samples in machine code, word for word as :class:`tabla.graph.evaluate.FixedPlan` does.

:class:`Evaluators` chooses: machine code where numba is installed and the text of the graph is exact, else numpy.
"""

from __future__ import annotations

import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import extra
from tabla.graph.compiled.machine import Function, available, machine_code
from tabla.graph.compiled.program import FUNCTIONS, Program, reals_program, words_program, written
from tabla.graph.compiled.text import UnsupportedError
from tabla.graph.constraints import points
from tabla.graph.evaluate import Counts, FixedPlan, Run
from tabla.graph.evaluate_float import FloatPlan, FloatRun
from tabla.graph.format import Format
from tabla.graph.gathers import refuse
from tabla.graph.graph import Gather, Graph
from tabla.graph.memory import Element, Memory, stored_name

Words = NDArray[np.int64]
Reals = NDArray[np.float64]
CALL = 0.1
"""Seconds that a call of machine code should take: no Ctrl-C is heard before the call returns."""
LONG = 2.0
"""Seconds of numpy from which on machine code is worth making."""
NO_NUMBA = f"numpy evaluates this program, because numba is not installed: {extra('compiled')}"
Model = TypeVar("Model", contravariant=True)
Result = TypeVar("Result", covariant=True)


class Plan(Protocol[Model, Result]):
    """A graph made ready to work through samples, as `FixedPlan` and `FloatPlan` are."""

    def load(self, models: Mapping[str, Model]) -> None:
        """Set the models, and forget what was counted."""

    def run(self, samples: Mapping[str, Model], keep: Sequence[str] = (), count: int | None = None) -> Result:
        """Work through samples from the models as they are; `keep` names tensors to return for each sample."""


class WordsPlan(Plan[Words, Run], Protocol):
    """A plan in words, which counts."""

    def counts(self) -> Counts:
        """Return what was counted since the models were loaded."""


RealsPlan = Plan[Reals, FloatRun]


@dataclass(slots=True, kw_only=True, eq=False)
class _Machine(Generic[Element]):
    """The machine code of a graph for each choice of kept tensors, over the buffers of a memory."""

    graph: Graph
    memory: Memory[Element]
    element: type[Element]
    text: Any
    overflows: Words
    domain_errors: Words
    events: Words = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    samples: int = 0
    known: dict[tuple[str, ...], tuple[Program, Function]] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget what was counted."""
        self.samples = 0
        for counter in (self.overflows, self.domain_errors, self.events):
            counter[...] = 0

    def run(
        self, samples: Mapping[str, NDArray[Element]], keep: Sequence[str], count: int | None
    ) -> dict[str, NDArray[Element]]:
        """Work through samples, and return the kept tensors."""
        arrays, number = self.memory.streams(samples, count)
        # Machine code is made for arrays of one kind: contiguous, aligned, and writable even where nothing is written.
        arrays = {name: np.require(array, self.element, ["C", "A", "W"]) for name, array in arrays.items()}
        buffers = self.memory.buffers
        kept = {name: _stack(number, buffers[name]) for name in keep}
        known = self.known.get(tuple(keep))
        program: Program = known[0] if known else self.text(self.graph, keep)
        row = np.zeros(program.row, dtype=self.element)
        arguments: list[Any] = [0, 0, program.numbers, program.ends, row]
        arguments += [self.overflows, self.domain_errors, self.events]
        arguments += [arrays[name] for name in program.samples]
        # A wide model is one array of stored integers; the text takes the words that readers see out of them.
        arguments += [buffers[stored_name(n) if n in self.memory.guards else n] for n in program.tensors]
        arguments += [kept[name] for name in program.kept]
        arguments += [np.array(table, dtype=np.int64) for table in program.tables]
        if known is None:
            reorder = self.element is np.float64
            code = machine_code(program.text, FUNCTIONS, tuple(arguments), reorder=reorder)
            known = self.known[tuple(keep)] = program, code
        self._calls(known[1], number, arguments[2:])
        return kept | {name: array.copy() for name, array in arrays.items() if name in kept}

    def _calls(self, steps: Function, number: int, arguments: Sequence[Any]) -> None:
        at, size = 0, 1
        while at < number:
            last = min(at + size, number)
            began = time.perf_counter()
            ended = steps(at, last, *arguments)
            if ended < last:
                self._refuse()
            took = time.perf_counter() - began
            size = max(1, min(8 * size, int((last - at) * CALL / max(took, 1e-9))))
            self.samples += last - at
            at = last

    def _refuse(self) -> None:
        _, statement, axis, position = map(int, self.events)
        operation = self.graph.statements[statement].operation
        assert isinstance(operation, Gather)
        extent = self.graph.tensors[operation.tensor].shape[axis]
        subscript = operation.subscripts[axis]
        refuse(self.graph.statements[statement], operation.tensor, subscript, axis, position, extent)


def _stack(number: int, buffer: NDArray[Any]) -> NDArray[Any]:
    """An array for the values of a tensor after each of so many samples."""
    return np.zeros((number, *buffer.shape), dtype=buffer.dtype)


def _machine(graph: Graph, memory: Memory[Element], element: type[Element], text: Any) -> _Machine[Element]:
    text(graph, ())  # says what is not supported
    counters = np.zeros(len(graph.statements), dtype=np.int64)
    return _Machine(
        graph=graph,
        memory=memory,
        element=element,
        text=text,
        overflows=counters,
        domain_errors=counters.copy(),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompiledFixedPlan:
    """A graph as machine code in a number format."""

    machine: _Machine[np.int64]
    updates: int

    @staticmethod
    def of(graph: Graph, fmt: Format) -> CompiledFixedPlan:
        """Make a graph ready. The faults are those of :meth:`FixedPlan.of`; `UnsupportedError` is one more."""
        memory = FixedPlan.of(graph, fmt).memory
        machine = _machine(graph, memory, np.int64, lambda graph, kept: words_program(graph, fmt, kept))
        updates = sum(points(s, [index.name for index in s.indices]) for _, s in written(graph))
        return CompiledFixedPlan(machine=machine, updates=updates)

    def load(self, models: Mapping[str, Words]) -> None:
        """Set the models, and forget what was counted."""
        self.machine.memory.load(models)
        self.machine.clear()

    def run(self, samples: Mapping[str, Words], keep: Sequence[str] = (), count: int | None = None) -> Run:
        """Work through samples as :meth:`FixedPlan.run` does."""
        kept = self.machine.run(samples, keep, count)
        return Run(models=self.machine.memory.models(), kept=kept, counts=self.counts())

    def counts(self) -> Counts:
        """Return what was counted since the models were loaded."""
        return Counts(
            overflows_by_statement=tuple(map(int, self.machine.overflows)),
            domain_errors_by_statement=tuple(map(int, self.machine.domain_errors)),
            updates=self.updates * self.machine.samples,
            zero_updates=int(self.machine.events[0]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompiledFloatPlan:
    """A graph as machine code in float64."""

    machine: _Machine[np.float64]

    @staticmethod
    def of(graph: Graph, fraction: int = 0) -> CompiledFloatPlan:
        """Make a graph ready, as :meth:`FloatPlan.of` does. Raises `UnsupportedError` for functions of one's own."""
        memory = Memory.of(graph, np.float64)
        machine = _machine(graph, memory, np.float64, lambda graph, kept: reals_program(graph, kept, fraction))
        return CompiledFloatPlan(machine=machine)

    def load(self, models: Mapping[str, Reals]) -> None:
        """Set the models."""
        self.machine.memory.load(models)

    def run(self, samples: Mapping[str, Reals], keep: Sequence[str] = (), count: int | None = None) -> FloatRun:
        """Work through samples as :meth:`FloatPlan.run` does."""
        kept = self.machine.run(samples, keep, count)
        return FloatRun(models=self.machine.memory.models(), kept=kept)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WithIntegers:
    """A plan with tensors of integers: users give and get each integer as the number that it is.

    `plan` works with numbers that are 2^-`fraction` of these. `names` are the tensors of integers.
    """

    plan: RealsPlan
    names: frozenset[str]
    fraction: int

    def load(self, models: Mapping[str, Reals]) -> None:
        """Set the models."""
        self.plan.load(scaled(models, self.names, -self.fraction))

    def run(self, samples: Mapping[str, Reals], keep: Sequence[str] = (), count: int | None = None) -> FloatRun:
        """Work through samples as :meth:`FloatPlan.run` does."""
        ran = self.plan.run(scaled(samples, self.names, -self.fraction), keep, count)
        models, kept = (scaled(arrays, self.names, self.fraction) for arrays in (ran.models, ran.kept))
        return FloatRun(models=models, kept=kept)


def scaled(arrays: Mapping[str, Reals], names: Container[str], bits: int) -> dict[str, Reals]:
    """Return arrays of which those called `names` are multiplied by 2^`bits`."""
    return {name: np.ldexp(array, bits) if name in names else array for name, array in arrays.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluators:
    """How a program is evaluated: in machine code, or in numpy. `note` says in one line why it is numpy, if machine
    code would have been better. The tensors `integers` hold integers.
    """

    compiled: bool = False
    note: str = ""
    integers: frozenset[str] = frozenset()

    @staticmethod
    def of(graph: Graph, fmt: Format, steps: int, integers: frozenset[str] = frozenset()) -> Evaluators:
        """Choose for so many steps of a graph. Machine code takes seconds to make, so few steps are left to numpy."""
        numpy = Evaluators(integers=integers)
        if steps * seconds(graph) < LONG:
            return numpy
        if not available():
            return replace(numpy, note=NO_NUMBA)
        try:
            words_program(graph, fmt, ())
            reals_program(graph, ())
        except UnsupportedError as reason:
            return replace(numpy, note=f"numpy evaluates this program, because {reason}")
        return replace(numpy, compiled=True)

    def fixed(self, graph: Graph, fmt: Format) -> WordsPlan:
        """Return a plan in words. The faults are those of :meth:`FixedPlan.of`."""
        return CompiledFixedPlan.of(graph, fmt) if self.compiled else FixedPlan.of(graph, fmt)

    def real(self, graph: Graph, fmt: Format) -> RealsPlan:
        """Return a plan in float64 of a graph that was made for a format."""
        make = CompiledFloatPlan.of if self.compiled else FloatPlan.of
        plan: RealsPlan = make(graph, fmt.fraction)
        return WithIntegers(plan=plan, names=self.integers, fraction=fmt.fraction) if self.integers else plan


NUMPY = Evaluators()
"""They evaluate in numpy, without machine code."""


def seconds(graph: Graph) -> float:
    """Return about how many seconds numpy takes for a step: 10 us for a statement, and 3 ns for a point of its box."""
    boxes = [s.points for s in graph.statements]
    return 1e-5 * len(boxes) + 3e-9 * sum(boxes)
