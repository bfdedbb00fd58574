"""What every value can do, and the unset value ``?``.

A *value* is anything that may be stored in a field: a literal, or an expression that still waits for a template
argument, a field or a loop variable. Waiting expressions are resolved again and again (by each class that a
record inherits, by each ``defm``, at the end of the record) until nothing is left to resolve.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tabla.lang.tablegen.types import BIT, BitsType, ListType, RecordType, Type

if TYPE_CHECKING:
    from tabla.lang.tablegen.pool import Pool
    from tabla.lang.tablegen.record import Field
    from tabla.lang.tablegen.resolvers import Resolver


class Value:
    """The base of all values.

    `ground` promises that resolving cannot change the value: the hot path returns it without looking inside.
    """

    __slots__ = ("ground",)

    ground: bool

    # None only for the unset value, which fits every type.
    type: Type | None

    def text(self) -> str:
        """The value as the reference tool prints it."""
        raise NotImplementedError

    def plain_text(self) -> str:
        """As `text`, but a string without its quotes."""
        return self.text()

    def resolve(self, resolver: Resolver) -> Value:
        """Replace what the resolver knows and fold what became computable."""
        raise NotImplementedError

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        """This value as one of type `wanted`, without leaving work behind; None if that cannot be said now."""
        raise NotImplementedError

    def cast(self, wanted: Type, pool: Pool) -> Value | None:
        """As `convert`, but a value that is not known yet may become a pending conversion; None refuses."""
        raise NotImplementedError

    def bit(self, index: int, pool: Pool) -> Value:
        """One bit of a value whose type has bits."""
        raise AssertionError(f"{self.text()} has no bits")

    def select_bits(self, indices: list[int], pool: Pool) -> Value | None:
        """``value{...}``, least significant first; None if it makes no sense."""
        return None

    def select_elements(self, indices: list[int], pool: Pool) -> Value | None:
        """``value[...]``; None if it makes no sense."""
        return None

    def field_named(self, name: str) -> Field | None:
        """The field `name` of a value of a record type."""
        return None

    def is_complete(self) -> bool:
        """False if some part is unset."""
        return True

    def is_concrete(self) -> bool:
        """Whether nothing in the value waits for anything."""
        return False


def all_concrete(values: Iterable[Value]) -> bool:
    """Whether nothing in the values waits; a plain loop, because `all` over a generator takes machine stack."""
    for value in values:
        if not value.is_concrete():
            return False
    return True


def all_complete(values: Iterable[Value]) -> bool:
    """Whether no part of the values is unset."""
    for value in values:
        if not value.is_complete():
            return False
    return True


class UnsetValue(Value):
    """``?``"""

    __slots__ = ()

    type = None

    def __init__(self) -> None:
        self.ground = True

    def text(self) -> str:
        return "?"

    def resolve(self, resolver: Resolver) -> Value:
        return self

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        return self

    def cast(self, wanted: Type, pool: Pool) -> Value | None:
        return self

    def bit(self, index: int, pool: Pool) -> Value:
        return self

    def is_complete(self) -> bool:
        return False

    def is_concrete(self) -> bool:
        return True


UNSET_VALUE = UnsetValue()


class TypedValue(Value):
    """A value with a type: all of them but ``?``."""

    __slots__ = ("type",)

    type: Type

    def __init__(self, type: Type, ground: bool) -> None:
        self.type = type
        self.ground = ground

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        if self.type.is_a(wanted):
            return self
        if self.type is BIT and isinstance(wanted, BitsType) and wanted.width == 1:
            return pool.bits([self])
        return None

    def cast(self, wanted: Type, pool: Pool) -> Value | None:
        if self.type.is_a(wanted):
            return self
        converted = self.convert(wanted, pool)
        if converted is not None:
            return converted
        if not self.type.converts_to(wanted):
            return None
        return pool.pending_cast(self, wanted)

    def select_bits(self, indices: list[int], pool: Pool) -> Value | None:
        if not isinstance(self.type, BitsType) or any(index >= self.type.width for index in indices):
            return None
        return pool.bits([pool.bit_of(self, index) for index in indices])

    def select_elements(self, indices: list[int], pool: Pool) -> Value | None:
        if not isinstance(self.type, ListType):
            return None
        elements = [pool.element_of(self, index) for index in indices]
        return elements[0] if len(elements) == 1 else pool.list(elements, self.type.element)

    def field_named(self, name: str) -> Field | None:
        if isinstance(self.type, RecordType):
            for one in self.type.classes:
                if name in one.fields:
                    return one.fields[name]
        return None


class PendingValue(TypedValue):
    """A value that is not known yet: it has bits by reference."""

    __slots__ = ()

    def bit(self, index: int, pool: Pool) -> Value:
        return self if self.type is BIT else pool.bit_of(self, index)
