"""A graph as the text of one function, ``steps``, which works through samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.graph.compiled import units
from tabla.graph.compiled.reals import Reals
from tabla.graph.compiled.statements import Statements
from tabla.graph.compiled.text import Names, Number, Text
from tabla.graph.compiled.words import Words
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear, Statement, Tensor

_HEAD = ("first", "last", "numbers", "ends", "row", "overflows", "domain_errors", "events")
_LOCAL = "sample total exact word over still before high low product changed outside position value steps np".split()
_FORMAT = ("fraction", "lowest", "highest", "one")
_BUILT_IN = ("range", "min", "max", "int", "abs")
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    name: function for name, function in vars(units).items() if getattr(function, "__module__", "") == units.__name__
}
"""What the text may call, by name; each function calls only those before it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Program:
    """The text of ``steps``, and the arguments that do not change.

    ``steps(first, last, numbers, ends, row, overflows, domain_errors, events, samples..., tensors..., kept...,
    tables...)`` works through the samples `first` to `last` and returns `last`, or the sample in which a position of a
    gather lay outside its tensor. `samples` and `tensors` are the names of arrays in that order; `kept` are the
    tensors to store for each sample. ``events`` counts zero updates in its first element; the others are statement,
    axis and position of the gather.
    """

    text: str
    units: tuple[str, ...]
    numbers: NDArray[Any]
    ends: NDArray[np.int64]
    row: int
    samples: tuple[str, ...]
    tensors: tuple[str, ...]
    kept: tuple[str, ...]
    tables: tuple[tuple[int, ...], ...]


def words_program(graph: Graph, fmt: Format, kept: Sequence[str]) -> Program:
    """Return the fixed-point evaluation of a graph. Raises `UnsupportedError` if the text would not be exact."""
    made = _Maker.of(graph, kept)
    body = Words(graph=graph, text=made.text, variables=made.variables, plain=made.plain, format=fmt)
    lines = made.steps(body)
    head = dict(zip(_FORMAT, (fmt.fraction, fmt.lowest, fmt.highest, fmt.one), strict=True))
    return made.program(body, lines, head, np.int64, "fixed-point")


def reals_program(graph: Graph, kept: Sequence[str], fraction: int = 0) -> Program:
    """Return the float64 evaluation of a graph. Raises `UnsupportedError` for functions of one's own.

    Tensors that say positions hold them times 2^-`fraction`.
    """
    made = _Maker.of(graph, kept)
    body = Reals(graph=graph, text=made.text, variables=made.variables, plain=made.plain, fraction=fraction)
    return made.program(body, made.steps(body), {}, np.float64, "float64")


def in_place(graph: Graph) -> dict[str, str]:
    """Return the models that may be updated in place, each with its next value.

    No statement may read such a model after its first update, but for the element that the same statement writes.
    """
    found = {}
    for model, following in graph.updates.items():
        first = next((s.id for s in graph.statements if s.target == following), 0)
        if all(_spares(s, model, following) for s in graph.statements if s.id >= first):
            found[model] = following
    return found


