"""The dataflow graph: statements over index boxes, in static single assignment.

The meaning of every node, to the bit, is in ``docs/decisions/0002-graph-and-rounding.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Span
from tabla.graph.rate import RuntimeRate

Role = Literal["input", "label", "model", "value", "next", "constant"]
CompareOp = Literal["<", "<=", ">", ">=", "==", "!="]
FLIPPED: Mapping[CompareOp, CompareOp] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""Each comparison, and the one that says the same of the two operands exchanged."""
ExtremeOp = Literal["max", "min"]
FunctionName = str
"""The name of a function of one operand in `tabla.graph.functions.FUNCTIONS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An integer that runs over [low, high), never empty. `span` is where the text gives the range, if it does."""

    name: str
    low: int
    high: int
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise ValueError(f"index {self.name} runs over the empty range [{self.low}, {self.high})")

    @property
    def extent(self) -> int:
        """How many values it takes."""
        return self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """``constant + sum(coefficient * index)``; coefficients sorted by index name, none zero."""

    constant: int = 0
    coefficients: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        names = [name for name, _ in self.coefficients]
        if names != sorted(set(names)) or any(c == 0 for _, c in self.coefficients):
            raise ValueError("coefficients must be sorted by name, unique and not zero")

    @staticmethod
    def of(constant: int = 0, **coefficients: int) -> Affine:
        """Build from keywords, dropping zeros and sorting."""
        return Affine.make(constant, coefficients)

    @staticmethod
    def make(constant: int, coefficients: Mapping[str, int]) -> Affine:
        """Build from a mapping, dropping zeros and sorting."""
        kept = tuple(sorted((n, c) for n, c in coefficients.items() if c))
        return Affine(constant=constant, coefficients=kept)

    @staticmethod
    def index(name: str) -> Affine:
        """Return the form that is one index."""
        return Affine(coefficients=((name, 1),))

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(constant=self.constant + other, coefficients=self.coefficients)
        total = dict(self.coefficients)
        for name, c in other.coefficients:
            total[name] = total.get(name, 0) + c
        return Affine.make(self.constant + other.constant, total)

    def __mul__(self, factor: int) -> Affine:
        return Affine.make(self.constant * factor, {name: c * factor for name, c in self.coefficients})

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + -other

    @property
    def fails(self) -> Affine:
        """The form that is at least 0 exactly where this one is below 0."""
        return -self - 1

    def substituted(self, values: Mapping[str, Affine]) -> Affine:
        """Return the form with an affine form in place of each index that has one."""
        total = Affine(constant=self.constant)
        for name, c in self.coefficients:
            total += values.get(name, Affine.index(name)) * c
        return total

    def coefficient(self, name: str) -> int:
        """Return the coefficient of an index, 0 if the index is absent."""
        for known, coefficient in self.coefficients:
            if known == name:
                return coefficient
        return 0

    @property
    def names(self) -> tuple[str, ...]:
        """The indices it mentions, sorted."""
        return tuple([n for n, _ in self.coefficients])

    def at(self, point: Mapping[str, int]) -> int:
        """Return its value at a point."""
        return self.constant + sum(c * point[n] for n, c in self.coefficients)

    def bounds(self, indices: Mapping[str, Index]) -> tuple[int, int]:
        """Return the smallest and the largest value over the box."""
        low = high = self.constant
        for name, c in self.coefficients:
            ends = (c * indices[name].low, c * (indices[name].high - 1))
            low, high = low + min(ends), high + max(ends)
        return low, high

    def __str__(self) -> str:
        parts: list[str] = []
        for name, c in self.coefficients:
            sign = "-" if c < 0 else "+" if parts else ""
            parts.append(f"{sign}{'' if abs(c) == 1 else f'{abs(c)}*'}{name}")
        if self.constant or not parts:
            parts.append(f"+{self.constant}" if parts and self.constant >= 0 else str(self.constant))
        return "".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A named array of words; the shape () is that of a scalar. `name` is unique, and `origin` is the user's name.

    Elements of a `filled` value that no statement writes are 0. They may be read once all statements that write the
    tensor have run.

    `split` is for a graph that several tap groups share: the axis of which each group has a part, or -1 if every group
    has all of the tensor.

    `guard` is the number of guard bits of a wide model and of its next value, and 0 for all other tensors (decision 2).

    `base` are the subscripts that the text has for the first element, where they are not 0.
    """

    name: str
    shape: tuple[int, ...]
    role: Role
    origin: str = ""
    filled: bool = False
    split: int = -1
    guard: int = 0
    base: tuple[int, ...] = field(default=(), compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def size(self) -> int:
        """The number of elements: the product of the extents, 1 for a single value."""
        n = 1
        for extent in self.shape:
            n *= extent
        return n


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One element of a tensor.

    A `stored` read is the addend of an update. Of a wide model it is the stored integer, guard bits included; every
    other read is the word without them.
    """

    tensor: str
    subscripts: tuple[Affine, ...] = ()
    stored: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def names(self) -> frozenset[str]:
        """The indices it mentions."""
        return frozenset(name for subscript in self.subscripts for name in subscript.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A real constant, quantised to the nearest word where it is used."""

    value: Fraction
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordConstant(Constant):
    """A constant that is a word of the format, however inexact: lowering gives it no more bits than a word has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordinal:
    """An affine integer of the indices, used as a value and divided by 2^fraction.

    Where `fraction` is that of the format, the integer n is the word n.
    """

    value: Affine
    fraction: int = 0
    span: Span | None = field(default=None, compare=False, repr=False)


Operand = Read | Constant | Ordinal


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """``sign * product(factors)`` summed over the `reduce` indices; one or two factors."""

    factors: tuple[Operand, ...]
    sign: int = 1
    reduce: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.factors) not in (1, 2) or self.sign not in (1, -1):
            raise ValueError("a term has one or two factors and a sign of 1 or -1")


