"""The resolvers: who knows what a variable stands for, at each step of the life of a record."""

from __future__ import annotations

from tabla.templates.tablegen.record import Record
from tabla.templates.tablegen.values import UNSET_VALUE, Owner, Pool, Resolver, Value


class MapResolver(Resolver):
    """A table of bindings, which may refer to each other."""

    def __init__(self, pool: Pool, record: Owner | None = None) -> None:
        super().__init__(pool, record)
        self._table: dict[str, tuple[Value, bool]] = {}

    def bind(self, name: str, value: Value) -> None:
        """Say what `name` stands for."""
        self._table[name] = (value, value.ground)

    def is_complete(self, name: str) -> bool:
        """Return whether the value bound to `name` is set."""
        return self._table[name][0].is_complete()

    def lookup(self, name: str) -> Value | None:
        entry = self._table.get(name)
        if entry is None:
            return None
        value, resolved = entry
        if not resolved and len(self._table) > 1:
            # Out of the table while it is resolved, so that a cycle of references ends.
            del self._table[name]
            value = value.resolve(self)
            self._table[name] = (value, True)
        return value


class RecordResolver(Resolver):
    """The resolver of the last step, in which fields refer to fields of the same record."""

    keeps_unset_bits = True
    is_final = True

    def __init__(self, pool: Pool, record: Record, new_name: Value | None = None) -> None:
        super().__init__(pool, record)
        self.record: Record = record
        self._new_name = new_name
        self._cache: dict[str, Value] = {}
        self._stack: list[str] = []
        self._renamed: Value | None = None

    def lookup(self, name: str) -> Value | None:
        known = self._cache.get(name)
        if known is not None:
            return known
        if name in self._stack:
            return None
        field = self.record.fields.get(name)
        if field is None or field.value is UNSET_VALUE:
            return None
        self._stack.append(name)
        value = field.value.resolve(self)
        self._stack.pop()
        self._cache[name] = value
        return value

    def lookup_anonymous(self, name: Value) -> Value:
        if self._new_name is not None:
            # The record changes its own name first; its fields still hold the old one.
            if name is self.record.name:
                self._renamed = name
            if name is self._renamed:
                return self._new_name.resolve(FinalResolver(self.pool))
        return name


class FinalResolver(Resolver):
    """Knows nothing, and nothing comes after it: what still waits will never be known."""

    is_final = True


class LastAttempt(FinalResolver):
    """For a value that would be refused: what another version of the reference tool makes of it is accepted."""

    insists = True


def resolve_finally(record: Record, new_name: Value | None = None) -> None:
    """Resolve references between the fields of a record; nothing comes after this.

    `new_name` replaces the name of an anonymous record.
    """
    record.resolve(RecordResolver(record.pool, record, new_name))


class ShadowResolver(Resolver):
    """Hides the variables of a !foreach, !filter or !foldl from an outer resolver."""

    def __init__(self, outer: Resolver, *names: str) -> None:
        super().__init__(outer.pool, outer.record)
        self._outer = outer
        self._names = names
        self.is_final = outer.is_final
        self.insists = outer.insists

    def lookup(self, name: str) -> Value | None:
        return None if name in self._names else self._outer.lookup(name)

    def lookup_anonymous(self, name: Value) -> Value:
        return self._outer.lookup_anonymous(name)


class TrackingResolver(Resolver):
    """Passes on to another resolver and notices whether any variable is left."""

    def __init__(self, pool: Pool, outer: Resolver | None = None) -> None:
        super().__init__(pool, outer.record if outer else None)
        self._outer = outer
        self.insists = outer is not None and outer.insists
        self.found_unresolved = False

    def lookup(self, name: str) -> Value | None:
        value = self._outer.lookup(name) if self._outer else None
        if value is None:
            self.found_unresolved = True
        elif not self.found_unresolved and not value.ground:
            # Look for variables in the result, but do not resolve it twice.
            inner = TrackingResolver(self.pool)
            value.resolve(inner)
            self.found_unresolved = inner.found_unresolved
        return value

    def lookup_anonymous(self, name: Value) -> Value:
        new = self._outer.lookup_anonymous(name) if self._outer else name
        if new is name:
            # A record whose name is still open is not finished: what refers to it must wait.
            self.found_unresolved = True
        return new


class NameSearch(Resolver):
    """Notices whether one variable occurs."""

    def __init__(self, pool: Pool, name: str) -> None:
        super().__init__(pool)
        self._name = name
        self.found = False

    def lookup(self, name: str) -> Value | None:
        self.found |= name == self._name
        return None
