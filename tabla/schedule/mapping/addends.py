"""Old words of models as products, where the tree sums an update over all tap groups.

An update with a shift adds an old word that lies as many bits higher than a product. In a lane, and at the root, the
addend of an operation is shifted. An operation of the root that begins with the tree's word has no addend, so there the
old word is multiplied by 2 to the power of the shift, a word that is loaded with the models. The sum is the same to
the bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear, Read, Statement, Tensor, Term


def with_products(legal: Graph, format: Format) -> Graph:
    """Return the graph of a group in which updates that cross groups multiply their old words.

    An update stays as it is if the format holds no such factor, and if its model is wide, because a product has only
    the upper bits of a stored word. If nothing changes, the result is `legal` itself.
    """
    following = set(legal.updates.values())
    tensors, words = dict(legal.tensors), dict(legal.words)
    statements = []
    for statement in legal.statements:
        if statement.crosses and statement.target in following and (sign := _sign(statement, format)):
            assert isinstance(statement.operation, Linear)
            shift = statement.operation.shift
            name = f"scale.{shift}"
            tensors[name] = Tensor(name=name, shape=(), role="constant", origin=name)
            words[name] = np.array(sign << (format.fraction + shift), dtype=np.int64)
            terms = tuple(_scaled(term, Read(tensor=name), sign) for term in statement.operation.terms)
            statement = replace(statement, operation=replace(statement.operation, terms=terms))
        statements.append(statement)
    if len(tensors) == len(legal.tensors):
        return legal
    return replace(legal, tensors=tensors, statements=tuple(statements), words=words, fraction=format.fraction)


def _sign(statement: Statement, format: Format) -> int:
    """Return 1 or -1 if the format holds that sign times the factor of an update's old word, 0 if it needs none."""
    match statement.operation:
        case Linear(shift=shift, guard=0) if shift > 0:
            return next((sign for sign in (1, -1) if format.holds(sign << shift)), 0)
        case _:
            return 0


def _scaled(term: Term, factor: Read, sign: int) -> Term:
    """Return a term of one factor as a product with `factor`, which is `sign` times a power of two."""
    if len(term.factors) > 1:
        return term
    return replace(term, factors=(*term.factors, factor), sign=term.sign * sign)
