"""Bits, numbers, strings, lists and dags."""

from __future__ import annotations

from tabla.templates.tablegen.types import BIT, DAG, INT, STRING, BitsType, ListType, Type
from tabla.templates.tablegen.values import (
    Atom,
    Pool,
    Resolver,
    TypedValue,
    UnsetValue,
    Value,
    all_complete,
    all_concrete,
    all_ground,
)
from tabla.templates.tablegen.variables import VariableBit


class BitValue(Atom):
    """``0`` or ``1`` of type bit."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        super().__init__(BIT, True)
        self.value = value

    def text(self) -> str:
        return "1" if self.value else "0"

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        if wanted is BIT:
            return self
        if wanted is INT:
            return pool.integer(self.value)
        if isinstance(wanted, BitsType) and wanted.width == 1:
            return pool.bits([self])
        return None

    def bit(self, index: int, pool: Pool) -> Value:
        return self


class BitsValue(TypedValue):
    """``{ a, b, c }``; `bits` has the least significant first, and each may be unset or pending."""

    __slots__ = ("bits",)

    def __init__(self, type: BitsType, bits: tuple[Value, ...]) -> None:
        super().__init__(type, all_ground(bits))
        self.bits = bits

    def text(self) -> str:
        return "{ " + ", ".join([bit.text() for bit in reversed(self.bits)]) + " }"

    def resolve(self, resolver: Resolver) -> Value:
        if self.ground:
            return self
        pool = resolver.pool
        new_bits: list[Value] = []
        last_base: Value | None = None
        last_resolved: Value | None = None
        for bit in self.bits:
            if bit.ground:
                new_bits.append(bit)
                continue
            if isinstance(bit, VariableBit):
                if bit.base is not last_base:
                    last_base = bit.base
                    last_resolved = last_base.resolve(resolver)
                assert last_resolved is not None
                new = last_resolved.bit(bit.index, pool)
            else:
                # An int or a bits<1> that arrives where a bit stood gives its lowest bit.
                new = bit.resolve(resolver).bit(0, pool)
            if resolver.keeps_unset_bits and isinstance(new, UnsetValue):
                new = bit
            new_bits.append(new)
        return pool.bits(new_bits)

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        if wanted is BIT:
            return self.bits[0] if len(self.bits) == 1 else None
        if isinstance(wanted, BitsType):
            return self if wanted is self.type else None
        if wanted is INT:
            result = 0
            for index, bit in enumerate(self.bits):
                if not isinstance(bit, BitValue):
                    return None
                result |= bit.value << index
            return pool.integer(result)
        return None

    def bit(self, index: int, pool: Pool) -> Value:
        return self.bits[index]

    def select_bits(self, indices: list[int], pool: Pool) -> Value | None:
        if any(index >= len(self.bits) for index in indices):
            return None
        return pool.bits([self.bits[index] for index in indices])

    def is_complete(self) -> bool:
        return all_complete(self.bits)

    def is_concrete(self) -> bool:
        return all_concrete(self.bits)


class IntValue(Atom):
    """A number of 64 bits."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        super().__init__(INT, True)
        self.value = value

    def text(self) -> str:
        return str(self.value)

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        if wanted is INT:
            return self
        if wanted is BIT:
            return pool.bit(self.value) if self.value in (0, 1) else None
        if isinstance(wanted, BitsType):
            width = wanted.width
            if width < 64 and self.value >> width != 0 and (width == 0 or self.value >> (width - 1) != -1):
                return None
            # A bit past 63 is the sign's in Python and 0 in the reference tool.
            return pool.bits_of(self.value % (1 << 64), width)
        return None

    def bit(self, index: int, pool: Pool) -> Value:
        return pool.bit(self.value >> index & 1)

    def select_bits(self, indices: list[int], pool: Pool) -> Value | None:
        if any(index >= 64 for index in indices):
            return None
        return pool.bits([pool.bit(self.value >> index & 1) for index in indices])


class StringValue(Atom):
    """A string; `is_code` remembers that it was written as a code fragment."""

    __slots__ = ("is_code", "value")

    def __init__(self, value: str, is_code: bool) -> None:
        super().__init__(STRING, True)
        self.value = value
        self.is_code = is_code

    def text(self) -> str:
        return f"[{{{self.value}}}]" if self.is_code else f'"{self.value}"'

    def plain_text(self) -> str:
        return self.value

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        return self if wanted is STRING else None


class ListValue(TypedValue):
    """``[a, b, c]``"""

    __slots__ = ("items",)

    type: ListType

    def __init__(self, type: ListType, items: tuple[Value, ...]) -> None:
        super().__init__(type, all_ground(items))
        self.items = items

    @property
    def element_type(self) -> Type:
        """The type of the elements."""
        return self.type.element

    def text(self) -> str:
        return "[" + ", ".join([item.text() for item in self.items]) + "]"

    def resolve(self, resolver: Resolver) -> Value:
        if self.ground:
            return self
        new_items = [item if item.ground else item.resolve(resolver) for item in self.items]
        return resolver.pool.list(new_items, self.type.element)

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        if wanted is self.type:
            return self
        if not isinstance(wanted, ListType):
            return None
        changed = False
        new_items: list[Value] = []
        for item in self.items:
            new = item.convert(wanted.element, pool)
            if new is None:
                return None
            changed |= new is not item
            new_items.append(new)
        # A list that needs no change keeps its own type, which is the more special one.
        return pool.list(new_items, wanted.element) if changed else self

    def select_elements(self, indices: list[int], pool: Pool) -> Value | None:
        if any(index >= len(self.items) for index in indices):
            return None
        if len(indices) == 1:
            return self.items[indices[0]]
        return pool.list([self.items[index] for index in indices], self.type.element)

    def is_complete(self) -> bool:
        return all_complete(self.items)

    def is_concrete(self) -> bool:
        return all_concrete(self.items)


def name_text(name: Value) -> str | None:
    """Return the name of an operator or of an argument of a dag, and None if it has no name."""
    return name.value if isinstance(name, StringValue) else None


class DagValue(TypedValue):
    """``(operator:$name argument:$name, ...)``; a name is a string, which may be code, or unset."""

    __slots__ = ("_has_dollar", "arguments", "name", "names", "operator")

    def __init__(
        self,
        operator: Value,
        name: Value,
        arguments: tuple[Value, ...],
        names: tuple[Value, ...],
        has_dollar: bool,
    ) -> None:
        super().__init__(DAG, operator.ground and all_ground(arguments))
        self.operator = operator
        self.name = name
        self.arguments = arguments
        self.names = names
        self._has_dollar = has_dollar

    def text(self) -> str:
        # Older versions print the name of the operator without its dollar sign, unlike those of the arguments.
        sign = "$" if self._has_dollar else ""
        name = name_text(self.name)
        head = self.operator.text() + (f":{sign}{name}" if name is not None else "")
        if not self.arguments:
            return f"({head})"
        arguments = [
            value.text() if name is None else f"{value.text()}:${name}"
            for value, name in zip(self.arguments, map(name_text, self.names), strict=True)
        ]
        return f"({head} {', '.join(arguments)})"

    def resolve(self, resolver: Resolver) -> Value:
        if self.ground:
            return self
        arguments = [value if value.ground else value.resolve(resolver) for value in self.arguments]
        return resolver.pool.dag(self.operator.resolve(resolver), self.name, arguments, self.names)

    def is_concrete(self) -> bool:
        return self.operator.is_concrete() and all_concrete(self.arguments)
