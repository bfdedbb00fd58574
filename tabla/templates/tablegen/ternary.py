"""Bang operators of three operands: !if, !dag, !subst, !substr, !find, and the loops !foreach and !filter."""

from __future__ import annotations

from tabla.templates.tablegen.literals import DagValue, IntValue, ListValue, StringValue
from tabla.templates.tablegen.record import RecordReference
from tabla.templates.tablegen.resolvers import MapResolver, ShadowResolver
from tabla.templates.tablegen.types import INT, ListType, Type
from tabla.templates.tablegen.values import UNSET_VALUE, Owner, PendingValue, Pool, Resolver, UnsetValue, Value
from tabla.templates.tablegen.variables import Variable


class TernaryOperation(PendingValue):
    """``!operator(first, second, third)``"""

    __slots__ = ("first", "operator", "second", "third")

    def __init__(self, operator: str, first: Value, second: Value, third: Value, type: Type) -> None:
        super().__init__(type, first.ground and second.ground and third.ground)
        self.operator = operator
        self.first = first
        self.second = second
        self.third = third

    def text(self) -> str:
        return f"!{self.operator}({self.first.text()}, {self.second.text()}, {self.third.text()})"

    def is_complete(self) -> bool:
        return self.first.is_complete() and self.second.is_complete() and self.third.is_complete()

    def resolve(self, resolver: Resolver) -> Value:
        if self.ground:
            return self
        pool = resolver.pool
        first = self.first.resolve(resolver)
        if self.operator == "if" and first is not self.first:
            condition = first.convert(INT, pool)
            if isinstance(condition, IntValue):
                # The branch not taken may be nonsense: it is not looked at.
                return (self.second if condition.value else self.third).resolve(resolver)
        second = self.second.resolve(resolver)
        third = self.third.resolve(resolver)
        if first is self.first and second is self.second and third is self.third:
            return self
        operation = pool.unique(TernaryOperation, self.operator, first, second, third, self.type)
        return operation.fold(resolver.record, pool)

    def fold(self, record: Owner | None, pool: Pool) -> Value:
        """Return the result, or the operation itself if an operand is not known yet."""
        match self.operator:
            case "if":
                condition = self.first.convert(INT, pool)
                if isinstance(condition, IntValue):
                    return self.second if condition.value else self.third
                return self
            case "subst":
                return self._substitute(record, pool)
            case "dag":
                return self._make_dag(pool)
            case "substr":
                return self._substring(record, pool)
            case _:
                return self._find(record, pool)

    def _substitute(self, record: Owner | None, pool: Pool) -> Value:
        match self.first, self.second, self.third:
            case RecordReference() as old, RecordReference() as new, RecordReference() as where:
                return new if old.text() == where.text() else where
            case Variable() as old, Variable() as new, Variable() as where:
                return pool.unique(Variable, new.name if old.name == where.name else where.name, self.type)
            case StringValue() as old, StringValue() as new, StringValue() as where:
                if not old.value:
                    raise pool.fault("!subst of an empty string would never end", record)
                return pool.string(where.value.replace(old.value, new.value))
            case _:
                return self

    def _make_dag(self, pool: Pool) -> Value:
        children, names = self.second, self.third
        if isinstance(children, ListValue):
            values = children.items
        elif isinstance(children, UnsetValue) and isinstance(names, ListValue):
            values = (UNSET_VALUE,) * len(names.items)
        else:
            return self
        if isinstance(names, UnsetValue):
            labels: tuple[Value, ...] = (UNSET_VALUE,) * len(values)
        elif isinstance(names, ListValue):
            labels = names.items
        else:
            return self
        if len(labels) != len(values) or not all(isinstance(one, StringValue | UnsetValue) for one in labels):
            return self
        texts = [one.value if isinstance(one, StringValue) else None for one in labels]
        return pool.dag(self.first, None, values, texts)

    def _substring(self, record: Owner | None, pool: Pool) -> Value:
        text, start, length = self.first, self.second, self.third
        if not (isinstance(text, StringValue) and isinstance(start, IntValue) and isinstance(length, IntValue)):
            return self
        _check_start("!substr", start.value, len(text.value), record, pool)
        if length.value < 0:
            raise pool.fault("!substr length must be nonnegative", record)
        return pool.string(text.value[start.value : start.value + length.value], is_code=text.is_code)

    def _find(self, record: Owner | None, pool: Pool) -> Value:
        text, wanted, start = self.first, self.second, self.third
        if not (isinstance(text, StringValue) and isinstance(wanted, StringValue) and isinstance(start, IntValue)):
            return self
        _check_start("!find", start.value, len(text.value), record, pool)
        return pool.integer(text.value.find(wanted.value, start.value))


def _check_start(operator: str, start: int, size: int, record: Owner | None, pool: Pool) -> None:
    if not 0 <= start <= size:
        raise pool.fault(f"{operator} start position is out of range 0...{size}: {start}", record)


class LoopOperation(PendingValue):
    """``!foreach(variable, items, body)`` and ``!filter(variable, items, body)``"""

    __slots__ = ("body", "items", "operator", "variable")

    def __init__(self, operator: str, variable: str, items: Value, body: Value, type: Type) -> None:
        super().__init__(type, items.ground and body.ground)
        self.operator = operator
        self.variable = variable
        self.items = items
        self.body = body

    def text(self) -> str:
        return f"!{self.operator}({self.variable}, {self.items.text()}, {self.body.text()})"

    def is_complete(self) -> bool:
        return self.items.is_complete() and self.body.is_complete()

    def resolve(self, resolver: Resolver) -> Value:
        items = self.items.resolve(resolver)
        body = self.body.resolve(ShadowResolver(resolver, self.variable))
        if items is self.items and body is self.body:
            return self
        operation = resolver.pool.unique(LoopOperation, self.operator, self.variable, items, body, self.type)
        return operation.fold(resolver.record, resolver.pool)

    def fold(self, record: Owner | None, pool: Pool) -> Value:
        """Return the result of the loop, or the operation itself if its items are not known yet."""
        items = self.items
        if isinstance(items, DagValue):
            return self._over_dag(items, record, pool)
        if not isinstance(items, ListValue):
            return self
        assert isinstance(self.type, ListType)
        if self.operator == "foreach":
            return pool.list([self._apply(item, record, pool) for item in items.items], self.type.element)
        kept: list[Value] = []
        for item in items.items:
            wanted = self._apply(item, record, pool).convert(INT, pool)
            if not isinstance(wanted, IntValue):
                return self
            if wanted.value:
                kept.append(item)
        return pool.list(kept, self.type.element)

    def _apply(self, item: Value, record: Owner | None, pool: Pool) -> Value:
        if self.body.ground:
            return self.body
        resolver = MapResolver(pool, record)
        resolver.bind(self.variable, item)
        return self.body.resolve(resolver)

    def _over_dag(self, dag: DagValue, record: Owner | None, pool: Pool) -> Value:
        operator = self._apply(dag.operator, record, pool)
        arguments = [
            self._over_dag(argument, record, pool)
            if isinstance(argument, DagValue)
            else self._apply(argument, record, pool)
            for argument in dag.arguments
        ]
        if operator is dag.operator and all(new is old for new, old in zip(arguments, dag.arguments, strict=True)):
            return dag
        return pool.dag(operator, None, arguments, dag.names)
