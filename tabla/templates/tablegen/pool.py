"""One object for each distinct value of a run.

Two equal instantiations ``C<1, x>`` must become the same anonymous record, so equality of values has to be cheap and
exact. Every compound value is therefore made here and looked up by the identities of its parts. Equal values are the
same object, and whether a value changed is asked by ``is``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from tabla.base.source import TablaError
from tabla.templates.tablegen.literals import BitsValue, BitValue, DagValue, IntValue, ListValue, StringValue
from tabla.templates.tablegen.operation import Operation
from tabla.templates.tablegen.operators import CAST
from tabla.templates.tablegen.record import Record, RecordType
from tabla.templates.tablegen.types import BitsType, ListType, Type
from tabla.templates.tablegen.values import Owner, TypedValue, Value
from tabla.templates.tablegen.variables import VariableBit, VariableElement

_V = TypeVar("_V", bound=Value)

DEFAULT_LLVM = 14
"""The version of the reference tool whose answers are given where nobody asks for another."""
MAX_TEXT = 1 << 20
"""The most characters of a string, which a few lines of doubling would pass."""
MAX_ITEMS = 1 << 20
"""The most items of a list."""
# From this version on the name of the operator of a dag has its dollar sign.
_DOLLAR_SINCE = 22
_INT64 = 1 << 64
_INT64_MIN = -(1 << 63)


class InterningPool:
    """Makes and remembers the types and values of one run.

    `definitions` are the finished defs by name, which grow while the pool is in use. ``fault(message, record)`` makes
    the user's fault in a record. `llvm` is the version of the reference tool that answers where the versions differ.
    """

    def __init__(
        self, definitions: Mapping[str, Record], fault: Callable[[str, Owner | None], TablaError], llvm: int
    ) -> None:
        self.llvm = llvm
        self._definitions = definitions
        self._fault = fault
        self.zero, self.one = BitValue(0), BitValue(1)
        self._ints: dict[int, IntValue] = {}
        self._strings: dict[str, StringValue] = {}
        self._codes: dict[str, StringValue] = {}
        self._bits: dict[tuple[Value, ...], BitsValue] = {}
        self._lists: dict[tuple[Type, tuple[Value, ...]], ListValue] = {}
        self._dags: dict[tuple[object, ...], DagValue] = {}
        self._others: dict[tuple[object, ...], Value] = {}
        self._bits_types: dict[int, BitsType] = {}
        self._list_types: dict[Type, ListType] = {}
        self._record_types: dict[tuple[Record, ...], RecordType] = {}

    def bits_type(self, width: int) -> BitsType:
        """Return the type ``bits<width>``."""
        found = self._bits_types.get(width)
        if found is None:
            found = self._bits_types[width] = BitsType(width)
        return found

    def list_type(self, element: Type) -> ListType:
        """Return the type ``list<element>``."""
        found = self._list_types.get(element)
        if found is None:
            found = self._list_types[element] = ListType(element)
        return found

    def record_type(self, classes: Iterable[Record]) -> RecordType:
        """Return the type of records with all of `classes`."""
        key = tuple(classes)
        if len(key) > 1:
            key = tuple(sorted(key, key=lambda one: one.name_text()))
        found = self._record_types.get(key)
        if found is None:
            found = self._record_types[key] = RecordType(key)
        return found

    def common_type(self, first: Type, second: Type) -> Type | None:
        """Return the type that both convert to: for records that of their common classes, else the wider of the two."""
        if first is second:
            return first
        if isinstance(first, RecordType) and isinstance(second, RecordType):
            common: list[Record] = []
            stack = list(first.classes)
            while stack:
                one = stack.pop()
                if second.has_class(one):
                    common.append(one)
                else:
                    stack.extend(one.direct_parents())
            return self.record_type(dict.fromkeys(common))
        if first.converts_to(second):
            return second
        if second.converts_to(first):
            return first
        if isinstance(first, ListType) and isinstance(second, ListType):
            element = self.common_type(first.element, second.element)
            return None if element is None else self.list_type(element)
        return None

    def bit(self, value: object) -> BitValue:
        """Return ``1`` for a true `value`, else ``0``."""
        return self.one if value else self.zero

    def integer(self, value: int) -> IntValue:
        """Return a number, wrapped to 64 bits."""
        found = self._ints.get(value)
        if found is None:
            wrapped = (value - _INT64_MIN) % _INT64 + _INT64_MIN
            found = self._ints[value] = self.integer(wrapped) if wrapped != value else IntValue(value)
        return found

    def string(self, text: str, *, is_code: bool = False) -> StringValue:
        """Return a string or a code fragment."""
        table = self._codes if is_code else self._strings
        found = table.get(text)
        if found is None:
            if len(text) > MAX_TEXT:
                raise self._fault(f"a text of more than {MAX_TEXT} characters", None)
            found = table[text] = StringValue(text, is_code)
        return found

    def bits(self, bits: Sequence[Value]) -> BitsValue:
        """Return ``{ ... }`` of bits that are given with the least significant first."""
        key = tuple(bits)
        found = self._bits.get(key)
        if found is None:
            found = self._bits[key] = BitsValue(self.bits_type(len(key)), key)
        return found

    def bits_of(self, value: int, width: int) -> BitsValue:
        """Return the low `width` bits of a number."""
        return self.bits([self.one if value >> index & 1 else self.zero for index in range(width)])

    def list(self, items: Sequence[Value], element: Type) -> ListValue:
        """Return a list of a given element type."""
        key = (element, tuple(items))
        found = self._lists.get(key)
        if found is None:
            if len(key[1]) > MAX_ITEMS:
                raise self._fault(f"a list of more than {MAX_ITEMS} items", None)
            found = self._lists[key] = ListValue(self.list_type(element), key[1])
        return found

    def dag(self, operator: Value, name: Value, arguments: Sequence[Value], names: Sequence[Value]) -> DagValue:
        """Return ``(operator:$name argument:$name, ...)``."""
        key = (operator, name, tuple(arguments), tuple(names))
        found = self._dags.get(key)
        if found is None:
            found = self._dags[key] = DagValue(operator, name, key[2], key[3], self.llvm >= _DOLLAR_SINCE)
        return found

    def unique(self, kind: type[_V], *parts: object) -> _V:
        """Return the value ``kind(*parts)``, which is made once. It serves references and operators, whose parts are
        interned already.
        """
        key = (kind, *parts)
        found = self._others.get(key)
        if found is None:
            found = self._others[key] = kind(*parts)
        return found  # type: ignore[return-value]

    def bit_of(self, value: TypedValue, index: int) -> VariableBit:
        """Return ``value{index}`` of a value that is not known yet."""
        return self.unique(VariableBit, value, index)

    def element_of(self, value: TypedValue, index: int) -> VariableElement:
        """Return ``value[index]`` of a value that is not known yet."""
        return self.unique(VariableElement, value, index)

    def pending_cast(self, value: TypedValue, wanted: Type) -> Value:
        """Return ``!cast<wanted>(value)``, folded as far as it goes without a record."""
        return self.unique(Operation, CAST, wanted, None, (), value).fold(None, self)

    def definition(self, name: str) -> Record | None:
        """Return the finished def of this name."""
        return self._definitions.get(name)

    def instances(self, wanted: RecordType) -> tuple[Record, ...]:
        """Return the finished defs of a type, by name."""
        return tuple(one for _, one in sorted(self._definitions.items()) if one.type().is_a(wanted))

    def fault(self, message: str, owner: Owner | None) -> TablaError:
        """Return the user's fault in `owner`; without one, in the statement that is being evaluated."""
        return self._fault(message, owner)

    def as_bits(self, value: Value, width: int) -> BitsValue:
        """Split a value of a bits type into its single bits."""
        if isinstance(value, BitsValue):
            return value
        return self.bits([value.bit(index, self) for index in range(width)])
