"""From the entries of loops and multiclasses to records: loops are run, multiclasses are copied, and finished records
are entered.

A finished record with a field that is not computed is a fault.
"""

from __future__ import annotations

from tabla.base.source import Label, TablaError
from tabla.templates.tablegen.keeper import RecordKeeper
from tabla.templates.tablegen.literals import BitsValue, ListValue, StringValue
from tabla.templates.tablegen.operators import failed_cast, joined_strings, missing_element
from tabla.templates.tablegen.record import Assertion, DumpRequest, Field, Record
from tabla.templates.tablegen.references import field_of_unset
from tabla.templates.tablegen.resolvers import LastAttempt, MapResolver, resolve_finally
from tabla.templates.tablegen.scope import Entry, Loop, Multiclass, Scope
from tabla.templates.tablegen.types import STRING
from tabla.templates.tablegen.values import Value
from tabla.templates.tablegen.variables import AnonymousName, Variable, VariableBit


def check_concrete(keeper: RecordKeeper, record: Record) -> None:
    """Collect a fault for each field that is not computed by now. Fields that were declared with ``field`` may wait."""
    for field in record.fields.values():
        value = field.value
        if field.may_wait or (value.ground and not isinstance(value, BitsValue) and value.is_concrete()):
            continue
        if isinstance(value, BitsValue):
            concrete = all(_bit_is_settled(bit, record) for bit in value.bits)
        else:
            concrete = value.is_concrete()
        if not concrete:
            other = value.resolve(LastAttempt(keeper.pool, record))
            concrete = other.is_concrete() and field.set(other, keeper.pool)
        if not concrete:
            keeper.collect(_unresolved(keeper, record, field))


def _unresolved(keeper: RecordKeeper, record: Record, field: Field) -> TablaError:
    """Why a field is not finished: most often a number that its type cannot hold."""
    value, hint = field.value, None
    first = value
    if isinstance(value, BitsValue):
        first = next(bit for bit in value.bits if not _bit_is_settled(bit, record))
    if (pending := failed_cast(first)) is not None:
        # A part of the field may have a type of its own, as the template argument `n` in `{0, 0, n}`.
        owner = "its type" if pending.type is field.type else "the type of one of its parts,"
        message = (
            f"value {pending.operands[0].text()} of '{field.name}' in '{record.name_text()}' does not fit {owner} "
            f"'{pending.type}'"
        )
    elif (outside := missing_element(first)) is not None:
        message = f"{outside} in '{field.name}' of '{record.name_text()}': {value.text()}"
    else:
        message = f"initializer of '{field.name}' in '{record.name_text()}' could not be fully resolved: {value.text()}"
        if (missing := field_of_unset(value)) is not None:
            hint = f"a value that is not set ('?') has no field '{missing}'"
    fault = keeper.fault_in(message, record)
    place = Label(keeper.positions.span(field.at), "the field got its value here")
    return TablaError(fault.message, *fault.labels, place, hint=hint or fault.hint, notes=fault.notes)


def _bit_is_settled(bit: Value, record: Record) -> bool:
    # A bit may stay a reference to a field that is unset: encoders fill such fields in from operands.
    if isinstance(bit, VariableBit):
        if isinstance(bit.base, Variable) and bit.base.name in record.fields:
            return True
    elif isinstance(bit, Variable):
        return True
    return bit.is_concrete()


