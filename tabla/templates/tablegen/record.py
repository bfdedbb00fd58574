"""Records: the classes and the defs, the fields in them, their types and the references to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from tabla.templates.tablegen.literals import StringValue
from tabla.templates.tablegen.types import BitsType, Type
from tabla.templates.tablegen.values import UNSET_VALUE, Atom, Pool, Resolver, TypedValue, Value


class RecordPool(Pool, Protocol):
    """What records ask of the pool beyond what values do."""

    def record_type(self, classes: Iterable[Record]) -> RecordType:
        """Return the type of records with all of `classes`."""


class Field:
    """A field or a template argument. `may_wait` marks a field that was declared with the word ``field``."""

    __slots__ = ("at", "is_argument", "may_wait", "name", "type", "value")

    def __init__(
        self,
        name: str,
        type: Type,
        at: int,
        *,
        pool: Pool | None = None,
        value: Value | None = None,
        is_argument: bool = False,
        may_wait: bool = False,
    ) -> None:
        self.name = name
        self.type = type
        self.at = at
        self.is_argument = is_argument
        self.may_wait = may_wait
        if value is not None:
            self.value = value
        elif pool is not None and isinstance(type, BitsType):
            self.value = pool.bits([UNSET_VALUE] * type.width)
        else:
            self.value = UNSET_VALUE

    def copy(self) -> Field:
        """Return the same field for another record."""
        new = Field.__new__(Field)
        new.name = self.name
        new.type = self.type
        new.at = self.at
        new.value = self.value
        new.is_argument = self.is_argument
        new.may_wait = self.may_wait
        return new

    def set(self, value: Value, pool: Pool) -> bool:
        """Give the field a value. Return False if the value does not fit its type."""
        cast = value.cast(self.type, pool)
        if cast is None:
            return False
        self.value = pool.as_bits(cast, self.type.width) if isinstance(self.type, BitsType) else cast
        return True

    def type_text(self) -> str:
        """Return the type as printed. A string that holds a code fragment prints as code."""
        if isinstance(self.value, StringValue) and self.value.is_code:
            return "code"
        return self.type.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """An assert statement. `at` is the token where the condition starts."""

    at: int
    condition: Value
    message: Value

    def resolve(self, resolver: Resolver) -> Assertion:
        """Return the assertion with what the resolver knows."""
        return Assertion(at=self.at, condition=self.condition.resolve(resolver), message=self.message.resolve(resolver))


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpRequest:
    """A dump statement of the newer language."""

    at: int
    message: Value

    def resolve(self, resolver: Resolver) -> DumpRequest:
        """Return the request with what the resolver knows."""
        return DumpRequest(at=self.at, message=self.message.resolve(resolver))


class Record:
    """A class, a def, or a def of a multiclass that waits for its ``defm``."""

    __slots__ = (
        "_ancestors",
        "_reference",
        "anonymous",
        "assertions",
        "dumps",
        "fields",
        "is_class",
        "locations",
        "name",
        "parents",
        "pool",
        "template_arguments",
    )

    def __init__(
        self, name: Value, locations: tuple[int, ...], pool: RecordPool, *, anonymous: bool, is_class: bool
    ) -> None:
        self.name = name
        self.locations = locations
        self.pool = pool
        self.anonymous = anonymous
        self.is_class = is_class
        self.fields: dict[str, Field] = {}
        self.template_arguments: list[str] = []
        # All ancestors, each after its own ancestors, so that direct parents can be told from the order.
        self.parents: list[Record] = []
        self.assertions: list[Assertion] = []
        self.dumps: list[DumpRequest] = []
        self._ancestors: set[Record] = set()
        self._reference: RecordReference | None = None

    def copy(self) -> Record:
        """Return a record of its own with the same contents."""
        new = Record(self.name, self.locations, self.pool, anonymous=self.anonymous, is_class=self.is_class)
        new.fields = {name: field.copy() for name, field in self.fields.items()}
        new.template_arguments = list(self.template_arguments)
        new.parents = list(self.parents)
        new._ancestors = set(self._ancestors)
        new.assertions = list(self.assertions)
        new.dumps = list(self.dumps)
        return new

    @property
    def location(self) -> int:
        """The token that defines the record."""
        return self.locations[0]

    def name_text(self) -> str:
        """Return the name, as far as it is known."""
        return self.name.plain_text()

    def derives_from(self, class_: Record) -> bool:
        """Return whether `class_` is a parent, or a parent's parent, and so on."""
        return class_ in self._ancestors

    def add_parent(self, class_: Record) -> None:
        """Append one ancestor. The caller keeps the order."""
        self.parents.append(class_)
        self._ancestors.add(class_)

    def direct_parents(self) -> list[Record]:
        """Return the parents that were named, last one first."""
        direct: list[Record] = []
        index = len(self.parents) - 1
        while index >= 0:
            parent = self.parents[index]
            direct.append(parent)
            index -= 1 + len(parent.parents)
        return direct

    def type(self) -> RecordType:
        """Return the type of a reference to this record."""
        return self.pool.record_type(self.direct_parents())

    def instance_type(self) -> RecordType:
        """Return the type of the records of this class."""
        return self.pool.record_type([self])

    def reference(self) -> RecordReference:
        """Return the one value that means this record."""
        if self._reference is None:
            self._reference = RecordReference(self)
        return self._reference

    def resolve(self, resolver: Resolver) -> None:
        """Resolve the name, the fields and the assertions."""
        if not self.name.ground:
            self.rename(self.name.resolve(resolver))
        pool = resolver.pool
        for field in self.fields.values():
            value = field.value
            if value.ground:
                continue
            new = value.resolve(resolver)
            if new is value:
                continue
            if not field.set(new, pool):
                of_type = f"of type '{new.type}' " if isinstance(new, TypedValue) else ""
                raise pool.fault(
                    f"invalid value {of_type}found when setting field '{field.name}' of type '{field.type}' "
                    f"after resolving references: {new.plain_text()}",
                    self,
                )
        if self.assertions:
            self.assertions = [assertion.resolve(resolver) for assertion in self.assertions]
        if self.dumps:
            self.dumps = [request.resolve(resolver) for request in self.dumps]

    def rename(self, name: Value) -> None:
        """Change the name, which must be a string."""
        if not isinstance(name, TypedValue) or str(name.type) != "string":
            raise self.pool.fault(f"record name '{name.text()}' is not a string", self)
        self.name = name