def is_stored(term: Term) -> bool:
    """Return whether a term is the addend of an update: a stored read."""
    return any(isinstance(factor, Read) and factor.stored for factor in term.factors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """A sum of terms, exact and rounded once. Products are scaled by 2^-shift. `-shift` is at most the fraction bits.

    With a `test` the result is 1 if the rounded sum is below 0 (``<``), or if it is at least 0 (``>=``), and else 0.

    `guard` is that of the wide model that the sum updates. The result then has so many bits more than a word, and so
    has the one term that is a stored read.
    """

    terms: tuple[Term, ...]
    shift: int = 0
    test: Literal["<", ">="] | None = None
    guard: int = 0

    @property
    def stored(self) -> Term | None:
        """The term of the stored addend, if the sum updates a wide model."""
        return next((term for term in self.terms if self.guard and is_stored(term)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """1 if ``left op right`` else 0."""

    op: CompareOp
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A value of the function unit."""

    name: FunctionName
    operand: Operand


@dataclass(frozen=True, slots=True, kw_only=True)
class Divide:
    """``left / right``, rounded half up.

    With `fraction`, which is then that of the format, the words are integers and the quotient is rounded toward zero.
    An integer n stands for the real n * 2^-fraction, so the result is ``trunc(left / right) * 2^-fraction``.
    """

    left: Operand
    right: Operand
    fraction: int | None = None

    @property
    def unit(self) -> Literal["divide", "quotient"]:
        """The function of the function unit that it is."""
        return "divide" if self.fraction is None else "quotient"


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The product over the `reduce` indices in lexicographic order, starting from `initial` or 1. Each step is rounded.

    With a `shift` the product starts from 2^shift, and each step is scaled by 2^-shift. Integers n that stand for n *
    2^-F have a shift of -F.
    """

    operand: Operand
    reduce: tuple[str, ...]
    initial: Operand | None = None
    shift: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """The largest or smallest of the operands' words over the `reduce` indices, and of the word `initial`.

    An operand need not mention the indices. Where constraints leave no point and there is no `initial`, the result is
    the lowest (`max`) or the highest (`min`) word of the format.
    """

    op: ExtremeOp
    operands: tuple[Operand, ...]
    reduce: tuple[str, ...] = ()
    initial: Operand | None = None

    def __post_init__(self) -> None:
        if not self.operands:
            raise ValueError("an extreme of no operands")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A subscript that data decide: the word of `table`, taken as an integer, plus `offset`."""

    table: Read
    offset: Affine = Affine()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gather:
    """The word of a tensor at subscripts of which some are gathered; each must lie inside the tensor."""

    tensor: str
    subscripts: tuple[Affine | Gathered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """Words that a scatter puts where data say: `value` goes to the element at `subscripts`, some of them gathered.

    The other subscripts run over their whole axes, each by an output index of the statement.
    """

    subscripts: tuple[Affine | Gathered, ...]
    value: Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """The word of `kept`, or that of the last landing at the place of the output.

    `kept` is the element of a model that the statement updates, so that all other elements stay as they are. Landings
    come in their order, each in the lexicographic order of those of the `reduce` indices that it mentions. Positions
    must lie inside the tensor.
    """

    kept: Read
    landings: tuple[Landing, ...]
    reduce: tuple[str, ...] = ()


Operation = Linear | Compare | Function | Divide | Product | Extreme | Gather | Scatter


def landing_names(landing: Landing) -> frozenset[str]:
    """Return the indices that a landing mentions, in its positions and in its value."""
    forms = (form.names for form in offsets_of(landing.subscripts))
    return landing.value.names.union(*forms, *(table.names for table in tables_of(landing.subscripts)))


def landing_box(statement: Statement, landing: Landing) -> tuple[Index, ...]:
    """Return the indices of the words of a landing in the order in which they land: summed ones, then outputs."""
    names = landing_names(landing)
    return tuple(index for index in (*statement.reduced, *statement.indices) if index.name in names)


def tables_of(subscripts: Sequence[Affine | Gathered]) -> tuple[Read, ...]:
    """Return the reads of the tables from which subscripts are gathered, in order."""
    return tuple(s.table for s in subscripts if isinstance(s, Gathered))


def offsets_of(subscripts: Sequence[Affine | Gathered]) -> tuple[Affine, ...]:
    """Return the parts of subscripts that indices decide, in order: of a gathered one, its offset."""
    return tuple(s.offset if isinstance(s, Gathered) else s for s in subscripts)


def operands_of(operation: Operation) -> tuple[Operand, ...]:
    """Return all operands of an operation, left to right."""
    match operation:
        case Linear(terms=terms):
            return tuple(f for t in terms for f in t.factors)
        case Compare(left=left, right=right) | Divide(left=left, right=right):
            return (left, right)
        case Function(operand=operand):
            return (operand,)
        case Product(operand=operand, initial=initial):
            return (operand,) if initial is None else (operand, initial)
        case Extreme(operands=operands, initial=initial):
            return operands if initial is None else (*operands, initial)
        case Gather(subscripts=subscripts):
            return tables_of(subscripts)
        case Scatter(kept=kept, landings=landings):
            return (kept, *(read for each in landings for read in (*tables_of(each.subscripts), each.value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """``target[write] = operation`` for every point of the output box.

    `indices` are the output indices; every one appears in `write`, so that no element is written twice. `reduced` are
    the indices that terms sum over. `id` is the position in the graph.

    `constraints` are affine forms of the indices. Where a form of output indices alone is negative, nothing is written.
    Where a form that mentions summed indices is negative, the point joins no sum over those indices. Elements that
    would be read or written only at such points need not exist.

    `crosses` says that the sum also runs over all tap groups, of which each has a part of the terms.
    """

    id: int
    target: str
    write: tuple[Affine, ...]
    indices: tuple[Index, ...]
    operation: Operation
    reduced: tuple[Index, ...] = ()
    constraints: tuple[Affine, ...] = ()
    crosses: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def box(self) -> dict[str, Index]:
        """All indices by name."""
        return {i.name: i for i in (*self.indices, *self.reduced)}

    @property
    def points(self) -> int:
        """How many points the box of all indices has, those that constraints leave out among them."""
        return prod(index.extent for index in (*self.indices, *self.reduced))

    @property
    def operands(self) -> tuple[Operand, ...]:
        """All operands, left to right."""
        return operands_of(self.operation)

    @property
    def reads(self) -> tuple[Read, ...]:
        """The operands that are tensor elements."""
        return tuple(o for o in self.operands if isinstance(o, Read))

    @property
    def sources(self) -> tuple[str, ...]:
        """The tensors it reads, each once, in order; the one it gathers from last."""
        names = [read.tensor for read in self.reads]
        if isinstance(self.operation, Gather):
            names.append(self.operation.tensor)
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A program as statements on tensors.

    `tensors` are given by name, in the order of their definition, and `statements` in a valid order. `updates` maps a
    model to the tensor of its next value. `results` are the tensors to return per sample, each with the name to show.
    `notes` are warnings for the user, for example about quantisation. `samples` is how many samples a step takes; where
    it is more than one, inputs, labels and results have it as their leading axis. `rate` is the learning rate, if
    hosts load it.

    `words` holds, for each tensor of the role ``constant``, its words as integers of a format with `fraction` fraction
    bits, in the tensor's shape. Two graphs that are equal may differ in them.

    With `flat_gathers` the subscripts of a gather are parts of one position, counted in words of the row-major tensor,
    as the pass ``flat-gathers`` leaves them. A single one of them may then lie outside of the tensor.
    """

    name: str
    tensors: Mapping[str, Tensor]
    statements: tuple[Statement, ...]
    updates: Mapping[str, str] = field(default_factory=dict)
    results: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    samples: int = 1
    rate: RuntimeRate | None = None
    flat_gathers: bool = False
    words: Mapping[str, NDArray[np.int64]] = field(default_factory=dict, compare=False, repr=False)
    fraction: int = field(default=0, compare=False)

    @property
    def model_guard(self) -> int:
        """The number of guard bits with which models are updated; 0 where no model is wide."""
        return max((self.tensors[model].guard for model in self.updates), default=0)

    def owner(self, tensor: str) -> str:
        """Return the model whose next value a tensor is, else the tensor itself."""
        for model, following in self.updates.items():
            if following == tensor:
                return model
        return tensor

    def writers(self, tensor: str) -> Iterator[Statement]:
        """Return the statements that write a tensor, in order."""
        return (s for s in self.statements if s.target == tensor)
