"""Checks one statement: its left side, its where clauses, its reduction, the type of what it defines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from tabla.base.faults import Faults
from tabla.base.lexemes import Lexeme
from tabla.base.source import Label, Span
from tabla.languages.tc import program, syntax
from tabla.languages.tc.builtins import ARITY
from tabla.languages.tc.check_expressions import Expressions, Names, Skipped, count
from tabla.languages.tc.program import Assign, IndexRange, Tensor, Value, walk
from tabla.languages.tc.scalars import Scalar, promote


class StatementCheck:
    """Checks one comprehension against the names around it."""

    def __init__(self, statement: syntax.Comprehension, names: Names, faults: Faults) -> None:
        self.statement, self.names, self.faults = statement, names, faults
        self.expressions = Expressions(names, faults)
        self.ranges: list[IndexRange] = []
        self.guards: list[Value] = []

    def run(self) -> Assign | None:
        """Return the checked statement, or None when a fault leaves none."""
        good = self._left_side()
        for clause in self.statement.clauses:
            try:
                self._clause(clause)
            except Skipped:
                good = False
        try:
            value = self.expressions.value(self.statement.value)
        except Skipped:
            return None
        return self._assign(value) if good else None

    def _left_side(self) -> bool:
        good = self._target()
        for index in self.statement.indices or ():
            name = index.text
            if name in self.names.indices:
                self._defined_already(index, self.names.indices[name], "each index stands once on the left side")
            elif name in self.names.sizes:
                self._defined_already(index, self.names.sizes[name], "an index has a name of its own")
            elif name in self.names.tensors:
                self._defined_already(index, self.names.tensors[name].span, "an index has a name of its own")
            else:
                self.names.indices[name] = index.span
                continue
            good = False
        return good

    def _target(self) -> bool:
        target = self.statement.target
        if target.text in self.names.sizes:
            self._defined_already(target, self.names.sizes[target.text], "a size is not assigned; choose another name")
        elif target.text in ARITY:
            hint = "choose another name"
            self.faults.add(f"'{target.text}' is a built-in function", target.span, hint=hint)
        elif target.text in self.names.functions:
            self.faults.add(f"'{target.text}' is a function of this file", target.span, hint="choose another name")
        elif (tensor := self.names.tensors.get(target.text)) is not None and tensor.role == "input":
            label = Label(tensor.span, "an argument")
            hint = "inputs are immutable: assign to another name and return it"
            self.faults.add(f"'{target.text}' is an input and cannot be assigned", target.span, also=[label], hint=hint)
        elif tensor is not None and tensor.rank != self._rank:
            self.faults.add(
                f"'{target.text}' has {count(tensor.rank, 'dimension')}, this defines {self._rank}",
                target.span,
                also=[Label(tensor.span, "defined here")],
                hint="choose another name, or give it as many indices",
            )
        else:
            return True
        return False

    @property
    def _rank(self) -> int:
        return len(self.statement.indices or ())

    def _clause(self, clause: syntax.Clause) -> None:
        match clause:
            case syntax.Range():
                self._range(clause)
            case syntax.Let(name=name, value=value):
                found = self.expressions.value(value)
                self._free_for_let(name)
                self.names.lets[name.text] = found
                self.guards.append(found)
            case syntax.Exists(element=element):
                found = self.expressions.value(element)
                if not isinstance(found, program.Read):
                    hint = "write an element of a tensor: exists A(i)"
                    self.faults.add("'exists' needs an element of a tensor", element.span, hint=hint)
                    raise Skipped
                self.guards.append(found)

    def _range(self, clause: syntax.Range) -> None:
        name = clause.index.text
        if name in self.names.sizes:
            hint = "a size has its value from the inputs; give the range of an index"
            self.faults.add(f"'{name}' is a size, not an index", clause.index.span, hint=hint)
            raise Skipped
        if name in self.names.tensors or name in self.names.lets:
            hint = "give the range of an index"
            self.faults.add(f"'{name}' is no index", clause.index.span, hint=hint)
            raise Skipped
        for other in self.ranges:
            if other.index == name:
                self._defined_already(clause.index, other.span, "an index has one range")
                raise Skipped
        self.names.indices.setdefault(name, clause.index.span)
        low, high = (self._bound(end) for end in (clause.low, clause.high))
        self.ranges.append(IndexRange(index=name, low=low, high=high, span=clause.span))

    def _bound(self, expression: syntax.Expression) -> Value:
        value = self.expressions.integral(self.expressions.value(expression), "this end of a range")
        for part in walk(value):
            if isinstance(part, program.Read):
                hint = "the ends of a range are made of sizes, integers and other indices"
                self.faults.add("a range cannot depend on the values of a tensor", part.span, hint=hint)
                raise Skipped
        return value

    def _free_for_let(self, name: Lexeme) -> None:
        known = {**self.names.sizes, **{tensor: found.span for tensor, found in self.names.tensors.items()}}
        known |= {let: value.span for let, value in self.names.lets.items()} | self.names.indices
        if name.text in known:
            self._defined_already(name, known[name.text], "choose another name in the where clause")
            raise Skipped

    def _assign(self, value: Value) -> Assign | None:
        statement = self.statement
        text = statement.operator.text
        left = [index.text for index in statement.indices or ()]
        reduced = [name for name in self.names.indices if name not in left]
        if text == "=" and reduced:
            self.faults.add(
                f"'{reduced[0]}' is on the right side only, but '=' does not reduce",
                self.names.indices[reduced[0]],
                also=[Label(statement.operator.span, "assigned here")],
                hint=f"sum over it with +=!, or add '{reduced[0]}' to the left side",
            )
            return None
        reduction = text.rstrip("!").rstrip("=") or None
        return Assign(
            target=statement.target.text,
            indices=tuple(left),
            reduced=tuple(reduced),
            reduction=cast("program.Reduction | None", reduction),
            initialise=text.endswith("!"),
            value=value,
            ranges=tuple(self.ranges),
            guards=tuple(self.guards),
            places=dict(self.names.indices),
            span=statement.span,
        )

    def _defined_already(self, name: Lexeme, first: Span, hint: str) -> None:
        label = Label(first, "first here")
        self.faults.add(f"'{name.text}' is already defined", name.span, "again here", also=[label], hint=hint)


def narrows(target: Scalar, value: Scalar) -> bool:
    """Return whether a tensor of type `target` cannot hold every value of type `value`."""
    return promote(target, value) != target


def defined(
    assign: Assign, known: Tensor | None, annotated: Tensor | None, returned: Sequence[str], faults: Faults
) -> Tensor | None:
    """Return the tensor that a statement defines or updates, or None after a fault of its type or rank."""
    scalar = assign.value.scalar
    if known is not None or annotated is not None:
        tensor = cast(Tensor, known or annotated)
        if tensor.rank != len(assign.indices):
            returned_rank = count(tensor.rank, "dimension")
            faults.add(
                f"'{tensor.name}' is returned with {returned_rank}, this defines {len(assign.indices)}",
                assign.span,
                also=[Label(tensor.span, "returned here")],
                hint="make the type of the result match its indices",
            )
            return None
        if narrows(tensor.scalar, scalar):
            faults.add(
                f"'{tensor.name}' holds {tensor.scalar}, this value is {scalar}",
                assign.value.span,
                also=[Label(tensor.span, f"{tensor.scalar} here")],
                hint=f"cast it: {tensor.scalar}(...)",
            )
            return None
        return tensor if known is not None else replace(tensor, initial=_accumulates(assign))
    return Tensor(
        name=assign.target,
        scalar=scalar,
        rank=len(assign.indices),
        role="output" if assign.target in returned else "temporary",
        dimensions=None,
        initial=_accumulates(assign),
        span=Span(source=assign.span.source, start=assign.span.start, end=assign.span.start + len(assign.target)),
    )


def _accumulates(assign: Assign) -> bool:
    return assign.reduction is not None and not assign.initialise
