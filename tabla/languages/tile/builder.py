"""Contractions step by step: ``Contraction().outShape(N).outAccess(n).sum(I[m, n]).build()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabla.languages.tile.places import refuse
from tabla.languages.tile.program import Aggregation
from tabla.languages.tile.tensors import Tensor, TensorOutput


class Contraction:
    """Another way to write a statement.

    Every step returns the builder, and `build` returns the tensor, called `name`.
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name
        self._start: tuple[Callable[[Tensor, object], Tensor], object] | None = None
        self._output: Tensor | None = None
        self._access: tuple[Any, ...] | None = None
        self._constraints: list[object] = []
        self._right: tuple[Aggregation, object] | None = None

    def outShape(self, *sizes: Any) -> Contraction:
        """Set the shape of the output. Without it, the shape is the smallest that holds all that is written, which is a
        single value where there are no subscripts either.
        """
        self._output = TensorOutput(*sizes)
        return self

    def init(self, values: object) -> Contraction:
        """Aggregate into `values`, as `Tensor.init` does."""
        self._start = (Tensor.init, values)
        return self

    def use_default(self, values: object) -> Contraction:
        """Take elements that nothing is written to from `values`, as `Tensor.use_default` does."""
        self._start = (Tensor.use_default, values)
        return self

    def outAccess(self, *subscripts: Any) -> Contraction:
        """Set the subscripts of the output."""
        self._access = subscripts
        return self

    def sum(self, right: object) -> Contraction:
        """Add up the right side over all valid index values."""
        return self._aggregate("sum", right)

    def product(self, right: object) -> Contraction:
        """Multiply the right side over all valid index values."""
        return self._aggregate("product", right)

    def max(self, right: object) -> Contraction:
        """Take the largest value of the right side."""
        return self._aggregate("max", right)

    def min(self, right: object) -> Contraction:
        """Take the smallest value of the right side."""
        return self._aggregate("min", right)

    def assign(self, right: object) -> Contraction:
        """Take the only value of the right side."""
        return self._aggregate("assign", right)

    def add_constraint(self, constraint: object) -> Contraction:
        """Narrow the index values."""
        self._constraints.append(constraint)
        return self

    def build(self) -> Tensor:
        """Return the tensor that the contraction computes, a single value where neither a shape nor subscripts of the
        output are set. A part that is missing is a `TablaError`.
        """
        single = self._output is None and self._access is None
        access = () if single or (self._output is not None and not self._output.shape) else self._access
        if access is None or self._right is None:
            missing = "outAccess" if access is None else "sum"
            refuse(f"the contraction lacks {missing}", "Contraction().outShape(N).outAccess(n).sum(I[n]).build()")
        aggregation, right = self._right
        made = self._output if self._output is not None else TensorOutput() if single else TensorOutput(...)
        if self._name:
            made.learn_name(self._name)
        made.contract(aggregation, access, right)
        made.add_constraint(self._constraints)
        if self._start is not None:
            begin, values = self._start
            begin(made, values)
        return made

    def _aggregate(self, aggregation: Aggregation, right: object) -> Contraction:
        if self._right is not None:
            refuse("the contraction has an aggregation already", "one of sum, product, max, min, assign")
        self._right = (aggregation, right)
        return self