class Expansion:
    """Takes what statements make, and hands it to the loop or multiclass around them or to the table of records."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.keeper = scope.keeper
        self.pool = scope.pool
        # The statements that a syntax error breaks off, by token.
        self.unfinished: set[int] = set()

    def prefixed(self, multiclass: Multiclass, name: Value) -> Value:
        """Return ``NAME # name``, which a name inside a multiclass becomes."""
        prefix = self.pool.unique(Variable, multiclass.qualified("NAME"), STRING)
        return joined_strings(prefix, name, self.pool)

    def add(self, entry: Entry) -> None:
        """Hand an entry to its context."""
        scope = self.scope
        if (entry.location if isinstance(entry, Record) else entry.at) in self.unfinished:
            return
        if scope.loops:
            scope.loops[-1].entries.append(entry)
        elif isinstance(entry, Loop):
            destination = scope.multiclass.entries if scope.multiclass is not None else None
            self._run_loop(entry, [], destination, final=scope.multiclass is None)
        elif scope.multiclass is not None:
            scope.multiclass.entries.append(entry)
        else:
            self._enter(entry)

    def _enter(self, entry: Record | Assertion | DumpRequest) -> None:
        """Do what an entry says, now that nothing is left of loops and multiclasses around it."""
        if isinstance(entry, Assertion):
            self.keeper.check_assertion(entry)
        elif isinstance(entry, DumpRequest):
            self.keeper.dump(entry)
        else:
            self._finish(entry)

    def expand(
        self,
        entries: list[Entry],
        bindings: list[tuple[str, Value]],
        destination: list[Entry] | None,
        *,
        final: bool,
        at: int | None = None,
    ) -> None:
        """Copy entries with variables bound, into `destination` or, where it is None, into the table of records.

        `at` is the token of the ``defm``, which the copies remember.
        """
        # A defm inside the multiclass that it names sees the entries so far, not those it adds.
        for entry in list(entries):
            if isinstance(entry, Loop):
                self._run_loop(entry, bindings, destination, final=final)
                continue
            copy: Record | Assertion | DumpRequest
            if isinstance(entry, Record):
                copy = entry.copy()
                if at is not None:
                    copy.locations = (*copy.locations, at)
                copy.resolve(self._resolver(bindings, copy))
            else:
                copy = entry.resolve(self._resolver(bindings, None))
            if destination is not None:
                destination.append(copy)
            else:
                self._enter(copy)

    def _resolver(self, bindings: list[tuple[str, Value]], record: Record | None) -> MapResolver:
        resolver = MapResolver(self.pool, record)
        for name, value in bindings:
            resolver.bind(name, value)
        return resolver

    def _run_loop(
        self, loop: Loop, bindings: list[tuple[str, Value]], destination: list[Entry] | None, *, final: bool
    ) -> None:
        values = loop.values.resolve(self._resolver(bindings, None))
        if not isinstance(values, ListValue):
            if final or destination is None:
                raise self.keeper.fault(f"attempting to loop over '{values.text()}', expected a list", loop.at)
            waiting = Loop(at=loop.at, variable=loop.variable, values=values)
            destination.append(waiting)
            self.expand(loop.entries, bindings, waiting.entries, final=final)
            return
        for value in values.items:
            bound = bindings if loop.variable is None else [*bindings, (loop.variable.name, value)]
            self.expand(loop.entries, bound, destination, final=final)

    def _finish(self, record: Record) -> None:
        """Resolve a def for good and enter it."""
        keeper = self.keeper
        new_name: AnonymousName | None = None
        previous = keeper.defs.get(record.name_text())
        if previous is not None:
            if not record.anonymous:
                raise self._already_exists(record, previous)
            new_name = keeper.new_anonymous_name()
        resolve_finally(record, new_name)
        check_concrete(keeper, record)
        if not isinstance(record.name, StringValue):
            raise keeper.fault_in(f"record name '{record.name.text()}' could not be fully resolved", record)
        keeper.check_assertions(record)
        for request in record.dumps:
            keeper.dump(request)
        reference = record.reference()
        for defset in self.scope.defsets:
            if not reference.type.is_a(defset.element):
                raise keeper.fault_in(
                    f"adding record of incompatible type '{reference.type}' to defset of '{defset.element}'", record
                )
            defset.members.append(reference)
        keeper.add_def(record)

    def _already_exists(self, record: Record, previous: Record) -> TablaError:
        fault = self.keeper.fault_in(f"def already exists: {record.name_text()}", record)
        first = Label(self.keeper.positions.span(previous.location), "the previous definition")
        return TablaError(fault.message, *fault.labels, first, hint=fault.hint, notes=fault.notes)
