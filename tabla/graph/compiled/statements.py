"""The loops of statements as text, for any kind of number. :mod:`tabla.graph.compiled.words` and `reals` fill them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Generic, assert_never

from tabla.graph.compiled.text import Number, Text, UnsupportedError
from tabla.graph.constraints import applying
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Gather,
    Gathered,
    Graph,
    Index,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Scatter,
    Statement,
    Tensor,
    Term,
)


@dataclass(slots=True)
class Statements(ABC, Generic[Number]):
    """Writes statements into a text.

    `variables` are the variables of tensors. A tensor of shape () that belongs to a sample is a number, and is named
    in `plain`; every other one is an array. `held` are reads that a loop has in a variable of its own.
    """

    graph: Graph
    text: Text[Number]
    variables: Mapping[str, str]
    plain: frozenset[str]
    held: dict[Read, str] = field(default_factory=dict)
    units: dict[str, None] = field(default_factory=dict)
    tables: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def write(self, statement: Statement) -> None:
        """Write the loops of a statement, below a comment that names what it reads.

        The comment has neither sizes nor constants, because texts that differ in nothing else share their machine code.
        """
        place = "".join(f"[{subscript}]" for subscript in statement.write)
        self.text.line(f"# {statement.target}{place} of {', '.join(statement.sources) or 'nothing'}")
        operation = statement.operation
        match operation:
            case Linear():
                self.linear(statement, operation)
            case Gather():
                self._gather(statement, operation)
            case Scatter():
                raise UnsupportedError("it scatters words")
            case Compare() | Function() | Divide() | Product() | Extreme():
                with self.points(statement):
                    match operation:
                        case Compare():
                            self.compare(statement, operation)
                        case Function():
                            self.function(statement, operation)
                        case Divide():
                            self.divide(statement, operation)
                        case Product():
                            self.product(statement, operation)
                        case Extreme():
                            self.extreme(statement, operation)
            case _:
                assert_never(operation)

    @abstractmethod
    def linear(self, statement: Statement, operation: Linear) -> None:
        """Write a sum, with its loops."""

    @abstractmethod
    def compare(self, statement: Statement, operation: Compare) -> None:
        """Write a comparison at one point."""

    @abstractmethod
    def function(self, statement: Statement, operation: Function) -> None:
        """Write a function at one point."""

    @abstractmethod
    def divide(self, statement: Statement, operation: Divide) -> None:
        """Write a quotient at one point."""

    @abstractmethod
    def product(self, statement: Statement, operation: Product) -> None:
        """Write a product at one point."""

    @abstractmethod
    def extreme(self, statement: Statement, operation: Extreme) -> None:
        """Write an extreme at one point."""

    @abstractmethod
    def constant(self, operand: Constant) -> str:
        """Return a constant."""

    @abstractmethod
    def ordinal(self, operand: Ordinal) -> str:
        """Return the value of indices."""

    def unit(self, name: str) -> str:
        """Return the name of a function of :mod:`tabla.graph.compiled.units`, which the text calls from now on."""
        self.units[name] = None
        return name

    def tensor(self, name: str) -> Tensor:
        """Return a tensor of the graph."""
        return self.graph.tensors[name]

    def operand(self, operand: Operand) -> str:
        """Return an operand at a point."""
        match operand:
            case Read():
                return self.held.get(operand) or self.read(operand)
            case Constant():
                return self.constant(operand)
            case Ordinal():
                return self.ordinal(operand)
            case _:
                assert_never(operand)

    def read(self, read: Read) -> str:
        """Return what a read gives at a point."""
        return self.seen(read.tensor, self.element(read.tensor, read.subscripts))

    def seen(self, tensor: str, element: str) -> str:
        """Return what readers see of an element of a tensor, given as text."""
        return element

    def element(self, tensor: str, subscripts: Sequence[Affine]) -> str:
        """Return an element of a tensor."""
        if tensor in self.plain:
            return self.variables[tensor]
        return f"{self.variables[tensor]}[{', '.join(map(self.text.affine, subscripts)) or '()'}]"

    def target(self, statement: Statement) -> str:
        """Return the element that a statement writes at a point."""
        return self.element(statement.target, statement.write)

    @contextmanager
    def points(self, statement: Statement) -> Iterator[None]:
        """Loop over the output points that the constraints allow."""
        with (
            self.text.loops(statement.indices),
            self.text.where(applying(statement.constraints, statement.indices)),
        ):
            yield

    @contextmanager
    def summed(self, statement: Statement, names: Sequence[str]) -> Iterator[None]:
        """Loop over the points of summed indices that the constraints allow, inside the output loops."""
        box = statement.box
        indices = [box[name] for name in names]
        outer = applying(statement.constraints, statement.indices)
        inner = applying(statement.constraints, [*statement.indices, *indices])
        with self.text.loops(indices), self.text.where([c for c in inner if c not in outer]):
            yield

    @contextmanager
    def holding(self, statement: Statement, operands: Sequence[Operand], beside: Sequence[str]) -> Iterator[None]:
        """Hold the reads that mention none of the indices `beside` in variables.

        The compiler cannot do this where a loop writes an array, since the array might be the one that is read. Under
        constraints a read may lie outside its tensor, so nothing is held there.
        """
        before = dict(self.held)
        for operand in operands:
            if not isinstance(operand, Read) or operand in self.held or statement.constraints or not beside:
                continue
            if operand.tensor not in self.plain and not operand.names & set(beside):
                name = self.text.names.new(f"{self.variables[operand.tensor]}_held")
                self.text.line(f"{name} = {self.operand(operand)}")
                self.held[operand] = name
        yield
        self.held = before

    def row_index(self, statement: Statement, terms: Sequence[Term]) -> Index | None:
        """Return the output index along which sums should run innermost, or None for sums that run one by one.

        Elements are neighbours along the last subscript of a read. Where that is an output index and not a summed one,
        a row of sums is faster than one sum after the other.
        """
        if statement.constraints:
            return None
        box = {index.name: index for index in statement.indices}
        for term in terms:
            for factor in term.factors if term.reduce else ():
                if isinstance(factor, Read) and factor.subscripts:
                    last = factor.subscripts[-1].names
                    if len(last) == 1 and last[0] in box and factor.names & set(term.reduce):
                        return box[last[0]]
        return None

    def in_row(self, index: Index) -> str:
        """Return the element of the row of sums that belongs to a point."""
        return f"row[{self.text.affine(Affine.make(-index.low, {index.name: 1}))}]"

    def position(self, table: Read) -> str:
        """Return the whole number that an element says."""
        return f"int({self.operand(table)})"

    def _gather(self, statement: Statement, operation: Gather) -> None:
        """Check every position of an axis before the next axis, as the evaluation in numpy does, and then read."""
        if self.graph.flat_gathers:
            self._flat_gather(statement, operation)
            return
        places: list[str] = []
        outer = applying(statement.constraints, statement.indices)
        for axis, subscript in enumerate(operation.subscripts):
            if not isinstance(subscript, Gathered):
                places.append(self.text.affine(subscript))
                continue
            place = self.position(subscript.table)
            if subscript.offset != Affine():
                place += f" + {self.text.affine(subscript.offset)}"
            places.append(place)
            with self.text.loops(statement.indices), self.text.where(outer):
                self.text.line(f"position = {place}")
                shape = f"{self.variables[operation.tensor]}.shape[{axis}]"
                with self.text.block(f"if position < 0 or position >= {shape}:"):
                    self.text.line(f"events[1], events[2], events[3] = {statement.id}, {axis}, position")
                    self.text.line("return sample")
        with self.text.loops(statement.indices), self.text.where(outer):
            source = self.variables[operation.tensor]
            read = source if operation.tensor in self.plain else f"{source}[{', '.join(places) or '()'}]"
            self.text.line(f"{self.target(statement)} = {self.seen(operation.tensor, read)}")

    def _flat_gather(self, statement: Statement, operation: Gather) -> None:
        """Check the one position, counted in words of the row-major tensor, and read the element that is there."""
        shape, parts = self.graph.tensors[operation.tensor].shape, list[str]()
        strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        for subscript, stride in zip(operation.subscripts, strides, strict=True):
            offset = subscript.offset if isinstance(subscript, Gathered) else subscript
            parts += [f"{stride} * ({self.text.affine(offset)})"] if offset != Affine() else []
            parts += [f"{stride} * {self.position(subscript.table)}"] if isinstance(subscript, Gathered) else []
        places = [f"position // {stride} % {extent}" for stride, extent in zip(strides, shape, strict=True)]
        outer = applying(statement.constraints, statement.indices)
        with self.text.loops(statement.indices), self.text.where(outer):
            self.text.line(f"position = {' + '.join(parts)}")
            with self.text.block(f"if position < 0 or position >= {prod(shape)}:"):
                self.text.line(f"events[1], events[2], events[3] = {statement.id}, {len(shape) - 1}, position")
                self.text.line("return sample")
            source = self.variables[operation.tensor]
            read = source if operation.tensor in self.plain else f"{source}[{', '.join(places)}]"
            self.text.line(f"{self.target(statement)} = {self.seen(operation.tensor, read)}")
