"""The records of one run, and the faults that point into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tabla.base.source import Label, TablaError
from tabla.templates.tablegen.literals import IntValue, StringValue
from tabla.templates.tablegen.pool import DEFAULT_LLVM, InterningPool
from tabla.templates.tablegen.positions import Positions
from tabla.templates.tablegen.record import Assertion, DumpRequest, Record, RecordReference, record_text
from tabla.templates.tablegen.resolvers import FinalResolver, RecordResolver
from tabla.templates.tablegen.types import INT
from tabla.templates.tablegen.values import Owner, Value
from tabla.templates.tablegen.variables import AnonymousName

# A chain this long is taken for one without an end: real descriptions stay below a hundred, and the reference
# tool runs out of machine stack before ten thousand.
MAX_INSTANTIATION_DEPTH = 6000

# Of a long chain only the ends say something.
_SHOWN_OF_A_CHAIN = 8


# Longer arguments are cut in notes.
_SHOWN_OF_A_NAME = 60

# Whoever has this many faults to mend does not read further ones.
MAX_FAULTS = 100
# A record takes two kilobytes and 16 microseconds, so these take half a gigabyte and four seconds.
MAX_RECORDS = 250_000


class TooManyFaults(Exception):
    """The run ends, because there are `MAX_FAULTS` faults."""


class Instantiation(NamedTuple):
    """One step of the chain of instantiations: what is instantiated, and the token where that is written."""

    kind: str
    name: str | Callable[[], str]
    at: int

    def note(self, positions: Positions) -> str:
        """Return the step as a line of a message."""
        return f"while instantiating {self.kind} {self.name_text()} at {positions.place(self.at)}"

    def name_text(self) -> str:
        """Return the name, cut if it is long. The name of an instantiation is computed only when somebody asks."""
        name = self.name if isinstance(self.name, str) else self.name()
        return name if len(name) <= _SHOWN_OF_A_NAME else f"{name[:_SHOWN_OF_A_NAME]}..."


class Step:
    """Takes the last step from a chain of instantiations when its block ends. All steps share one."""

    __slots__ = ("_chain",)

    def __init__(self, chain: list[Instantiation]) -> None:
        self._chain = chain

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        if self._chain:
            self._chain.pop()


class RecordKeeper:
    """Classes, defs and global variables by name, in the order of their definition."""

    def __init__(self, positions: Positions, *, warns_of_unused: bool = True, llvm: int = DEFAULT_LLVM) -> None:
        self.positions = positions
        self._warns_of_unused = warns_of_unused
        self.classes: dict[str, Record] = {}
        self.defs: dict[str, Record] = {}
        self.pool = InterningPool(self.defs, self.fault_in, llvm)
        self.globals: dict[str, Value] = {}
        # The token of what is being evaluated: the place of faults that have no better one.
        self.current = 0
        # The texts that dump statements asked for.
        self.dumped: list[str] = []
        self.warnings: list[str] = []
        # Faults after which the run goes on, so that one run tells all of them.
        self.faults: list[TablaError] = []
        self._anonymous_count = 0
        self._chain: list[Instantiation] = []
        self._step = Step(self._chain)

    def new_class(self, name: str, at: int) -> Record:
        """Return a class that has only a name so far."""
        record = Record(self.pool.string(name), (at,), self.pool, anonymous=False, is_class=True)
        self.classes[name] = record
        return record

    def new_def(self, name: Value, at: int) -> Record:
        """Return a def that is not in the table yet."""
        record = Record(self.pool.string(""), (at,), self.pool, anonymous=False, is_class=False)
        record.rename(name)
        return record

    def new_anonymous_name(self) -> AnonymousName:
        """Return the next of ``anonymous_0``, ``anonymous_1``, ..."""
        self._anonymous_count += 1
        return AnonymousName(self._anonymous_count - 1)

    def new_anonymous(self, at: int) -> Record:
        """Return a def without a name of its own."""
        return Record(self.new_anonymous_name(), (at,), self.pool, anonymous=True, is_class=False)

    def add_def(self, record: Record) -> None:
        """Enter a finished def."""
        if len(self.defs) >= MAX_RECORDS:
            hint = "does a foreach run over a range that is too long?"
            raise self.fault(f"more than {MAX_RECORDS} records", self.current, hint=hint)
        self.defs[record.name_text()] = record

    def global_value(self, name: str) -> Value | None:
        """Return the def, defset or top-level defvar of this name."""
        record = self.defs.get(name)
        return self.globals.get(name) if record is None else record.reference()

    def dump(self, request: DumpRequest) -> None:
        """Remember the text of a dump statement. A record is shown whole, and one that is not there is a fault."""
        self.current = request.at
        message = request.message.resolve(FinalResolver(self.pool))
        shown = record_text(message.record) if isinstance(message, RecordReference) else message.plain_text()
        self.dumped.append(shown)

    def collect(self, fault: TablaError) -> None:
        """Keep a fault, and go on."""
        self.faults.append(fault)
        if len(self.faults) >= MAX_FAULTS:
            raise TooManyFaults

    def warn_of_unused(self, owner: Record, used: set[str]) -> None:
        """Warn about the template arguments of a class or multiclass whose qualified names are not in `used`."""
        for name in owner.template_arguments:
            if self._warns_of_unused and name not in used:
                at = owner.fields[name].at
                self.warnings.append(
                    self.positions.warning(
                        f"unused template argument '{name}'",
                        Label(self.positions.span(at)),
                        hint="use it, remove it, or give --no-warn-on-unused-template-args",
                        notes=self.positions.include_notes(at),
                    )
                )

    def check_assertion(self, assertion: Assertion, record: Record | None = None) -> None:
        """Collect a fault if the condition does not hold or is not known. `record` is the def that the statement was
        made for.
        """
        condition = assertion.condition.convert(INT, self.pool)
        if not isinstance(condition, IntValue):
            self.collect(
                self.fault(
                    f"assert condition must be of type bit, bits, or int: {assertion.condition.text()}", assertion.at
                )
            )
        elif condition.value == 0:
            message = assertion.message
            text = message.value if isinstance(message, StringValue) else "(assert message is not a string)"
            if record is None:
                self.collect(self.fault("assertion failed", assertion.at, notes=[text]))
                return
            fault = self.fault(f"assertion failed for '{record.name_text()}'", assertion.at, notes=[text])
            own = Label(self.positions.span(record.location), "the record")
            self.collect(_with_labels(fault, [own, *self._instantiations(record)]))

    def check_assertions(self, record: Record) -> None:
        """Collect a fault for every assertion of a finished record that does not hold."""
        if not record.assertions:
            return
        resolver = RecordResolver(self.pool, record)
        for assertion in record.assertions:
            self.check_assertion(assertion.resolve(resolver), record)

    def instantiating(self, kind: str, name: str | Callable[[], str], at: int | None = None) -> Step:
        """Let faults inside a ``with`` block name this step. A chain of steps without an end is a fault."""
        self._chain.append(Instantiation(kind, name, self.current if at is None else at))
        if len(self._chain) > MAX_INSTANTIATION_DEPTH:
            fault = self.fault(
                f"{kind} '{self._chain[-1].name_text()}' is instantiated without an end",
                self._chain[0].at,
                hint="give the recursion an end, with !if or !cond around the next step",
            )
            self._chain.clear()
            raise fault
        return self._step

    def chain_notes(self) -> list[str]:
        """Return the chain of instantiations, innermost first."""
        chain = [step.note(self.positions) for step in reversed(self._chain)]
        if len(chain) > _SHOWN_OF_A_CHAIN:
            half = _SHOWN_OF_A_CHAIN // 2
            chain[half:-half] = [f"... {len(chain) - 2 * half} more ..."]
        return chain

    def fault(
        self, message: str, at: int, *, label: str = "", hint: str | None = None, notes: list[str] | None = None
    ) -> TablaError:
        """Return the user's fault at a token."""
        return self.positions.fault(message, at, label=label, hint=hint, notes=[*(notes or ()), *self.chain_notes()])

    def fault_in(self, message: str, record: Owner | None, notes: list[str] | None = None) -> TablaError:
        """Return the user's fault in a record: where the record is defined, then the instantiations that led to it."""
        if record is None or not record.locations:
            return self.fault(message, self.current, notes=notes)
        first = self.fault(message, record.locations[0], notes=notes)
        return _with_labels(first, self._instantiations(record))

    def _instantiations(self, record: Owner) -> list[Label]:
        return [Label(self.positions.span(at), "instantiated from here") for at in record.locations[1:]]


def _with_labels(fault: TablaError, labels: list[Label]) -> TablaError:
    """The fault with further places."""
    return TablaError(fault.message, *fault.labels, *labels, hint=fault.hint, notes=fault.notes)
