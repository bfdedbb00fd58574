"""Building blocks of passes: graphs rebuilt with other statements, operations with other operands or indices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Gather,
    Gathered,
    Graph,
    Landing,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Product,
    Read,
    Scatter,
    Statement,
    Tensor,
    Term,
)


def with_statements(graph: Graph, statements: Iterable[Statement]) -> Graph:
    """Return the graph with these statements, in this order and numbered anew."""
    numbered = tuple(s if s.id == n else replace(s, id=n) for n, s in enumerate(statements))
    return replace(graph, statements=numbered)


def new_name(wanted: str, taken: Container[str]) -> str:
    """Return a name that is not taken: the wanted one, or with a number behind it."""
    name, number = wanted, 1
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    return name


def needed_for(wanted: Iterable[str], statements: Sequence[Statement]) -> tuple[tuple[Statement, ...], frozenset[str]]:
    """Return the statements that compute the `wanted` tensors, in their order, and the tensors that take part.

    These are the wanted ones, and all that they depend on.
    """
    needed, kept = set(wanted), list[Statement]()
    # A statement reads what statements before it have written.
    for statement in reversed(statements):
        if statement.target in needed:
            needed.update(statement.sources)
            kept.append(statement)
    return tuple(reversed(kept)), frozenset(needed)


def with_operands(operation: Operation, change: Callable[[Operand], Operand]) -> Operation:
    """Return the operation with `change` applied to every operand."""
    match operation:
        case Linear(terms=terms):
            changed = (replace(term, factors=tuple(change(f) for f in term.factors)) for term in terms)
            return replace(operation, terms=tuple(changed))
        case Compare(left=left, right=right) | Divide(left=left, right=right):
            return replace(operation, left=change(left), right=change(right))
        case Function(operand=operand):
            return replace(operation, operand=change(operand))
        case Product(operand=operand, initial=initial):
            return replace(operation, operand=change(operand), initial=None if initial is None else change(initial))
        case Gather(subscripts=subscripts):
            return replace(operation, subscripts=tuple(_subscript(s, change) for s in subscripts))
        case Extreme(operands=operands, initial=initial):
            first = None if initial is None else change(initial)
            return replace(operation, operands=tuple(map(change, operands)), initial=first)
        case Scatter(kept=kept, landings=landings):
            return replace(
                operation, kept=_read(kept, change), landings=tuple(_landing(each, change) for each in landings)
            )
        case _:
            assert_never(operation)


def _subscript(subscript: Affine | Gathered, change: Callable[[Operand], Operand]) -> Affine | Gathered:
    return subscript if isinstance(subscript, Affine) else replace(subscript, table=_read(subscript.table, change))


def _landing(landing: Landing, change: Callable[[Operand], Operand]) -> Landing:
    subscripts = tuple(_subscript(subscript, change) for subscript in landing.subscripts)
    return Landing(subscripts=subscripts, value=_read(landing.value, change))


def _read(read: Read, change: Callable[[Operand], Operand]) -> Read:
    """Return a changed read. One that must be an element of a tensor stays where the change would make it another."""
    changed = change(read)
    return changed if isinstance(changed, Read) else read


def with_tensors(graph: Graph, tensors: Mapping[str, Tensor]) -> Graph:
    """Return the graph with some of its tensors, and the words of the constants among them. Statements stay."""
    return replace(graph, tensors=tensors, words={n: words for n, words in graph.words.items() if n in tensors})


def with_operation(statement: Statement, operation: Operation) -> Statement:
    """Return the statement with another operation. Indices that it no longer sums over are dropped."""
    summed = set(summed_names(operation))
    reduced = tuple(index for index in statement.reduced if index.name in summed)
    return replace(statement, operation=operation, reduced=reduced)


def summed_names(operation: Operation) -> tuple[str, ...]:
    """Return the indices that an operation sums or multiplies over, each once, in the order of their appearance."""
    match operation:
        case Linear(terms=terms):
            return tuple(dict.fromkeys(name for term in terms for name in term.reduce))
        case Product(reduce=reduce) | Extreme(reduce=reduce) | Scatter(reduce=reduce):
            return reduce
        case Compare() | Function() | Divide() | Gather():
            return ()
        case _:
            assert_never(operation)


def substituted(affine: Affine, values: Mapping[str, Affine]) -> Affine:
    """Return the affine form with some indices replaced by affine forms. Indices without a value stay."""
    constant, coefficients = affine.constant, dict[str, int]()
    for name, factor in affine.coefficients:
        value = values.get(name, Affine.index(name))
        constant += factor * value.constant
        for other, c in value.coefficients:
            coefficients[other] = coefficients.get(other, 0) + factor * c
    return Affine.make(constant, coefficients)


def read_at(read: Read, values: Mapping[str, Affine]) -> Read:
    """Return the read with its indices replaced."""
    return replace(read, subscripts=tuple(substituted(s, values) for s in read.subscripts))


def subscript_at(subscript: Affine | Gathered, values: Mapping[str, Affine]) -> Affine | Gathered:
    """Return the subscript, and the table that it is gathered from, with indices replaced."""
    if isinstance(subscript, Affine):
        return substituted(subscript, values)
    return Gathered(table=read_at(subscript.table, values), offset=substituted(subscript.offset, values))


def operand_at(operand: Operand, values: Mapping[str, Affine]) -> Operand:
    """Return the operand with its indices replaced."""
    match operand:
        case Read():
            return read_at(operand, values)
        case Ordinal(value=value):
            return replace(operand, value=substituted(value, values))
        case Constant():
            return operand
        case _:
            assert_never(operand)


def operation_at(operation: Operation, values: Mapping[str, Affine]) -> Operation:
    """Return the operation with its indices replaced in all subscripts. The indices that it sums over stay."""
    match operation:
        case Gather(subscripts=subscripts):
            return replace(operation, subscripts=tuple(subscript_at(s, values) for s in subscripts))
        case Scatter(kept=kept, landings=landings):
            moved = tuple(landing_at(landing, values) for landing in landings)
            return replace(operation, kept=read_at(kept, values), landings=moved)
        case _:
            return with_operands(operation, lambda operand: operand_at(operand, values))


def landing_at(landing: Landing, values: Mapping[str, Affine]) -> Landing:
    """Return the landing with its indices replaced."""
    subscripts = tuple(subscript_at(subscript, values) for subscript in landing.subscripts)
    return Landing(subscripts=subscripts, value=read_at(landing.value, values))


def read_once(graph: Graph) -> frozenset[str]:
    """Return the tensors that a single operand of a single statement reads, and that are neither a result nor the next
    value of a model.
    """
    uses = Counter(read.tensor for statement in graph.statements for read in statement.reads)
    uses.update(s.operation.tensor for s in graph.statements if isinstance(s.operation, Gather))
    kept = {tensor for _, tensor in graph.results} | set(graph.updates.values())
    return frozenset(name for name, count in uses.items() if count == 1) - kept


def copied(operation: Operation) -> Operand | None:
    """Return the operand whose word the operation passes on unchanged, or None if the operation does anything else."""
    match operation:
        case Linear(terms=(Term(factors=(operand,), sign=1, reduce=()),), test=None, guard=0):
            return operand
        case _:
            return None


def copy_of(operand: Operand) -> Linear:
    """Return the operation that passes a word on."""
    return Linear(terms=(Term(factors=(operand,)),))
