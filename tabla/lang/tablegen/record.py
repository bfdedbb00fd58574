"""Records: the classes, the defs and the fields in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabla.lang.tablegen.literals import BitsValue, IntValue, StringValue
from tabla.lang.tablegen.references import RecordReference, Variable, VariableBit
from tabla.lang.tablegen.resolvers import RecordResolver, Resolver
from tabla.lang.tablegen.types import BitsType, RecordType, Type
from tabla.lang.tablegen.unary import UnaryOperation
from tabla.lang.tablegen.values import UNSET_VALUE, TypedValue, Value
from tabla.source import Label, TablaError

if TYPE_CHECKING:
    from tabla.lang.tablegen.keeper import RecordKeeper
    from tabla.lang.tablegen.pool import Pool


class Field:
    """A field or a template argument; `may_wait` marks one declared with the word ``field``."""

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
        """The same field for another record."""
        new = Field.__new__(Field)
        new.name, new.type, new.at, new.value = self.name, self.type, self.at, self.value
        new.is_argument, new.may_wait = self.is_argument, self.may_wait
        return new

    def set(self, value: Value, pool: Pool) -> bool:
        """Give the field a value; False if the value does not fit its type."""
        cast = value.cast(self.type, pool)
        if cast is None:
            return False
        self.value = pool.as_bits(cast, self.type.width) if isinstance(self.type, BitsType) else cast
        return True

    def type_text(self) -> str:
        """The type as printed; a string that holds a code fragment prints as code."""
        if isinstance(self.value, StringValue) and self.value.is_code:
            return "code"
        return str(self.type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """An assert statement; `at` is the token where the condition starts."""

    at: int
    condition: Value
    message: Value

    def resolve(self, resolver: Resolver) -> Assertion:
        """The assertion with what the resolver knows."""
        return Assertion(at=self.at, condition=self.condition.resolve(resolver), message=self.message.resolve(resolver))


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpRequest:
    """A dump statement of the newer language."""

    at: int
    message: Value

    def resolve(self, resolver: Resolver) -> DumpRequest:
        """The request with what the resolver knows."""
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
        "keeper",
        "locations",
        "name",
        "parents",
        "template_arguments",
    )

    def __init__(
        self, name: Value, locations: tuple[int, ...], keeper: RecordKeeper, *, anonymous: bool, is_class: bool
    ) -> None:
        self.name = name
        self.locations = locations
        self.keeper = keeper
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
        """A record of its own with the same contents."""
        new = Record(self.name, self.locations, self.keeper, anonymous=self.anonymous, is_class=self.is_class)
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
        """The name, as far as it is known."""
        return self.name.plain_text()

    def derives_from(self, class_: Record) -> bool:
        """Whether `class_` is a parent, or a parent's parent, and so on."""
        return class_ in self._ancestors

    def add_parent(self, class_: Record) -> None:
        """Append one ancestor; the caller keeps the order."""
        self.parents.append(class_)
        self._ancestors.add(class_)

    def direct_parents(self) -> list[Record]:
        """The parents that were named, last one first."""
        direct: list[Record] = []
        index = len(self.parents) - 1
        while index >= 0:
            parent = self.parents[index]
            direct.append(parent)
            index -= 1 + len(parent.parents)
        return direct

    def type(self) -> RecordType:
        """The type of a reference to this record."""
        return self.keeper.pool.record_type(self.direct_parents())

    def instance_type(self) -> RecordType:
        """The type of the records of this class."""
        return self.keeper.pool.record_type([self])

    def reference(self) -> RecordReference:
        """The one value that means this record."""
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

    def resolve_finally(self, new_name: Value | None = None) -> None:
        """Resolve references between the fields of this record; nothing comes after this."""
        self.resolve(RecordResolver(self.keeper.pool, self, new_name))

    def rename(self, name: Value) -> None:
        """Change the name, which must be a string."""
        if not isinstance(name, TypedValue) or str(name.type) != "string":
            raise self.keeper.pool.fault(f"record name '{name.text()}' is not a string", self)
        self.name = name

    def check_assertions(self) -> None:
        """Fail with the message of the first assertion that does not hold."""
        if not self.assertions:
            return
        resolver = RecordResolver(self.keeper.pool, self)
        for assertion in self.assertions:
            self.keeper.check_assertion(assertion.resolve(resolver))

    def check_concrete(self) -> None:
        """Every field must be computed by now, unless it was declared with ``field``."""
        for field in self.fields.values():
            value = field.value
            if field.may_wait or (value.ground and not isinstance(value, BitsValue) and value.is_concrete()):
                continue
            if isinstance(value, BitsValue):
                concrete = all(self._bit_is_settled(bit) for bit in value.bits)
            else:
                concrete = value.is_concrete()
            if not concrete:
                raise self._unresolved(field)

    def _unresolved(self, field: Field) -> TablaError:
        """Why a field is not finished: most often a number that its type cannot hold."""
        keeper = self.keeper
        value = field.value
        first = value.bits[0] if isinstance(value, BitsValue) and value.bits else value
        pending = first.base if isinstance(first, VariableBit) else first
        if isinstance(pending, UnaryOperation) and pending.operator == "cast" and isinstance(pending.operand, IntValue):
            message = (
                f"value {pending.operand.text()} of '{field.name}' in '{self.name_text()}' does not fit its type "
                f"'{field.type}'"
            )
        else:
            message = (
                f"initializer of '{field.name}' in '{self.name_text()}' could not be fully resolved: {value.text()}"
            )
        fault = keeper.fault_in(message, self)
        place = Label(keeper.positions.span(field.at), "the field got its value here")
        return TablaError(fault.message, *fault.labels, place, hint=fault.hint, notes=fault.notes)

    def _bit_is_settled(self, bit: Value) -> bool:
        # A bit may stay a reference to a field that is unset: encoders fill such fields in from operands.
        if isinstance(bit, VariableBit):
            if isinstance(bit.base, Variable) and bit.base.name in self.fields:
                return True
        elif isinstance(bit, Variable):
            return True
        return bit.is_concrete()


def record_text(record: Record) -> str:
    """One class or def, without the word before it."""
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
    """``type name = value``"""
    prefix = "field " if field.may_wait else ""
    return f"{prefix}{field.type_text()} {field.name} = {field.value.text()}"
