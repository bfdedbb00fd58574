"""What every value can do, what a value may ask of the rest of the evaluator, and the unset value ``?``.

A *value* is anything that may be stored in a field: a literal, or an expression that still waits for a template
argument, a field or a loop variable. Waiting expressions are resolved again and again (by each class that a
record inherits, by each ``defm``, at the end of the record) until nothing is left to resolve.

Values, the records that they lie in and the pool that makes them need each other. This module breaks that circle: it
says what values expect of a record (`Owner`), of the pool (`Pool`) and of whoever knows variables (`Resolver`), and
imports none of those that answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from tabla.base.source import TablaError
from tabla.templates.tablegen.types import BIT, BitsType, ListType, Type

_V = TypeVar("_V", bound="Value")


class Owner(Protocol):
    """The record that is being worked on, as far as the values in it look at it."""

    @property
    def name(self) -> Value:
        """The name, which may still wait for a template argument."""

    @property
    def locations(self) -> tuple[int, ...]:
        """The token that defines the record, then those of the instantiations that led to it."""

    def name_text(self) -> str:
        """Return the name, as far as it is known."""

    def type(self) -> Type:
        """Return the type of a reference to the record."""

    def reference(self) -> TypedValue:
        """Return the one value that means the record."""


class Pool(Protocol):
    """Makes values, so that equal values are the same object. `pool.InterningPool` is the one of a run."""

    @property
    def llvm(self) -> int:
        """The version of the reference tool that answers where the versions differ."""

    def bit(self, value: object) -> Value:
        """Return ``1`` for a true `value`, else ``0``."""

    def integer(self, value: int) -> Value:
        """Return a number, wrapped to 64 bits."""

    def string(self, text: str, *, is_code: bool = False) -> Value:
        """Return a string or a code fragment."""

    def bits(self, bits: Sequence[Value]) -> Value:
        """Return ``{ ... }`` of bits that are given with the least significant first."""

    def bits_of(self, value: int, width: int) -> Value:
        """Return the low `width` bits of a number."""

    def as_bits(self, value: Value, width: int) -> Value:
        """Split a value of a bits type into its single bits."""

    def list(self, items: Sequence[Value], element: Type) -> Value:
        """Return a list of a given element type."""

    def dag(self, operator: Value, name: Value, arguments: Sequence[Value], names: Sequence[Value]) -> Value:
        """Return ``(operator:$name argument:$name, ...)``."""

    def unique(self, kind: type[_V], *parts: object) -> _V:
        """Return the value ``kind(*parts)``, which is made once."""

    def bit_of(self, value: TypedValue, index: int) -> Value:
        """Return ``value{index}`` of a value that is not known yet."""

    def element_of(self, value: TypedValue, index: int) -> Value:
        """Return ``value[index]`` of a value that is not known yet."""

    def pending_cast(self, value: TypedValue, wanted: Type) -> Value:
        """Return ``!cast<wanted>(value)``, folded as far as it goes without a record."""

    def definition(self, name: str) -> Owner | None:
        """Return the finished def of this name."""

    def instances(self, wanted: Any) -> Sequence[Owner]:
        """Return the finished defs of a type of records, by name."""

    def fault(self, message: str, owner: Owner | None) -> TablaError:
        """Return the user's fault in `owner`; without one, in the statement that is being evaluated."""


class Resolver:
    """Knows what variables stand for; this base knows nothing.

    `record` is the record being worked on; `is_final` says that no later step will follow.
    """

    is_final = False
    # The last step of a record leaves a reference to an unset bit as the reference.
    keeps_unset_bits = False
    # A value that is not known after the last step is looked at as the other versions of the reference tool do.
    insists = False

    def __init__(self, pool: Pool, record: Owner | None = None) -> None:
        self.pool = pool
        self.record = record

    def lookup(self, name: str) -> Value | None:
        """Return the value of a variable; None leaves the variable."""
        return None

    def lookup_anonymous(self, name: Value) -> Value:
        """Return what the name of an anonymous record stands for; by default the name itself."""
        return name


class Value:
    """The base of all values.

    `ground` promises that resolving cannot change the value: the hot path returns it without looking inside.
    """

    __slots__ = ("ground",)

    ground: bool

    # None only for the unset value, which fits every type.
    type: Type | None

    def text(self) -> str:
        """Return the value as the reference tool prints it."""
        raise NotImplementedError

    def plain_text(self) -> str:
        """Return the text of the value, without the quotes of a string."""
        return self.text()

    def resolve(self, resolver: Resolver) -> Value:
        """Replace what the resolver knows and fold what became computable."""
        raise NotImplementedError

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        """Return this value as one of type `wanted`, without leaving work behind. Return None if that cannot be said
        now.
        """
        raise NotImplementedError

    def cast(self, wanted: Type, pool: Pool) -> Value | None:
        """Return this value as one of type `wanted`. A value that is not known yet may become a pending conversion.
        None refuses.
        """
        raise NotImplementedError

    def bit(self, index: int, pool: Pool) -> Value:
        """Return one bit of a value whose type has bits."""
        raise AssertionError(f"{self.text()} has no bits")

    def select_bits(self, indices: list[int], pool: Pool) -> Value | None:
        """Return ``value{...}``, the least significant bit first, or None if that makes no sense."""
        return None

    def select_elements(self, indices: list[int], pool: Pool) -> Value | None:
        """Return ``value[...]``, or None if that makes no sense."""
        return None

    def is_complete(self) -> bool:
        """Return False if some part of the value is unset."""
        return True

    def is_concrete(self) -> bool:
        """Return whether nothing in the value waits for anything."""
        return False


def all_concrete(values: Iterable[Value]) -> bool:
    """Return whether nothing in the values waits. It is a plain loop, because `all` over a generator takes machine
    stack.
    """
    for value in values:
        if not value.is_concrete():
            return False
    return True


def all_ground(values: Iterable[Value]) -> bool:
    """Return whether resolving can change none of the values."""
    for value in values:
        if not value.ground:
            return False
    return True


def all_complete(values: Iterable[Value]) -> bool:
    """Return whether no part of the values is unset."""
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


class PendingValue(TypedValue):
    """A value that is not known yet: it has bits by reference."""

    __slots__ = ()

    def bit(self, index: int, pool: Pool) -> Value:
        return self if self.type is BIT else pool.bit_of(self, index)


class Atom(TypedValue):
    """A value that has no parts, so that nothing in it waits."""

    __slots__ = ()

    def resolve(self, resolver: Resolver) -> Value:
        return self

    def is_concrete(self) -> bool:
        return True
