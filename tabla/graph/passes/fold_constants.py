"""Constant folding: what is known before any sample arrives is computed here, in the words of the format.

Each of these rules is exact for every word:

- A term with a factor 0 vanishes. A factor 1 or -1 becomes a sign, where no shift scales the product.
- Terms with the same factors and opposite signs cancel. Constant terms are joined into one where their sum is a word.
- An operation on constants alone becomes its word, unless it saturates or leaves its domain, which must be counted.
- A comparison of an operand with itself is decided. An ordinal that has only one value is a constant.
- A division by a constant whose reciprocal is an exact word becomes a multiply. `pi` over one point is its operand.
- Equal operands of an extreme are one, and its constants are joined. A single operand that is not reduced is a copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import assert_never

import numpy as np

from tabla.graph import function_words
from tabla.graph.format import Format
from tabla.graph.functions import apply_to_words
from tabla.graph.graph import (
    Affine,
    Compare,
    CompareOp,
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
    Scatter,
    Statement,
    Term,
)
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import copied, copy_of, operand_at, with_operands, with_operation, with_statements

_HOLDS_FOR_EQUALS: Mapping[CompareOp, bool] = {
    "<": False,
    "<=": True,
    ">": False,
    ">=": True,
    "==": True,
    "!=": False,
}
_MOST_STEPS = 100_000  # every step rounds, so each must be taken


@graph_pass("fold-constants", "compute what is known before any sample arrives")
def fold_constants(graph: Graph, fmt: Format) -> Graph:
    """Fold every statement by itself. `forward_copies` carries what became constant to its readers."""
    return with_statements(graph, (_folded(statement, fmt) for statement in graph.statements))


def _folded(statement: Statement, fmt: Format) -> Statement:
    if statement.constraints:
        # How often something is added depends on the point.
        return statement
    box = statement.box

    def simpler(operand: Operand) -> Operand:
        match operand:
            case Ordinal(value=value, fraction=fraction, span=span):
                low, high = value.bounds(box)
                return Constant(value=Fraction(low, 1 << fraction), span=span) if low == high else operand
            case Read() | Constant():
                return operand
            case _:
                assert_never(operand)

    operation = with_operands(statement.operation, simpler)
    return with_operation(statement, _operation(operation, box, fmt))


def _operation(operation: Operation, box: Mapping[str, Index], fmt: Format) -> Operation:
    match operation:
        case Linear(test=None):
            return _linear(operation, box, fmt)
        case Linear():
            return operation
        case Compare(op=op, left=left, right=right):
            return _compare(operation, op, left, right, fmt)
        case Function(name=name, operand=Constant() as operand):
            return _known(operation, apply_to_words(name, _array(operand, fmt), fmt), fmt)
        case Divide(left=Constant() as left, right=Constant() as right):
            divided = function_words.divide if operation.fraction is None else function_words.quotient
            return _known(operation, divided(_array(left, fmt), _array(right, fmt), fmt), fmt)
        case Divide(left=left, right=Constant(value=value), fraction=None):
            return _reciprocal(operation, left, value, fmt) or operation
        case Product(initial=None, shift=0):
            return _product(operation, box, fmt)
        case Product():
            return operation
        case Extreme():
            return _extreme(operation, fmt)
        case Function() | Divide() | Gather() | Scatter():
            return operation
        case _:
            assert_never(operation)


def _word(operand: Constant, fmt: Format) -> int:
    return fmt.nearest(operand.value)


def _constant(word: int, fmt: Format) -> Constant:
    """Return a constant that is quantised to exactly this word."""
    return Constant(value=Fraction(word, fmt.one))


def _array(operand: Constant, fmt: Format) -> function_words.Words:
    return np.array(_word(operand, fmt), dtype=np.int64)


def _known(operation: Operation, applied: function_words.Applied, fmt: Format) -> Operation:
    if applied.overflows or applied.domain_errors:
        return operation
    return copy_of(_constant(int(applied.words), fmt))


def _compare(operation: Compare, op: CompareOp, left: Operand, right: Operand, fmt: Format) -> Operation:
    if left == right:
        return copy_of(Constant(value=Fraction(_HOLDS_FOR_EQUALS[op])))
    if not (isinstance(left, Constant) and isinstance(right, Constant)):
        return operation
    a, b = _word(left, fmt), _word(right, fmt)
    held = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
    return copy_of(Constant(value=Fraction(held[op])))


def _reciprocal(operation: Divide, left: Operand, value: Fraction, fmt: Format) -> Linear | None:
    """Return ``left / value`` as a product, if the divisor and its reciprocal are both words, so that both
    round alike.
    """
    if value == 0 or (value * fmt.one).denominator != 1:
        return None
    reciprocal = 1 / value
    if (reciprocal * fmt.one).denominator != 1 or not fmt.holds(reciprocal):
        return None
    if reciprocal == 1:
        return copy_of(left)
    return Linear(terms=(Term(factors=(left, Constant(value=reciprocal))),))


def _product(operation: Product, box: Mapping[str, Index], fmt: Format) -> Operation:
    points = prod(box[name].extent for name in operation.reduce)
    if points == 1:
        # The first step rounds ONE times the word, which is the word.
        only = {name: Affine(constant=box[name].low) for name in operation.reduce}
        return copy_of(operand_at(operation.operand, only))
    if not isinstance(operation.operand, Constant) or points > _MOST_STEPS:
        return operation
    word, factor = fmt.one, _word(operation.operand, fmt)
    for _ in range(points):
        exact = (word * factor + (fmt.one >> 1)) >> fmt.fraction
        if exact != fmt.saturate(exact):
            return operation
        if exact == word:
            break
        word = exact
    return copy_of(_constant(word, fmt))


def _extreme(operation: Extreme, fmt: Format) -> Operation:
    if operation.initial is not None and not operation.reduce:
        operation = replace(operation, operands=(operation.initial, *operation.operands), initial=None)
    operands = list(dict.fromkeys(operation.operands))
    constants = [operand for operand in operands if isinstance(operand, Constant)]
    if len(constants) > 1:
        chosen = (max if operation.op == "max" else min)(constants, key=lambda constant: _word(constant, fmt))
        operands = [operand for operand in operands if operand is chosen or not isinstance(operand, Constant)]
    if operation.initial is None and len(operands) == 1 and (not operation.reduce or operands == constants):
        return copy_of(operands[0])
    return replace(operation, operands=tuple(operands))


def _linear(operation: Linear, box: Mapping[str, Index], fmt: Format) -> Operation:
    terms = _cancelled(_term(term, operation.shift) for term in operation.terms)
    if operation.guard:
        # The shift also places the stored addend, and a constant has no place beside that addend.
        return replace(operation, terms=tuple(terms))
    # A scale of 2^0 needs no shift; a shift scales products only.
    shift = operation.shift if any(len(term.factors) == 2 for term in terms) else 0
    constant = [term for term in terms if all(isinstance(factor, Constant) for factor in term.factors)]
    live = [term for term in terms if term not in constant]
    total = sum(_amount(term, shift, box, fmt) for term in constant)
    scale = fmt.fraction + shift
    if not live:
        return _rounded(operation, total, scale, fmt)
    if total == 0:
        return Linear(terms=tuple(live), shift=_needed(live, shift))
    if total & ((1 << scale) - 1) or total >> scale != fmt.saturate(total >> scale):
        return Linear(terms=tuple(terms), shift=shift)
    if _needed(live, shift) and any(len(term.factors) == 1 for term in live):
        # Beside products of a shift there is one place for a word, and it is taken.
        return Linear(terms=tuple(terms), shift=shift)
    if len(constant) == 1 and len(constant[0].factors) == 1 and not constant[0].reduce:
        return Linear(terms=tuple(terms), shift=_needed(live, shift))
    joined = Term(factors=(_constant(total >> scale, fmt),))
    return Linear(terms=(*live, joined), shift=_needed(live, shift))


def _needed(terms: Iterable[Term], shift: int) -> int:
    return shift if any(len(term.factors) == 2 for term in terms) else 0


def _rounded(operation: Linear, total: int, scale: int, fmt: Format) -> Operation:
    """A sum of constants, as the word that it rounds to."""
    whole = (total + ((1 << scale) >> 1)) >> scale
    if whole != fmt.saturate(whole):
        return operation
    only = copied(operation)
    if isinstance(only, Constant):
        # It stays as the user wrote it: float64 sees the value before it was quantised.
        return operation
    return copy_of(_constant(whole, fmt))


def _term(term: Term, shift: int) -> Term | None:
    """Return the term without trivial factors, or None if it is 0."""
    constants = [factor.value for factor in term.factors if isinstance(factor, Constant)]
    if 0 in constants:
        return None
    if len(term.factors) == 2 and shift == 0:
        for position, factor in enumerate(term.factors):
            if isinstance(factor, Constant) and abs(factor.value) == 1:
                other = term.factors[1 - position]
                return replace(term, factors=(other,), sign=term.sign * int(factor.value))
    return term


def _cancelled(terms: Iterable[Term | None]) -> list[Term]:
    """Return the terms without pairs of opposite sign. The order of factors does not matter."""
    kept: list[Term] = []
    spare: Counter[tuple[object, ...]] = Counter()
    for term in terms:
        if term is None:
            continue
        if spare[_key(term, -term.sign)]:
            spare[_key(term, -term.sign)] -= 1
            opposite = next(t for t in reversed(kept) if _key(t, t.sign) == _key(term, -term.sign))
            kept.remove(opposite)
        else:
            spare[_key(term, term.sign)] += 1
            kept.append(term)
    return kept


def _key(term: Term, sign: int) -> tuple[object, ...]:
    return frozenset(Counter(term.factors).items()), frozenset(term.reduce), sign


def _amount(term: Term, shift: int, box: Mapping[str, Index], fmt: Format) -> int:
    """Return what a term of constants adds to the exact sum."""
    amount = prod(_word(factor, fmt) for factor in term.factors if isinstance(factor, Constant))
    if len(term.factors) == 1:
        amount <<= fmt.fraction + shift
    return term.sign * amount * prod(box[name].extent for name in term.reduce)
