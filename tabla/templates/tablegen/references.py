"""Values that stand for something in a record: its fields, and the records that instantiations make."""

from __future__ import annotations

from tabla.templates.tablegen.keeper import RecordKeeper
from tabla.templates.tablegen.literals import ListValue
from tabla.templates.tablegen.record import Record, RecordReference, field_named
from tabla.templates.tablegen.resolvers import MapResolver, TrackingResolver, resolve_finally
from tabla.templates.tablegen.types import Type
from tabla.templates.tablegen.values import UNSET_VALUE, Owner, PendingValue, Pool, Resolver, Value

# From this version on the arguments of an instantiation that waits print with their numbers.
_NUMBERED_SINCE = 19
# From this version on a record without a name stands where it is first asked for, and not where its class is written.
_PLACED_SINCE = 22


class FieldAccess(PendingValue):
    """``base.field``"""

    __slots__ = ("base", "field")

    def __init__(self, base: Value, field: str, type: Type | None = None) -> None:
        """`type` is given if `base` turned out to be ``?``, which does not know its fields."""
        if type is None:
            found = field_named(base, field)
            assert found is not None, "the caller looked"
            type = found.type
        super().__init__(type, base.ground)
        self.base = base
        self.field = field

    def text(self) -> str:
        return f"{self.base.text()}.{self.field}"

    def fold(self, record: Owner | None, pool: Pool) -> Value:
        """Return the value of the field once the record is known and the field is finished, and else the
        access itself.
        """
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
        if self.base.ground:
            return self
        base = self.base.resolve(resolver)
        if base is self.base:
            return self
        if base is UNSET_VALUE:
            # No fault yet: a let may still replace this value, or an !if may not need it.
            return resolver.pool.unique(FieldAccess, base, self.field, self.type)
        if field_named(base, self.field) is None:
            raise resolver.pool.fault(f"cannot access field '{self.field}' of value '{base.text()}'", resolver.record)
        return resolver.pool.unique(FieldAccess, base, self.field).fold(resolver.record, resolver.pool)

    def is_concrete(self) -> bool:
        if isinstance(self.base, RecordReference):
            return self.base.record.fields[self.field].value.is_concrete()
        return False


def field_of_unset(value: Value) -> str | None:
    """Return the field that `value`, or an item of the list `value`, asks of ``?``."""
    for one in value.items if isinstance(value, ListValue) else (value,):
        if isinstance(one, FieldAccess) and one.base is UNSET_VALUE:
            return one.field
    return None


class ClassInstance(PendingValue):
    """``Class<arguments>``: an anonymous record, which is made when no argument waits for anything."""

    __slots__ = ("_keeper", "arguments", "at", "class_", "made", "names")

    def __init__(self, keeper: RecordKeeper, class_: Record, names: tuple[str | None, ...], *arguments: Value) -> None:
        """`names` has the template argument that each of `arguments` is given to by name, and None for the others."""
        super().__init__(class_.instance_type(), False)
        self._keeper = keeper
        self.class_ = class_
        self.names = names
        self.arguments = arguments
        # The token where it was first written: equal instantiations are one value.
        self.at: int | None = None
        self.made: RecordReference | None = None

    def text(self) -> str:
        texts = [argument.text() for argument in self.arguments]
        if self._keeper.pool.llvm >= _NUMBERED_SINCE or any(self.names):
            keys = [index if name is None else f'"{name}"' for index, name in enumerate(self.names)]
            texts = [f"{key}: {text}" for key, text in zip(keys, texts, strict=True)]
        return f"{self.class_.name_text()}<{', '.join(texts)}>"

    def fold(self, pool: Pool) -> Value:
        """Return the record if all arguments are known, and else the instance itself."""
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
        # Values are compared by identity.
        if tuple(arguments) == self.arguments:
            return self
        new = resolver.pool.unique(ClassInstance, self._keeper, self.class_, self.names, *arguments)
        if new.at is None:
            new.at = self.at
        return new if tracker.found_unresolved else new.instantiate()

    def instantiate(self) -> RecordReference:
        """Make the anonymous record, once."""
        if self.made is not None:
            return self.made
        class_, keeper = self.class_, self._keeper
        with keeper.instantiating("class", self.text, self.at):
            here = self.at is not None and keeper.pool.llvm >= _PLACED_SINCE
            record = keeper.new_anonymous(self.at if here and self.at is not None else class_.location)
            for field in class_.fields.values():
                record.fields[field.name] = field.copy()
            record.assertions.extend(class_.assertions)
            record.dumps.extend(class_.dumps)
            resolver = MapResolver(keeper.pool, record)
            given = {
                class_.template_arguments[index] if name is None else name: argument
                for index, (name, argument) in enumerate(zip(self.names, self.arguments, strict=True))
            }
            for name in class_.template_arguments:
                resolver.bind(name, given[name] if name in given else record.fields[name].value)
                del record.fields[name]
            record.resolve(resolver)
            for parent in class_.parents:
                record.add_parent(parent)
            record.add_parent(class_)
            resolve_finally(record)
            keeper.add_def(record)
            keeper.check_assertions(record)
            for request in record.dumps:
                keeper.dump(request)
        self.made = record.reference()
        return self.made
