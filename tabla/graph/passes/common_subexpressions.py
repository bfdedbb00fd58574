"""Common subexpressions: of several statements that compute the same words, the later ones become copies of the first.

Two statements compute the same words if their operations are equal after indices are renamed and shifted to start at 0.
Terms and factors may stand in another order, because sums are exact. `forward_copies` and `drop_dead` then remove the
copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Extreme,
    Graph,
    Index,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Product,
    Read,
    Statement,
)
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import (
    copied,
    copy_of,
    operand_at,
    operation_at,
    summed_names,
    with_operation,
    with_statements,
)

_Key = tuple[object, ...]


@graph_pass(
    "common-subexpressions",
    "of statements that compute the same words, make the later ones copies of the first",
)
def common_subexpressions(graph: Graph, fmt: Format) -> Graph:
    """Replace repeated computations by copies. Next values keep their own computations, because they count how often a
    word stays as it was.
    """
    first: dict[_Key, Statement] = {}
    changed = []
    for statement in graph.statements:
        made = statement
        value = graph.tensors[statement.target].role == "value" and not statement.constraints
        if value and copied(statement.operation) is None:
            order = _output_order(statement)
            earlier = first.setdefault(_key(statement, order), statement)
            if earlier is not statement:
                made = with_operation(statement, copy_of(_counterpart(earlier, statement, order)))
        changed.append(made)
    return with_statements(graph, changed)


def _output_order(statement: Statement) -> list[Index]:
    """Order the output indices by where they first appear in the operation, so that their names and their order do not
    matter.
    """
    appearance = list(dict.fromkeys(name for o in statement.operands for a in _affines(o) for name in a.names))
    known = {index.name: index for index in statement.indices}
    mentioned = [known[name] for name in appearance if name in known]
    return mentioned + [index for index in statement.indices if index not in mentioned]


def _affines(operand: Operand) -> tuple[Affine, ...]:
    match operand:
        case Read(subscripts=subscripts):
            return subscripts
        case Ordinal(value=value):
            return (value,)
        case _:
            return ()


def _key(statement: Statement, outputs: Sequence[Index]) -> _Key:
    """Return a key of a statement. Statements with equal keys compute equal words at equal places of the renamed output
    box.
    """
    reduced = {index.name: index for index in statement.reduced}
    summed = [reduced[name] for name in summed_names(statement.operation)]
    places = {
        index.name: Affine.make(index.low, {f"{kind}{number}": 1})
        for kind, box in (("out", outputs), ("sum", summed))
        for number, index in enumerate(box)
    }
    names = {index.name: f"sum{number}" for number, index in enumerate(summed)}
    operation = operation_at(statement.operation, places)
    extents = tuple(index.extent for index in outputs), tuple(index.extent for index in summed)
    return (*extents, _unordered(operation, names))


def _unordered(operation: Operation, names: dict[str, str]) -> object:
    """Return the renamed operation without the order of operands that may be exchanged."""
    match operation:
        case Linear(terms=terms, shift=shift, test=test):
            parts = [
                (tuple(sorted(map(repr, t.factors))), t.sign, tuple(sorted(names[n] for n in t.reduce))) for t in terms
            ]
            # Without a product a shift scales nothing.
            return tuple(sorted(parts)), shift if any(len(t.factors) == 2 for t in terms) else 0, test
        case Product(reduce=reduce):
            return replace(operation, reduce=tuple(names[name] for name in reduce))
        case Extreme(op=op, operands=operands, reduce=reduce, initial=initial):
            return op, tuple(sorted(map(repr, operands))), tuple(sorted(names[name] for name in reduce)), initial
        case _:
            return operation


def _counterpart(earlier: Statement, statement: Statement, order: Sequence[Index]) -> Read:
    """Return the element of the earlier statement's target that holds the word of `statement` at its indices."""
    values = {
        old.name: Affine.make(old.low - new.low, {new.name: 1})
        for old, new in zip(_output_order(earlier), order, strict=True)
    }
    read = operand_at(Read(tensor=earlier.target, subscripts=earlier.write, span=statement.span), values)
    assert isinstance(read, Read)
    return read