def _spares(statement: Statement, model: str, following: str) -> bool:
    if model not in statement.sources:
        return True
    linear = statement.target == following and isinstance(statement.operation, Linear)
    return linear and all(read.subscripts == statement.write for read in statement.reads if read.tensor == model)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Maker:
    """Writes what stands around the statements."""

    graph: Graph
    kept: tuple[str, ...]
    text: Text[Any]
    variables: Mapping[str, str]
    stacks: Mapping[str, str]
    plain: frozenset[str]
    aliases: Mapping[str, str]

    @staticmethod
    def of(graph: Graph, kept: Sequence[str]) -> _Maker:
        taken = {*_HEAD, *_LOCAL, *_FORMAT, *_BUILT_IN, *FUNCTIONS}
        names = Names(taken=taken)
        aliases = in_place(graph)
        given = {following: model for model, following in aliases.items()}
        variables = {name: names.of("tensor", given.get(name, name)) for name in graph.tensors}
        stacks = {n: names.new(f"{variables[n]}_samples") for n, t in graph.tensors.items() if _streamed(t)}
        stacks |= {n: names.new(f"{variables[n]}_kept") for n in kept if not _streamed(graph.tensors[n])}
        plain = frozenset(name for name, t in graph.tensors.items() if _streamed(t) and not t.shape)
        return _Maker(
            graph=graph,
            kept=tuple(n for n in dict.fromkeys(kept) if not _streamed(graph.tensors[n])),
            text=Text(names=names, depth=2),
            variables=variables,
            stacks=stacks,
            plain=plain,
            aliases=aliases,
        )

    def steps(self, body: Statements[Number]) -> list[str]:
        """Return the lines of one sample: inputs, statements, what is kept, and the new models."""
        graph, text = self.graph, self.text
        read = {tensor for s in graph.statements for tensor in s.sources}
        for name, tensor in graph.tensors.items():
            if _streamed(tensor) and name in read:
                text.line(f"{self.variables[name]} = {self.stacks[name]}[sample]")
        self._keep(body, [name for name in self.kept if graph.tensors[name].role == "model"])
        for statement in graph.statements:
            body.write(statement)
        self._keep(body, [name for name in self.kept if graph.tensors[name].role != "model"])
        for model, following in graph.updates.items():
            if model not in self.aliases:
                text.line(f"# {model} takes its next value")
                self._copy(self.variables[model], self.variables[following], "", graph.tensors[model], str)
        return text.lines

    def _keep(self, body: Statements[Number], names: Sequence[str]) -> None:
        for name in names:
            seen = partial(body.seen, name)
            self._copy(self.stacks[name], self.variables[name], "sample", self.graph.tensors[name], seen)

    def _copy(self, target: str, source: str, before: str, tensor: Tensor, seen: Callable[[str], str]) -> None:
        places = [self.text.index(f"axis{axis}") for axis in range(len(tensor.shape))]
        for depth, place in enumerate(places):
            self.text.line(f"{'    ' * depth}for {place} in range({source}.shape[{depth}]):")
        to = ", ".join([before, *places] if before else places) or "()"
        element = seen(f"{source}[{', '.join(places) or '()'}]")
        self.text.line(f"{'    ' * len(places)}{target}[{to}] = {element}")

    def program(
        self,
        body: Statements[Number],
        lines: Sequence[str],
        head: Mapping[str, int],
        element: type[Any],
        what: str,
    ) -> Program:
        """Return the whole: the head sets the variables of all values, then samples follow each other."""
        graph = self.graph
        samples = [name for name, tensor in graph.tensors.items() if _streamed(tensor)]
        tensors = [n for n, t in graph.tensors.items() if not _streamed(t) and n not in self.aliases.values()]
        values = {**head, **self.text.numbers}
        arguments = [*_HEAD, *(self.stacks[n] for n in samples), *(self.variables[n] for n in tensors)]
        arguments += [*(self.stacks[n] for n in self.kept), *body.tables]
        text = [f'"""The {what} evaluation of {graph.name!r}, written by tabla.graph.compiled from its graph."""', ""]
        text += ["import numpy as np", "", "", "def steps(", *(f"    {name}," for name in arguments), "):"]
        text += [f"    {name} = numbers[{place}]" for place, name in enumerate(values)]
        text += [f"    {name} = ends[{place}]" for place, name in enumerate(self.text.ends)]
        text += ["    for sample in range(first, last):", *(lines or ["        pass"]), "    return last", ""]
        extents = [index.extent for s in graph.statements for index in s.indices]
        return Program(
            text="\n".join(text),
            units=tuple(name for name in FUNCTIONS if name in body.units),
            numbers=np.array(list(values.values()), dtype=element),
            ends=np.array(list(self.text.ends.values()), dtype=np.int64),
            row=max(extents, default=1),
            samples=tuple(samples),
            tensors=tuple(tensors),
            kept=self.kept,
            tables=tuple(body.tables.values()),
        )


def _streamed(tensor: Tensor) -> bool:
    """Whether a tensor comes with each sample."""
    return tensor.role in ("input", "label")


def written(graph: Graph) -> Iterator[tuple[str, Statement]]:
    """Yield the statements whose elements count as updates, each with its model."""
    for statement in graph.statements:
        model = graph.owner(statement.target)
        if model != statement.target and isinstance(statement.operation, Linear) and statement.operation.test is None:
            yield model, statement
