"""What each name stands for, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator as IteratorOf
from dataclasses import dataclass, field
from fractions import Fraction

from tabla.base.faults import Faults, did_you_mean
from tabla.base.lexemes import Lexeme
from tabla.base.source import Label, Span
from tabla.languages.kernel.regions import Region
from tabla.languages.tabla.program import Iterator, Kind, Variable


@dataclass(slots=True, kw_only=True)
class Known:
    """A variable as far as the text has been read.

    `shape` is None for a temporary, whose extent is the last element that is assigned anywhere. `region` holds the
    elements that have a value, and `constant` the value of a scalar that is known from the text. `read` says whether
    the value that it has now was read, and `mentioned` whether the text speaks of it at all. `assigned` is the last
    target of an assignment.
    """

    name: str
    kind: Kind
    rank: int
    span: Span
    shape: tuple[int, ...] | None = None
    region: Region = field(default_factory=Region)
    constant: Fraction | None = None
    read: bool = False
    mentioned: bool = True
    assigned: Span | None = None

    @property
    def given(self) -> bool:
        """Whether every element has a value from the outside."""
        return self.kind in (Kind.INPUT, Kind.LABEL, Kind.MODEL)

    def variable(self) -> Variable:
        """Return the finished variable, once the whole text has been read."""
        shape = self.shape if self.shape is not None else self.region.extents()
        return Variable(name=self.name, kind=self.kind, shape=shape, span=self.span)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoilt:
    """A name whose declaration is at fault, or that was reported already. Nothing more is said about it."""


Symbol = Known | Iterator | Spoilt


class Symbols:
    """All names, in the order of their first mention."""

    def __init__(self, faults: Faults, later: dict[str, Span]) -> None:
        self._faults = faults
        self._later = later
        self._symbols: dict[str, Symbol] = {}

    def __iter__(self) -> IteratorOf[Symbol]:
        return iter(self._symbols.values())

    def get(self, name: str) -> Symbol | None:
        """Return what `name` stands for now, or None if it stands for nothing."""
        return self._symbols.get(name)

    def spoil(self, name: str) -> None:
        """Say nothing more about `name`."""
        self._symbols[name] = Spoilt()

    def replace(self, known: Known) -> None:
        """Let the name of `known` stand for it, whatever it stood for before."""
        self._symbols[known.name] = known

    def enter(self, symbol: Known | Iterator) -> None:
        """Let a new name stand for `symbol`. If the name has a meaning already, the meaning stays, and a fault is
        noted.
        """
        match self._symbols.get(symbol.name):
            case None:
                self._symbols[symbol.name] = symbol
            case Known(mentioned=False):
                self._symbols[symbol.name] = symbol
            case Spoilt():
                pass
            case (Known() | Iterator()) as old:
                self._faults.add(
                    f"'{symbol.name}' is declared twice",
                    symbol.span,
                    also=[Label(old.span, "first here")],
                    hint="give one of them another name",
                )

    def find(self, name: Lexeme, *, purpose: str = "read here") -> Known | Iterator | None:
        """Return what `name` stands for. If it stands for nothing good, note a fault and return None."""
        match self._symbols.get(name.text):
            case None:
                self._faults.add(
                    f"'{name.text}' is not declared and has no value",
                    name.span,
                    purpose,
                    hint=self._cure(name),
                )
                self.spoil(name.text)
                return None
            case Spoilt():
                return None
            case (Known() | Iterator()) as symbol:
                return symbol

    def _cure(self, read: Lexeme) -> str:
        name = read.text
        if name in self._later and self._later[name].start < read.span.start:
            return f"a statement reads what was there before it; start with {name} = ...;"
        if name in self._later:
            return f"it gets one on line {self._later[name].line}; statements run in order"
        names = [*(n for n, s in self._symbols.items() if not isinstance(s, Spoilt)), *self._later]
        return did_you_mean(name, names) or f"declare it, or give it a value first: {name} = ...;"
