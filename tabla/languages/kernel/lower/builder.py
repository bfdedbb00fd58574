"""A graph while it grows: its tensors and its statements, whose constants are checked as they are used.

Formulas that saturate inside compile, and probably mean something else: notes say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import assert_never

from tabla.base.source import Label, Span, TablaError
from tabla.graph.constraints import applying, components, satisfied
from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Gather,
    Graph,
    Index,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Product,
    Read,
    Role,
    Scatter,
    Statement,
    Tensor,
    Term,
    offsets_of,
    operands_of,
)
from tabla.graph.rate import RuntimeRate
from tabla.graph.rewrite import summed_names
from tabla.languages.kernel.lower.choices import adds, plain_term
from tabla.languages.kernel.lower.quantise import Quantiser, Use
from tabla.languages.kernel.lower.scaled import Fitting, outside, scalable, words_of

_ZERO = Constant(value=Fraction(0))


def remarks(statements: Sequence[Statement], number_format: Format) -> Iterator[str]:
    """Yield a note for each place where ``log(1 + exp(x))`` is computed, whose power saturates before the result does.

    It does not where x is ``-|x|``, as in the soft plus of `tabla.languages.kernel.lower.functions`.
    """
    last: dict[str, Operation] = {}
    told: set[str] = set()
    for statement in statements:
        power = _power_in(statement.operation, last)
        if power is not None and not _falls(power.operand, last):
            span = statement.span
            place = f"{span.source.name}:{span.line}:{span.column}: " if span is not None else ""
            end = log(number_format.highest / number_format.one)
            text = f"log(1 + exp(x)) saturates above x = {end:.3g} in {number_format}; softplus(x) does not"
            if place not in told:
                told.add(place)
                yield f"{place}{text}"
        last[statement.target] = statement.operation


def _power_in(operation: Operation, last: dict[str, Operation]) -> Function | None:
    """Return the exponential of a ``log(1 + exp(x))``, and None for any other operation.

    `last` are the operations that defined tensors before.
    """
    match operation:
        case Function(name="log", operand=Read(tensor=argument)):
            pass
        case _:
            return None
    match last.get(argument):
        case Linear(terms=(Term(factors=(one,), sign=1), Term(factors=(other,), sign=1)) as terms, shift=0) if not any(
            term.reduce for term in terms
        ):
            pass
        case _:
            return None
    for constant, power in ((one, other), (other, one)):
        match constant, power:
            case Constant(value=value), Read(tensor=tensor) if value == 1:
                found = last.get(tensor)
                return found if isinstance(found, Function) and found.name == "exp" else None
    return None


def _falls(operand: Operand, last: dict[str, Operation]) -> bool:
    """Return whether an operand is ``-|x|``, made as ``-x + 2 * (x < 0) * x``."""
    match last.get(operand.tensor) if isinstance(operand, Read) else None:
        case Linear(terms=(Term(factors=(word,), sign=-1), Term(factors=(Read(tensor=below), size)) as one, other)):
            return one == other and size == word and last.get(below) == Compare(op="<", left=word, right=_ZERO)
        case _:
            return False


Sum = tuple[Term, ...]
"""A value as signed terms, each a word or a product of words."""

LARGEST_STEP = 1 << 40
"""The largest number by which a subscript or a condition multiplies an index, or that it adds."""


class GraphBuilder:
    """Collects statements in a valid order. `ranges` are the indices that reductions may run over."""

    def __init__(self, number_format: Format, ranges: MutableMapping[str, Index]) -> None:
        self.number_format, self.ranges = number_format, ranges
        self.quantiser = Quantiser(number_format)
        self._fitting = Fitting(number_format, self.quantiser)
        self._tensors: dict[str, Tensor] = {}
        self._statements: list[Statement] = []
        self._parts: dict[str, int] = {}
        self._owners: dict[str, str] = {}

    def tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        role: Role,
        *,
        origin: str,
        span: Span | None,
        filled: bool = False,
        base: tuple[int, ...] = (),
    ) -> None:
        """Define a tensor. Its name must be new."""
        if name in self._tensors:
            raise ValueError(f"tensor {name} is defined twice")
        self._tensors[name] = Tensor(
            name=name, shape=shape, role=role, origin=origin, span=span, filled=filled, base=base
        )

    def fill(self, name: str) -> None:
        """Let the elements of a value that no statement writes be 0."""
        self._tensors[name] = replace(self._tensors[name], filled=True)

    def role(self, name: str) -> Role:
        """Return the role of a tensor."""
        return self._tensors[name].role

    def emit(
        self,
        target: str,
        write: tuple[Affine, ...],
        indices: tuple[Index, ...],
        operation: Operation,
        span: Span | None,
        constraints: Iterable[Affine] = (),
    ) -> None:
        """Append a statement. The indices that its operation sums over are taken from `ranges`.

        Temporaries come before it where its operation has constants that the format cannot hold (decision 22).
        """
        if isinstance(operation, Linear):
            operation = replace(operation, terms=self._plain(target, indices, operation, span, tuple(constraints)))
        constraints, summed = tuple(constraints), set(summed_names(operation))
        _refuse_huge((*write, *constraints, *_affines(operation)), span)
        operation = self._fitted(target, indices, operation, span, constraints)
        # Where temporaries have summed over an index already, its constraints are theirs.
        summed -= set(summed_names(operation))
        constraints = tuple(c for c in constraints if not summed.intersection(c.names))
        reduced = tuple(self.ranges[name] for name in summed_names(operation))
        statement = Statement(
            id=len(self._statements),
            target=target,
            write=write,
            indices=indices,
            operation=operation,
            reduced=reduced,
            constraints=constraints,
            span=span,
        )
        self._check(statement)
        self._statements.append(statement)

    def part(
        self,
        owner: str,
        operation: Operation,
        indices: Iterable[Index],
        span: Span | None,
        constraints: Iterable[Affine] = (),
        tied: Iterable[str] = (),
        *,
        filled: bool = False,
    ) -> Read:
        """Compute an operation into a new temporary, and return the read of it.

        The temporary belongs to the statement that defines `owner`. It has an axis for each of `indices` that the
        operation mentions, and for each of the `tied` ones, by which constraints say what the operation reduces over.
        Of the owner's `constraints` it keeps those that mention no other index. Where it reads elements that exist only
        under constraints, or gathers at points that they exclude, it runs over all indices that they tie together. A
        `filled` one is 0 at the points that the constraints leave out.
        """
        indices, constraints = tuple(indices), tuple(constraints)
        mentioned = (_mentioned(operation) | set(tied)) - set(summed_names(operation))
        box = {index.name: index for index in indices}
        apart = not self._inside(operation, box)
        for names, members in components(constraints):
            if mentioned & names and (apart or (isinstance(operation, Gather) and _excluded(members, mentioned, box))):
                mentioned |= names
        own = tuple(index for index in indices if index.name in mentioned)
        name = self.temporary(owner)
        self._owners[name] = owner
        self.tensor(name, tuple(index.extent for index in own), "value", origin=owner, span=span, filled=filled)
        # An index may start late; the temporary holds no room for what it skips.
        place = tuple(Affine.make(-index.low, {index.name: 1}) for index in own)
        summed = [self.ranges[reduced] for reduced in summed_names(operation)]
        self.emit(name, place, own, operation, span, applying(constraints, [*own, *summed]))
        return Read(tensor=name, subscripts=place, span=span)

    def temporary(self, owner: str) -> str:
        """Return a new name for a temporary of the statement that defines `owner`."""
        self._parts[owner] = number = self._parts.get(owner, 0) + 1
        return f"{owner}.t{number}"

    def outside(self, value: Fraction) -> bool:
        """Return whether the format cannot hold a constant, or rounds it to zero."""
        return outside(value, self.number_format)

    def scales(self, value: Fraction, terms: Sum, *, divides: bool = False) -> bool:
        """Return whether the constant `value` multiplies each term of a value, and not the word of the value.

        Every constant but 0, 1 and -1 does (decision 22), as far as the machine has places for its products with the
        constants of the value. Beside a single word there is no difference.
        """
        if self.outside(value):
            return True
        by = 1 / value if divides and value else value
        apart = divides or adds(terms) or any(len(term.factors) > 1 for term in terms)
        return abs(value) not in (0, 1) and apart and scalable(terms, by, self.number_format)

    def _plain(
        self,
        target: str,
        indices: tuple[Index, ...],
        operation: Linear,
        span: Span | None,
        constraints: tuple[Affine, ...],
    ) -> tuple[Term, ...]:
        """Return the terms of a sum. Beside terms that constants scale, a choice is one word, as any operand is."""
        if not self._fitting.scales(operation):
            return tuple(map(plain_term, operation.terms))

        def part(made: Operation, summed: tuple[str, ...]) -> Read:
            inner = tuple(self.ranges[name] for name in summed)
            return self.part(self._owners.get(target, target), made, (*indices, *inner), span, constraints)

        return tuple(words_of(operation.terms, part))

    def _fitted(
        self,
        target: str,
        indices: tuple[Index, ...],
        operation: Operation,
        span: Span | None,
        constraints: tuple[Affine, ...],
    ) -> Operation:
        summed = summed_names(operation)
        box = {index.name: index for index in (*indices, *(self.ranges[name] for name in summed))}
        # Constraints may tie a summed index to others, on which the sum then depends.
        tied = {name for c in constraints if set(c.names) & set(summed) for name in c.names if name not in summed}

        def part(made: Operation) -> Read:
            return self.part(self._owners.get(target, target), made, indices, span, constraints, tied)

        return self._fitting.fitted(operation, box, part)

    def _inside(self, operation: Operation, box: Mapping[str, Index]) -> bool:
        """Whether all elements that an operation reads over a box exist."""
        reads = [operand for operand, _ in _uses(operation) if isinstance(operand, Read)]
        subscripts = [pair for r in reads for pair in zip(r.subscripts, self._tensors[r.tensor].shape, strict=True)]
        if isinstance(operation, Gather):
            pairs = zip(operation.subscripts, self._tensors[operation.tensor].shape, strict=True)
            subscripts += [(subscript, n) for subscript, n in pairs if isinstance(subscript, Affine)]
        full = {**self.ranges, **box}
        return all(0 <= low and high < n for s, n in subscripts for low, high in (s.bounds(full),))

    def graph(
        self,
        name: str,
        updates: Mapping[str, str],
        results: tuple[tuple[str, str], ...],
        rate: RuntimeRate | None = None,
    ) -> Graph:
        """Return the finished graph. Raises `TablaError` for constants that the format cannot hold."""
        self.quantiser.raise_any()
        return Graph(
            name=name,
            tensors=self._tensors,
            statements=tuple(self._statements),
            updates=updates,
            results=results,
            notes=(*self.quantiser.notes, *remarks(self._statements, self.number_format)),
            rate=rate,
        )

    def _check(self, statement: Statement) -> None:
        for operand, use in _uses(statement.operation):
            match operand:
                case Constant(value=value, span=span):
                    self.quantiser.constant(value, use, span or statement.span)
                case Ordinal(value=affine, fraction=fraction, span=span):
                    low, high = affine.bounds(statement.box)
                    self.quantiser.integers(low, high, span or statement.span, fraction)
                case Read():
                    pass
                case _:
                    assert_never(operand)


def _uses(operation: Operation) -> list[tuple[Operand, Use]]:
    """The operands of an operation, and whether a zero would silence it."""
    match operation:
        case Linear(terms=terms):
            return [(f, _use(term)) for term in terms for f in term.factors]
        case Compare(left=left, right=right):
            return [(left, "addend"), (right, "addend")]
        case Divide(left=left, right=right):
            return [(left, "factor"), (right, "factor")]
        case Function(operand=operand):
            return [(operand, "addend")]
        case Product():
            return [(operand, "factor") for operand in operands_of(operation)]
        case Extreme() | Gather() | Scatter():
            return [(operand, "addend") for operand in operands_of(operation)]
        case _:
            assert_never(operation)


def _use(term: Term) -> Use:
    """Return "factor" for the operands of a product that is not a constant, else "addend"."""
    return "addend" if len(term.factors) == 1 or all(isinstance(f, Constant) for f in term.factors) else "factor"


def _affines(operation: Operation) -> Iterator[Affine]:
    """Yield the affine forms of an operation: subscripts, and numbers made of indices."""
    for operand, _ in _uses(operation):
        match operand:
            case Read(subscripts=subscripts):
                yield from subscripts
            case Ordinal(value=value):
                yield value
    if isinstance(operation, Gather):
        yield from offsets_of(operation.subscripts)


def _refuse_huge(affines: Iterable[Affine], span: Span | None) -> None:
    """Raise `TablaError` for a number in a subscript or a condition that 64 bits may not hold once it is multiplied."""
    for affine in affines:
        huge = [n for n in (affine.constant, *(c for _, c in affine.coefficients)) if abs(n) > LARGEST_STEP]
        if huge:
            shown = f"{huge[0]:,}" if abs(huge[0]) < 10**30 else "a number of more than 30 digits"
            raise TablaError(
                f"a subscript or a condition has {shown}; the limit is {LARGEST_STEP:,}",
                *(() if span is None else (Label(span),)),
                hint="no tensor is so large",
            )


def _excluded(constraints: Sequence[Affine], mentioned: Set[str], box: Mapping[str, Index]) -> bool:
    """Return whether constraints exclude some values of the mentioned indices at all points."""
    tied = [box[name] for name in sorted({name for constraint in constraints for name in constraint.names} & set(box))]
    away = tuple(axis for axis, index in enumerate(tied) if index.name not in mentioned)
    return not satisfied(applying(constraints, tied), tied).any(axis=away).all()


def _mentioned(operation: Operation) -> set[str]:
    names: set[str] = set()
    if isinstance(operation, Gather):
        names.update(name for offset in offsets_of(operation.subscripts) for name in offset.names)
    for operand, _ in _uses(operation):
        names.update(mentioned(operand))
    return names


def mentioned(operand: Operand) -> tuple[str, ...]:
    """Return the indices that an operand depends on, sorted."""
    match operand:
        case Read(subscripts=subscripts):
            return tuple(sorted({name for subscript in subscripts for name in subscript.names}))
        case Ordinal(value=value):
            return value.names
        case Constant():
            return ()
        case _:
            assert_never(operand)


def single(term: Term) -> Operand | None:
    """Return the operand of a term that is one operand, with either sign and not summed; None for any other term."""
    return term.factors[0] if len(term.factors) == 1 and not term.reduce else None
