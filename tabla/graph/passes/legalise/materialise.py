"""Materialisation: constants and ordinals become tensors that are loaded with the models.

The mapping then sees only reads. The constant 1 may stay as a factor beside a read, because the datapath has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Label, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Graph, Index, Linear, Operand, Ordinal, Read, Statement, Tensor, Term
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import with_operands


@dataclass(slots=True)
class _Pool:
    """The tensors and words of a graph as constants are added; `known` has the read of each value that is there."""

    format: Format
    tensors: dict[str, Tensor]
    words: dict[str, NDArray[np.int64]]
    known: dict[object, Read]

    def operand(self, operand: Operand, box: Mapping[str, Index], *, factor: bool) -> Operand:
        """Return an operand as a read; with `factor`, the constant 1 may stay. `box` has the statement's indices."""
        match operand:
            case Read():
                return operand
            case Constant(value=value):
                if factor and value == 1:
                    return operand
                word = self._checked(value, operand)
                return self._scalar(word)
            case Ordinal():
                return self._ordinal(operand, box)

    def _checked(self, value: Fraction | int, operand: Constant | Ordinal) -> int:
        if not self.format.holds(value):
            labels = (Label(operand.span, "here"),) if operand.span else ()
            raise TablaError(
                f"the value {float(value):g} does not fit {self.format}", *labels, hint="use more integer bits"
            )
        return self.format.nearest(value)

    def _free(self) -> str:
        """Return a name that no tensor has. A graph that was legal before has constants already."""
        number = len(self.known)
        while f"constant.{number}" in self.tensors:
            number += 1
        return f"constant.{number}"

    def _scalar(self, word: int) -> Read:
        if word not in self.known:
            name = self._free()
            self.tensors[name] = Tensor(name=name, shape=(), role="constant", origin=name)
            self.words[name] = np.array(word, dtype=np.int64)
            self.known[word] = Read(tensor=name)
        return self.known[word]

    def _ordinal(self, operand: Ordinal, box: Mapping[str, Index]) -> Read:
        affine, fraction = operand.value, operand.fraction
        indices = tuple(box[n] for n in affine.names)
        low, high = affine.bounds(box)
        for end in (low, high):
            self._checked(Fraction(end, 1 << fraction), operand)
        # Each range of indices has a table of its own. Its subscripts start at 0, so the low end is taken off.
        key = (affine, fraction, tuple((i.low, i.high) for i in indices))
        if key not in self.known:
            name = self._free()
            values = np.array(affine.constant, dtype=np.int64)
            for index in indices:
                steps = affine.coefficient(index.name) * np.arange(index.low, index.high, dtype=np.int64)
                values = np.add.outer(values, steps)
            self.tensors[name] = Tensor(name=name, shape=tuple(i.extent for i in indices), role="constant", origin=name)
            self.words[name] = values << (self.format.fraction - fraction)
            self.known[key] = Read(tensor=name)
        name = self.known[key].tensor
        return Read(tensor=name, subscripts=tuple(Affine.make(-i.low, {i.name: 1}) for i in indices))


@graph_pass(
    "materialise",
    "make tensors of the constants and of the values of indices, which are loaded with the models",
)
def materialise(graph: Graph, fmt: Format) -> Graph:
    """Replace constants and ordinals by reads of constant tensors, whose words join those that are there.

    Raises `TablaError` for a value that the format cannot hold.
    """
    pool = _Pool(fmt, dict(graph.tensors), dict(graph.words), {})
    statements = tuple(_statement(s, pool) for s in graph.statements)
    return replace(graph, tensors=pool.tensors, statements=statements, words=pool.words, fraction=fmt.fraction)


def _factors(term: Term, box: Mapping[str, Index], pool: _Pool) -> tuple[Operand, ...]:
    """Return the factors of a term as reads; a factor 1 may stay beside a read."""
    made = [pool.operand(f, box, factor=len(term.factors) == 2) for f in term.factors]
    if not any(isinstance(f, Read) for f in made):
        made[0] = pool.operand(term.factors[0], box, factor=False)
    return tuple(made)


def _statement(statement: Statement, pool: _Pool) -> Statement:
    box = statement.box
    if isinstance(statement.operation, Linear):
        terms = tuple(replace(t, factors=_factors(t, box, pool)) for t in statement.operation.terms)
        return replace(statement, operation=replace(statement.operation, terms=terms))
    operation = with_operands(statement.operation, lambda operand: pool.operand(operand, box, factor=False))
    return replace(statement, operation=operation)
