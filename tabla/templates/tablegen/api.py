"""Records as Python sees them: names, classes, and fields as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from tabla.base.faults import did_you_mean
from tabla.base.source import Label, Span, TablaError
from tabla.templates.tablegen import record as internal
from tabla.templates.tablegen.keeper import RecordKeeper
from tabla.templates.tablegen.literals import BitsValue, BitValue, DagValue, IntValue, ListValue, StringValue, name_text
from tabla.templates.tablegen.record import RecordReference
from tabla.templates.tablegen.stack import deep_stack
from tabla.templates.tablegen.values import UnsetValue
from tabla.templates.tablegen.values import Value as InternalValue


class Unset:
    """The type of `UNSET`, the value ``?``. It is false."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset()


@dataclass(frozen=True, slots=True)
class Pending:
    """A value that a finished record still leaves open, as the reference tool prints it."""

    text: str


@dataclass(frozen=True, slots=True)
class Bits:
    """A value of type ``bits<n>``. `bits` has the least significant bit first, and None where a bit is not known."""

    bits: tuple[int | None, ...]

    @property
    def width(self) -> int:
        """How many bits there are."""
        return len(self.bits)

    @property
    def is_known(self) -> bool:
        """Whether every bit is 0 or 1."""
        return None not in self.bits

    def to_int(self) -> int:
        """Return the unsigned number. A bit that is not known is the user's fault."""
        result = 0
        for index, bit in enumerate(self.bits):
            if bit is None:
                raise TablaError(f"bit {index} of {self} is not set", hint="give every bit a value with let")
            result |= bit << index
        return result

    def __str__(self) -> str:
        return "{ " + ", ".join("?" if bit is None else str(bit) for bit in reversed(self.bits)) + " }"


@dataclass(frozen=True, slots=True)
class DagArgument:
    """One argument of a dag and its name, if it has one."""

    value: Value
    name: str | None


@dataclass(frozen=True, slots=True)
class Dag:
    """``(operator:$name argument:$name, ...)``"""

    operator: Value
    name: str | None
    arguments: tuple[DagArgument, ...]


class Record:
    """A def. Two objects are equal if they are the same def of the same run."""

    __slots__ = ("_record", "_records")

    def __init__(self, record: internal.Record, records: Records) -> None:
        self._record = record
        self._records = records

    @property
    def name(self) -> str:
        """The name of the def."""
        return self._record.name_text()

    @property
    def is_anonymous(self) -> bool:
        """Whether the name was made up."""
        return self._record.anonymous

    @property
    def superclasses(self) -> tuple[str, ...]:
        """All classes it derives from, each after its own parents."""
        return tuple(parent.name_text() for parent in self._record.parents)

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of the fields, in the order of declaration."""
        return tuple(self._record.fields)

    @property
    def span(self) -> Span:
        """Where the def is written."""
        return self._records.span_at(self._record.location)

    def is_a(self, class_name: str) -> bool:
        """Return whether the def derives from the class of this name."""
        return class_name in self.superclasses

    def field_span(self, field: str) -> Span:
        """Return where the field got its value, or else where it was declared."""
        return self._records.span_at(self._field(field).at)

    def field_type(self, field: str) -> str:
        """Return the type of a field, as written."""
        return str(self._field(field).type)

    def __getitem__(self, field: str) -> Value:
        return self._records.value(self._field(field).value)

    def __contains__(self, field: object) -> bool:
        return field in self._record.fields

    def get(self, field: str, default: Value | None = None) -> Value | None:
        """Return the value of a field, or `default` if the def has no such field."""
        return self[field] if field in self._record.fields else default

    def _field(self, field: str) -> internal.Field:
        try:
            return self._record.fields[field]
        except KeyError:
            raise TablaError(
                f"def '{self.name}' has no field '{field}'",
                Label(self.span),
                hint=f"it has {', '.join(self.field_names) or 'none'}",
            ) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._record is other._record

    def __hash__(self) -> int:
        return hash(id(self._record))

    def __repr__(self) -> str:
        return f"<def {self.name}>"


Value: TypeAlias = int | str | list["Value"] | Bits | Dag | Record | Unset | Pending


class Records:
    """All defs of a run, in the order of their definition."""

    def __init__(self, keeper: RecordKeeper, dependencies: tuple[str, ...] = ()) -> None:
        self.keeper = keeper
        # The files that were included.
        self.dependencies = dependencies

    @property
    def dumped(self) -> tuple[str, ...]:
        """The texts that `dump` statements asked for."""
        return tuple(self.keeper.dumped)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is legal and probably a slip, each with its place and its cure."""
        return tuple(self.keeper.warnings)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes, in the order of their definition."""
        return tuple(self.keeper.classes)

    def __getitem__(self, name: str) -> Record:
        try:
            return Record(self.keeper.defs[name], self)
        except KeyError:
            raise TablaError(f"there is no def '{name}'", hint=did_you_mean(name, self.keeper.defs)) from None

    def __contains__(self, name: object) -> bool:
        return name in self.keeper.defs

    def __iter__(self) -> Iterator[Record]:
        return (Record(record, self) for record in self.keeper.defs.values())

    def __len__(self) -> int:
        return len(self.keeper.defs)

    def of_class(self, name: str) -> list[Record]:
        """Return the defs that derive from a class, in the order of their definition."""
        class_ = self.keeper.classes.get(name)
        if class_ is None:
            raise TablaError(f"there is no class '{name}'", hint=did_you_mean(name, self.keeper.classes))
        return [Record(record, self) for record in self.keeper.defs.values() if record.derives_from(class_)]

    def span_at(self, token: int) -> Span:
        """Return the place of a token of the run."""
        return self.keeper.positions.span(token)

    def value(self, value: InternalValue) -> Value:
        """Return a value as Python sees it."""
        if value.ground and isinstance(value, IntValue | BitValue | StringValue):
            return value.value
        with deep_stack():
            return self._value(value)

    def _value(self, value: InternalValue) -> Value:
        match value:
            case UnsetValue():
                return UNSET
            case BitValue(value=number) | IntValue(value=number):
                return number
            case StringValue(value=text):
                return text
            case BitsValue(bits=bits):
                return Bits(tuple(bit.value if isinstance(bit, BitValue) else None for bit in bits))
            case ListValue(items=items):
                return [self._value(item) for item in items]
            case RecordReference(record=record):
                return Record(record, self)
            case DagValue():
                # A list, because a generator would take machine stack for every nested dag.
                arguments = [
                    DagArgument(self._value(argument), name_text(name))
                    for argument, name in zip(value.arguments, value.names, strict=True)
                ]
                return Dag(self._value(value.operator), name_text(value.name), tuple(arguments))
            case _:
                return Pending(value.text())
