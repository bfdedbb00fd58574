"""Statements in float64 as text. Sums may be taken in another order than numpy takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabla.graph.compiled.statements import Statements
from tabla.graph.compiled.text import UnsupportedError
from tabla.graph.constraints import applying
from tabla.graph.functions import FUNCTIONS
from tabla.graph.graph import (
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Linear,
    Ordinal,
    Product,
    Read,
    Statement,
    Term,
)

_IN_NUMPY: Mapping[str, str] = {"tanh": "tanh", "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos"}
_OWN = ("sigmoid", "gaussian")


@dataclass(slots=True)
class Reals(Statements[float]):
    """Writes statements on float64 numbers. Tensors that say positions hold them times 2^-`fraction`."""

    fraction: int = 0

    def position(self, table: Read) -> str:
        """Return the whole number that an element says."""
        number = self.operand(table)
        return f"int({number} * {self.text.number(2.0**self.fraction, 'scale')})" if self.fraction else f"int({number})"

    def constant(self, operand: Constant) -> str:
        """Return a variable with a constant."""
        return self.text.number(float(operand.value), "constant")

    def ordinal(self, operand: Ordinal) -> str:
        """Return an affine value as a real."""
        return f"({self.text.affine(operand.value)}) * {self.text.number(2.0**-operand.fraction, 'unit')}"

    def _value(self, operation: Linear, term: Term) -> str:
        factors = list(map(self.operand, term.factors))
        if operation.shift and len(factors) == 2:
            factors.append(self.text.number(2.0**-operation.shift, "scale"))
        return f"{'+' if term.sign > 0 else '-'}= {' * '.join(factors)}"

    def linear(self, statement: Statement, operation: Linear) -> None:
        """Write a sum, one by one or in rows."""
        row = self.row_index(statement, operation.terms)
        if row is not None:
            place = self.in_row(row)
            with self.text.loops([index for index in statement.indices if index != row]):
                with self.text.loops([row]):
                    self.text.line(f"{place} = 0.0")
                for term in operation.terms:
                    with (
                        self.summed(statement, term.reduce),
                        self.holding(statement, term.factors, [row.name]),
                        self.text.loops([row]),
                    ):
                        self.text.line(f"{place} {self._value(operation, term)}")
                with self.text.loops([row]):
                    self._store(statement, operation, place)
            return
        inner = statement.indices[-1:]
        plain = [f for t in operation.terms if not t.reduce for f in t.factors]
        with (
            self.text.loops(statement.indices[:-1]),
            self.holding(statement, plain, [index.name for index in inner]),
            self.text.loops(inner),
            self.text.where(applying(statement.constraints, statement.indices)),
        ):
            self.text.line("total = 0.0")
            for term in operation.terms:
                with self.summed(statement, term.reduce):
                    self.text.line(f"total {self._value(operation, term)}")
            self._store(statement, operation, "total")

    def _store(self, statement: Statement, operation: Linear, total: str) -> None:
        value = total if operation.test is None else f"1.0 if {total} {operation.test} 0.0 else 0.0"
        self.text.line(f"{self.target(statement)} = {value}")

    def compare(self, statement: Statement, operation: Compare) -> None:
        """Write a comparison, which gives 1 or 0."""
        left, right = self.operand(operation.left), self.operand(operation.right)
        self.text.line(f"{self.target(statement)} = 1.0 if {left} {operation.op} {right} else 0.0")

    def function(self, statement: Statement, operation: Function) -> None:
        """Write a function of one operand."""
        name, value = operation.name, self.operand(operation.operand)
        if name in _IN_NUMPY and name in FUNCTIONS:
            self.text.line(f"{self.target(statement)} = np.{_IN_NUMPY[name]}({value})")
        elif name in _OWN:
            self.text.line(f"{self.target(statement)} = {self.unit(name)}({value})")
        else:
            raise UnsupportedError(f"the function '{name}' is known in numpy only")

    def divide(self, statement: Statement, operation: Divide) -> None:
        """Write a quotient of two operands."""
        value = f"{self.operand(operation.left)} / {self.operand(operation.right)}"
        if operation.fraction is not None:
            value = f"np.trunc({value}) * {self.text.number(2.0**-operation.fraction, 'unit')}"
        self.text.line(f"{self.target(statement)} = {value}")

    def product(self, statement: Statement, operation: Product) -> None:
        """Write a product over summed indices."""
        begin = "1.0" if operation.initial is None else self.operand(operation.initial)
        if operation.initial is None and operation.shift:
            begin = self.text.number(2.0**operation.shift, "begin")
        step = f" * {self.text.number(2.0**-operation.shift, 'scale')}" if operation.shift else ""
        self.text.line(f"value = {begin}")
        with self.summed(statement, operation.reduce):
            self.text.line(f"value *= {self.operand(operation.operand)}{step}")
        self.text.line(f"{self.target(statement)} = value")

    def extreme(self, statement: Statement, operation: Extreme) -> None:
        """Write the largest or smallest of numbers."""
        join = self.unit("larger" if operation.op == "max" else "smaller")
        neutral = "-np.inf" if operation.op == "max" else "np.inf"
        self.text.line(f"value = {neutral if operation.initial is None else self.operand(operation.initial)}")
        with self.summed(statement, operation.reduce):
            for operand in operation.operands:
                self.text.line(f"value = {join}(value, {self.operand(operand)})")
        self.text.line(f"{self.target(statement)} = value")
