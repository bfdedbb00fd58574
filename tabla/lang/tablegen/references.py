"""Values that stand for something else: variables, their bits and elements, fields, records, instantiations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabla.lang.tablegen.resolvers import MapResolver, TrackingResolver
from tabla.lang.tablegen.types import BIT, STRING, ListType, RecordType, Type
from tabla.lang.tablegen.values import PendingValue, TypedValue, Value

if TYPE_CHECKING:
    from tabla.lang.tablegen.pool import Pool
    from tabla.lang.tablegen.record import Field, Record
    from tabla.lang.tablegen.resolvers import Resolver


class Variable(PendingValue):
    """A field, a template argument (``Class:argument``) or a loop variable, by name."""

    __slots__ = ("name",)

    def __init__(self, name: str, type: Type) -> None:
        super().__init__(type, False)
        self.name = name

    def text(self) -> str:
        return self.name

    def resolve(self, resolver: Resolver) -> Value:
        found = resolver.lookup(self.name)
        return self if found is None else found


class VariableBit(TypedValue):
    """``base{index}`` of a value that is not known yet."""

    __slots__ = ("base", "index")

    def __init__(self, base: TypedValue, index: int) -> None:
        super().__init__(BIT, base.ground)
        self.base = base
        self.index = index

    def text(self) -> str:
        return f"{self.base.text()}{{{self.index}}}"

    def resolve(self, resolver: Resolver) -> Value:
        base = self.base.resolve(resolver)
        return self if base is self.base else base.bit(self.index, resolver.pool)

    def bit(self, index: int, pool: Pool) -> Value:
        return self


class VariableElement(PendingValue):
    """``base[index]`` of a list that is not known yet."""

    __slots__ = ("base", "index")

    def __init__(self, base: TypedValue, index: int) -> None:
        assert isinstance(base.type, ListType)
        super().__init__(base.type.element, False)
        self.base = base
        self.index = index

    def text(self) -> str:
        return f"{self.base.text()}[{self.index}]"

    def resolve(self, resolver: Resolver) -> Value:
        base = self.base.resolve(resolver)
        if base is self.base or not isinstance(base, TypedValue):
            return self
        selected = base.select_elements([self.index], resolver.pool)
        # Out of range is no fault yet: this may stand in the branch of an !if that is not taken.
        return resolver.pool.element_of(base, self.index) if selected is None else selected


class RecordReference(TypedValue):
    """A finished record, or one that refers to itself."""

    __slots__ = ("record",)

    def __init__(self, record: Record) -> None:
        super().__init__(record.type(), True)
        self.record = record

    def text(self) -> str:
        return self.record.name_text()

    def resolve(self, resolver: Resolver) -> Value:
        return self

    def convert(self, wanted: Type, pool: Pool) -> Value | None:
        return self if isinstance(wanted, RecordType) and self.type.converts_to(wanted) else None

    def field_named(self, name: str) -> Field | None:
        return self.record.fields.get(name)

    def is_concrete(self) -> bool:
        return True


class FieldAccess(PendingValue):
    """``base.field``"""

    __slots__ = ("base", "field")

    def __init__(self, base: Value, field: str) -> None:
        found = base.field_named(field)
        assert found is not None, "the caller looked"
        super().__init__(found.type, base.ground)
        self.base = base
        self.field = field

    def text(self) -> str:
        return f"{self.base.text()}.{self.field}"

    def fold(self, record: Record | None, pool: Pool) -> Value:
        """The value of the field, once the record is known and the field is finished."""
        if isinstance(self.base, RecordReference):
            owner = self.base.record
            if owner is record:
                raise pool.fault(
                    f"attempting to access field '{self.field}' of '{owner.name_text()}' is a forbidden self-reference",
                    record,
                )
            value = owner.fields[self.field].value
            if value.is_concrete():
                return value
        return self

    def resolve(self, resolver: Resolver) -> Value:
        base = self.base.resolve(resolver)
        if base is self.base:
            return self
        if base.field_named(self.field) is None:
            raise resolver.pool.fault(f"cannot access field '{self.field}' of value '{base.text()}'", resolver.record)
        return resolver.pool.unique(FieldAccess, base, self.field).fold(resolver.record, resolver.pool)

    def is_concrete(self) -> bool:
        if isinstance(self.base, RecordReference):
            return self.base.record.fields[self.field].value.is_concrete()
        return False


class AnonymousName(TypedValue):
    """``anonymous_N``: a name that a record gets when it is finished, unless it is renamed before."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        super().__init__(STRING, False)
        self.number = number

    def text(self) -> str:
        return f"anonymous_{self.number}"

    def resolve(self, resolver: Resolver) -> Value:
        new = resolver.lookup_anonymous(self)
        if resolver.is_final and isinstance(new, AnonymousName):
            return resolver.pool.string(new.text())
        return new


class ClassInstance(PendingValue):
    """``Class<arguments>``: an anonymous record, made when no argument waits for anything."""

    __slots__ = ("arguments", "at", "class_", "made")

    def __init__(self, class_: Record, *arguments: Value) -> None:
        super().__init__(class_.instance_type(), False)
        self.class_ = class_
        self.arguments = arguments
        # The token where it was first written: equal instantiations are one value.
        self.at: int | None = None
        self.made: RecordReference | None = None

    def text(self) -> str:
        return f"{self.class_.name_text()}<{', '.join([argument.text() for argument in self.arguments])}>"

    def fold(self, pool: Pool) -> Value:
        """The record, if all arguments are known."""
        if self.made is not None:
            return self.made
        tracker = TrackingResolver(pool)
        for argument in self.arguments:
            if not argument.ground:
                argument.resolve(tracker)
        return self if tracker.found_unresolved else self.instantiate()

    def resolve(self, resolver: Resolver) -> Value:
        tracker = TrackingResolver(resolver.pool, resolver)
        arguments = [argument if argument.ground else argument.resolve(tracker) for argument in self.arguments]
        if all(new is old for new, old in zip(arguments, self.arguments, strict=True)):
            return self
        new = resolver.pool.unique(ClassInstance, self.class_, *arguments)
        if new.at is None:
            new.at = self.at
        return new if tracker.found_unresolved else new.instantiate()

    def instantiate(self) -> RecordReference:
        """Make the anonymous record, once."""
        if self.made is not None:
            return self.made
        class_ = self.class_
        keeper = class_.keeper
        with keeper.instantiating("class", self.text, self.at):
            record = keeper.new_anonymous(class_.location)
            for field in class_.fields.values():
                record.fields[field.name] = field.copy()
            record.assertions.extend(class_.assertions)
            record.dumps.extend(class_.dumps)
            resolver = MapResolver(keeper.pool, record)
            for index, name in enumerate(class_.template_arguments):
                given = index < len(self.arguments)
                resolver.bind(name, self.arguments[index] if given else record.fields[name].value)
                del record.fields[name]
            record.resolve(resolver)
            for parent in class_.parents:
                record.add_parent(parent)
            record.add_parent(class_)
            record.resolve_finally()
            keeper.add_def(record)
            record.check_assertions()
            for request in record.dumps:
                keeper.dump(request)
        self.made = record.reference()
        return self.made
