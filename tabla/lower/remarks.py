"""Notes about programs that compile and probably mean something else: formulas that saturate inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import log

from tabla.ir.format import Format
from tabla.ir.graph import Compare, Constant, Function, Linear, Operand, Operation, Read, Statement, Term

_ZERO = Constant(value=Fraction(0))


def remarks(statements: Sequence[Statement], number_format: Format) -> Iterator[str]:
    """Yield a note for each place where ``log(1 + exp(x))`` is computed, whose power saturates before the result does.

    It does not where x is ``-|x|``, as in the soft plus of `tabla.lower.functions`.
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
