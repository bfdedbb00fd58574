"""How a record gets its fields and their values: declarations, lets and parents."""

from __future__ import annotations

from tabla.base.source import TablaError
from tabla.templates.tablegen.keeper import RecordKeeper
from tabla.templates.tablegen.literals import BitsValue
from tabla.templates.tablegen.record import Field, Record
from tabla.templates.tablegen.resolvers import MapResolver
from tabla.templates.tablegen.scope import Entry, Loop, Scope
from tabla.templates.tablegen.types import STRING
from tabla.templates.tablegen.values import TypedValue, Value
from tabla.templates.tablegen.variables import Variable


def missing_argument(keeper: RecordKeeper, name: str, index: int, what: str, owner: Record, at: int) -> TablaError:
    """Return the fault of a template argument without a value."""
    return keeper.fault(
        f"value not specified for template argument '{name}' (#{index}) of {what} '{owner.name_text()}'", at
    )


class Inheritance:
    """Gives values to the fields of records."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.keeper = scope.keeper
        self.pool = scope.pool

    def fault(self, message: str, at: int) -> TablaError:
        """Return the user's fault at a token."""
        return self.keeper.fault(message, at)

    def add_field(self, record: Record, field: Field, at: int) -> None:
        """Declare a field. A field that is there already takes the new value."""
        known = record.fields.get(field.name)
        if known is None:
            record.fields[field.name] = field
        elif not known.set(field.value, self.pool):
            raise self.fault(
                f"new definition of '{field.name}' of type '{field.type}' is incompatible with previous definition "
                f"of type '{known.type}'",
                at,
            )

    def set_value(self, record: Record, name: str, value: Value, at: int, bits: list[int] | None = None) -> None:
        """Give a field (or some of its bits) a value that must fit."""
        field = record.fields.get(name)
        if field is None:
            raise self.fault(f"value '{name}' unknown", at)
        if not bits and isinstance(value, Variable) and value.name == name:
            raise self.fault("recursion / self-assignment forbidden", at)
        if bits:
            value = self._with_bits(field, value, at, bits)
        field.at = at
        if not field.set(value, self.pool):
            of_type = f" of type '{value.type}'" if isinstance(value, TypedValue) else ""
            raise self.fault(
                f"field '{name}' of type '{field.type}' is incompatible with value '{value.text()}'{of_type}", at
            )

    def _with_bits(self, field: Field, value: Value, at: int, bits: list[int]) -> BitsValue:
        if not isinstance(field.value, BitsValue):
            raise self.fault(f"value '{field.name}' is not a bits type", at)
        new = value.cast(self.pool.bits_type(len(bits)), self.pool)
        if new is None:
            raise self.fault("initializer is not compatible with bit range", at)
        result: list[Value | None] = [None] * len(field.value.bits)
        for index, bit in enumerate(bits):
            if bit >= len(result):
                raise self.fault(f"'{field.name}' has no bit #{bit}", at)
            if result[bit] is not None:
                raise self.fault(f"cannot set bit #{bit} of value '{field.name}' more than once", at)
            result[bit] = new.bit(index, self.pool)
        return self.pool.bits([old if one is None else one for one, old in zip(result, field.value.bits, strict=True)])

    def _inherit(self, record: Record, class_: Record, arguments: list[Value], at: int) -> None:
        """Make `class_` a parent of `record`."""
        pool = self.pool
        resolver = MapResolver(pool, record)
        fields = record.fields
        for field in class_.fields.values():
            if field.is_argument:
                resolver.bind(field.name, field.value)
            elif field.name in fields:
                self.add_field(record, field, at)
            else:
                fields[field.name] = field.copy()
        for index, name in enumerate(class_.template_arguments):
            if index < len(arguments):
                resolver.bind(name, arguments[index])
            elif not resolver.is_complete(name):
                raise missing_argument(self.keeper, name, index, "parent class", class_, at)
        record.assertions.extend(class_.assertions)
        record.dumps.extend(class_.dumps)
        own_name: Value = record.name
        if record.is_class:
            own_name = pool.unique(Variable, f"{record.name_text()}:NAME", STRING)
        resolver.bind(f"{class_.name_text()}:NAME", own_name)
        with self.keeper.instantiating("class", class_.name_text(), at):
            record.resolve(resolver)
        if record.derives_from(class_):
            raise self.fault(f"already subclass of '{class_.name_text()}'", at)
        # Two parents may share an ancestor, as since version 22 of the reference tool. It is listed twice.
        for ancestor in (*class_.parents, class_):
            record.add_parent(ancestor)

    def inherit(self, entry: Entry, class_: Record, arguments: list[Value], at: int) -> None:
        """Make `class_` a parent of a record, or of all records of a loop."""
        if isinstance(entry, Record):
            self._inherit(entry, class_, arguments, at)
        elif isinstance(entry, Loop):
            for inner in entry.entries:
                self.inherit(inner, class_, arguments, at)

    def apply_lets(self, entry: Entry) -> None:
        """Set what the lets around the current statement bind, outermost first."""
        if isinstance(entry, Record):
            for bindings in self.scope.lets:
                for binding in bindings:
                    self.set_value(entry, binding.name, binding.value, binding.at, binding.bits)
        elif isinstance(entry, Loop):
            for inner in entry.entries:
                self.apply_lets(inner)
