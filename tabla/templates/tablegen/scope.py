"""What a name means at a point of the program, and the let and foreach blocks around that point."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from tabla.templates.tablegen.keeper import RecordKeeper
from tabla.templates.tablegen.operation import Operation
from tabla.templates.tablegen.operators import CAST
from tabla.templates.tablegen.record import Assertion, DumpRequest, Record, RecordReference
from tabla.templates.tablegen.types import STRING, Type
from tabla.templates.tablegen.values import Value
from tabla.templates.tablegen.variables import Variable

# From this version on a variable hides the field or template argument of its name that is declared around it.
_INNERMOST_FIRST_SINCE = 19


@dataclass(slots=True, kw_only=True)
class Loop:
    """A foreach (or, without a variable, a branch of an if) whose entries wait for its list."""

    at: int
    variable: Variable | None
    values: Value
    entries: list[Entry] = field(default_factory=list)


Entry: TypeAlias = Record | Loop | Assertion | DumpRequest


@dataclass(slots=True, kw_only=True)
class Multiclass:
    """A multiclass: a record that holds its template arguments, and the entries that a ``defm`` copies."""

    record: Record
    entries: list[Entry] = field(default_factory=list)

    def qualified(self, name: str) -> str:
        """Return the name that a template argument of the multiclass has inside values."""
        return f"{self.record.name_text()}::{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LetBinding:
    """One binding of a let around statements."""

    at: int
    name: str
    bits: list[int]
    value: Value


@dataclass(slots=True, kw_only=True)
class Defset:
    """A defset that is being filled."""

    at: int
    element: Type
    members: list[RecordReference] = field(default_factory=list)


class Scope:
    """The context of evaluation, which changes as statements are entered and left."""

    def __init__(self, keeper: RecordKeeper) -> None:
        self.keeper = keeper
        self.pool = keeper.pool
        self.multiclasses: dict[str, Multiclass] = {}
        self.multiclass: Multiclass | None = None
        self.loops: list[Loop] = []
        self.lets: list[list[LetBinding]] = []
        self.defsets: list[Defset] = []
        self.type_names: dict[str, Type] = {}
        # The qualified names of the template arguments that some value names.
        self.used_arguments: set[str] = set()
        self._locals: list[dict[str, Value]] = []
        # How many blocks are open inside the body of a record, with its own.
        self._body_depth = 0

    @contextmanager
    def block(self, *, is_body: bool = False) -> Iterator[None]:
        """Forget the variables that are defined inside the block when it ends. `is_body` is for that of a record."""
        self._locals.append({})
        outer = self._body_depth
        self._body_depth = len(self._locals) if is_body else outer
        try:
            yield
        finally:
            self._body_depth = outer
            self._locals.pop()

    def is_taken(self, name: str) -> bool:
        """Return whether a defvar of this name is refused here. A name of an outer block may be defined anew, one of
        the same block may not.
        """
        if self._locals:
            return name in self._locals[-1]
        return self.keeper.global_value(name) is not None

    def define(self, name: str, value: Value) -> None:
        """Let a ``defvar`` stand for a value, in the innermost open block or in the whole file."""
        if self._locals:
            self._locals[-1][name] = value
        else:
            self.keeper.globals[name] = value

    def lookup(self, name: str, record: Record | None, *, as_text: bool) -> Value | None:
        """Return the value of an identifier. `as_text` is for names and pastes, where an unknown identifier means its
        letters.
        """
        pool = self.pool
        if self._body_depth == len(self._locals) > 0 and pool.llvm >= _INNERMOST_FIRST_SINCE:
            if record is not None and name in self._locals[-1]:
                return self._locals[-1][name]
        if record is not None:
            known = record.fields.get(name)
            if known is not None:
                return pool.unique(Variable, name, known.type)
        in_multiclass = self.multiclass is not None and pool.llvm >= _INNERMOST_FIRST_SINCE
        argument = None if in_multiclass else self._template_argument(name, record)
        if argument is None:
            argument = self._local(name)
        if argument is None and in_multiclass:
            argument = self._template_argument(name, record)
        if argument is not None:
            return argument
        if as_text:
            return pool.string(name)
        found = self.keeper.global_value(name)
        if found is not None:
            return found
        if record is not None and not record.is_class and self.multiclass is None and record.name is pool.string(name):
            # The type of a record is known only when it is finished, so a reference to itself is looked up then.
            return pool.unique(Operation, CAST, record.type(), None, (), record.name)
        return None

    def _local(self, name: str) -> Value | None:
        for variables in reversed(self._locals):
            if name in variables:
                return variables[name]
        for loop in self.loops:
            if loop.variable is not None and loop.variable.name == name:
                return loop.variable
        return None

    def _template_argument(self, name: str, record: Record | None) -> Value | None:
        if self.multiclass is not None:
            qualified, owner = self.multiclass.qualified(name), self.multiclass.record
        elif record is not None and record.is_class:
            qualified, owner = f"{record.name_text()}:{name}", record
        else:
            return None
        if qualified in owner.template_arguments:
            self.used_arguments.add(qualified)
            return self.pool.unique(Variable, qualified, owner.fields[qualified].type)
        return self.pool.unique(Variable, qualified, STRING) if name == "NAME" else None
