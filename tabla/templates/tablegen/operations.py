"""The remaining bang operators: !cond, !foldl and !isa."""

from __future__ import annotations

from tabla.templates.tablegen.literals import IntValue, ListValue
from tabla.templates.tablegen.record import RecordReference, RecordType
from tabla.templates.tablegen.resolvers import MapResolver, ShadowResolver
from tabla.templates.tablegen.types import INT, Type
from tabla.templates.tablegen.values import (
    Owner,
    PendingValue,
    Pool,
    Resolver,
    TypedValue,
    Value,
    all_complete,
    all_concrete,
)


class _AlwaysByBit(PendingValue):
    """These name their bits even when they are of type bit, which shows in unfinished output."""

    __slots__ = ()

    def bit(self, index: int, pool: Pool) -> Value:
        return pool.bit_of(self, index)


class CondOperation(_AlwaysByBit):
    """``!cond(condition : value, ...)``"""

    __slots__ = ("conditions", "values")

    def __init__(self, conditions: tuple[Value, ...], values: tuple[Value, ...], type: Type) -> None:
        super().__init__(type, all(value.ground for value in (*conditions, *values)))
        self.conditions = conditions
        self.values = values

    def text(self) -> str:
        clauses = [
            f"{condition.text()}: {value.text()}" for condition, value in zip(self.conditions, self.values, strict=True)
        ]
        return f"!cond({', '.join(clauses)})"

    def is_complete(self) -> bool:
        return all_complete(self.conditions) and all_concrete(self.values)

    def is_concrete(self) -> bool:
        return all_concrete(self.conditions) and all_concrete(self.values)

    def resolve(self, resolver: Resolver) -> Value:
        conditions = tuple([one.resolve(resolver) for one in self.conditions])
        values = tuple([one.resolve(resolver) for one in self.values])
        new = resolver.pool.unique(CondOperation, conditions, values, self.type)
        return self if new is self else new.fold(resolver.record, resolver.pool)

    def fold(self, record: Owner | None, pool: Pool) -> Value:
        """Return the value of the first condition that holds, if those before it are known."""
        for condition, value in zip(self.conditions, self.values, strict=True):
            known = condition.convert(INT, pool)
            if not isinstance(known, IntValue):
                return self
            if known.value:
                converted = value.convert(self.type, pool)
                if converted is None:
                    raise pool.fault(f"!cond value {value.text()} is not of type '{self.type}'", record)
                return converted
        owner = f"{record.name_text()} " if record is not None else "this !cond "
        raise pool.fault(f"{owner}does not have any true condition in: {self.text()}", record)


class FoldOperation(_AlwaysByBit):
    """``!foldl(start, items, accumulator, element, body)``"""

    __slots__ = ("accumulator", "body", "element", "items", "start")

    def __init__(
        self, start: TypedValue, items: Value, accumulator: str, element: str, body: Value, type: Type
    ) -> None:
        super().__init__(type, False)
        self.start = start
        self.items = items
        self.accumulator = accumulator
        self.element = element
        self.body = body

    def text(self) -> str:
        return (
            f"!foldl({self.start.text()}, {self.items.text()}, {self.accumulator}, {self.element}, {self.body.text()})"
        )

    def is_complete(self) -> bool:
        return False

    def resolve(self, resolver: Resolver) -> Value:
        start, items = self.start.resolve(resolver), self.items.resolve(resolver)
        body = self.body.resolve(ShadowResolver(resolver, self.accumulator, self.element))
        if start is self.start and items is self.items and body is self.body:
            return self
        new = resolver.pool.unique(FoldOperation, start, items, self.accumulator, self.element, body, self.type)
        return new.fold(resolver.record, resolver.pool)

    def fold(self, record: Owner | None, pool: Pool) -> Value:
        """Return the result of the loop, or the operation itself if its items are not known yet."""
        if not isinstance(self.items, ListValue):
            return self
        result: Value = self.start
        for item in self.items.items:
            resolver = MapResolver(pool, record)
            resolver.bind(self.accumulator, result)
            resolver.bind(self.element, item)
            result = self.body.resolve(resolver)
        return result


class IsAOperation(_AlwaysByBit):
    """``!isa<wanted>(operand)``"""

    __slots__ = ("operand", "wanted")

    def __init__(self, wanted: Type, operand: Value) -> None:
        super().__init__(INT, operand.ground)
        self.wanted = wanted
        self.operand = operand

    def text(self) -> str:
        return f"!isa<{self.wanted}>({self.operand.text()})"

    def is_complete(self) -> bool:
        return False

    def resolve(self, resolver: Resolver) -> Value:
        operand = self.operand.resolve(resolver)
        if operand is self.operand:
            return self
        return resolver.pool.unique(IsAOperation, self.wanted, operand).fold(pool=resolver.pool)

    def fold(self, pool: Pool) -> Value:
        """Return 0 or 1 as soon as the type decides it, and else the operation itself."""
        operand = self.operand
        if not isinstance(operand, TypedValue):
            return self
        if operand.type.converts_to(self.wanted):
            return pool.integer(1)
        if isinstance(self.wanted, RecordType):
            # It may still turn out to be a record of a class that is more special than the type says.
            if self.wanted.converts_to(operand.type) and not isinstance(operand, RecordReference):
                return self
        return pool.integer(0)