class RecordReference(Atom):
    """A finished record, or one that refers to itself."""

    __slots__ = ("record",)

    def __init__(self, record: Record) -> None:
        super().__init__(record.type(), True)
        self.record = record

    def text(self) -> str:
        return self.record.name_text()

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        return self if isinstance(wanted, RecordType) and self.type.converts_to(wanted) else None


class RecordType(Type):
    """The type of records that have all of `classes`; without classes, the type of all records."""

    __slots__ = ("classes",)

    def __init__(self, classes: tuple[Record, ...]) -> None:
        names = [one.name_text() for one in classes]
        super().__init__(names[0] if len(names) == 1 else "{" + ", ".join(names) + "}")
        self.classes = classes

    def has_class(self, wanted: Record) -> bool:
        """Return whether every record of this type derives from `wanted`."""
        return any(one is wanted or one.derives_from(wanted) for one in self.classes)

    def is_a(self, other: Type) -> bool:
        return self.converts_to(other)

    def converts_to(self, other: Type) -> bool:
        if self is other:
            return True
        return isinstance(other, RecordType) and all(self.has_class(wanted) for wanted in other.classes)


def field_named(value: Value, name: str) -> Field | None:
    """Return the field `name` of a value of a record type."""
    if isinstance(value, RecordReference):
        return value.record.fields.get(name)
    if isinstance(value, TypedValue) and isinstance(value.type, RecordType):
        for one in value.type.classes:
            if name in one.fields:
                return one.fields[name]
    return None


def record_text(record: Record) -> str:
    """Return one class or def, without the word before it."""
    parts = [record.name_text()]
    if record.template_arguments:
        parts.append(f"<{', '.join([field_text(record.fields[name]) for name in record.template_arguments])}>")
    parts.append(" {")
    if record.parents:
        parts.append("\t// " + " ".join(parent.name_text() for parent in record.parents))
    parts.append("\n")
    fields = [field for field in record.fields.values() if not field.is_argument]
    # Fields declared with the word come first, whatever the order of declaration.
    parts += [f"  {field_text(field)};\n" for field in fields if field.may_wait]
    parts += [f"  {field_text(field)};\n" for field in fields if not field.may_wait]
    parts.append("}\n")
    return "".join(parts)


def field_text(field: Field) -> str:
    """Return ``type name = value``."""
    prefix = "field " if field.may_wait else ""
    return f"{prefix}{field.type_text()} {field.name} = {field.value.text()}"
