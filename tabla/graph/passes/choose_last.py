"""Products with a late choice are reordered, so that what is known early is multiplied first.

``x * (c * z)`` with c 0 or 1 is ``c * (x * z)``, each step rounded: the words are the same. Where c is the end of a
long chain of dependences, as the missed margin of a support vector machine is, the product with the learning rate no
longer waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear, Operand, Read, Statement, Tensor, Term
from tabla.graph.operations import zero_or_one
from tabla.graph.passes.framework import Condition, graph_pass
from tabla.graph.rewrite import read_once, with_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """The scalar statement ``tensor = flag * word``, or minus that."""

    flag: Read
    word: Operand
    sign: int


@graph_pass(
    "choose-last",
    "multiply by a late value that is 0 or 1 last",
    condition=Condition(text="1 is a word of the format", holds=lambda fmt: fmt.one <= fmt.highest),
)
def choose_last(graph: Graph, fmt: Format) -> Graph:
    """Move choices of scalars behind the product that reads them. The old choices stay for `drop_dead`."""
    alone, depths, choices, tensors = read_once(graph), _depths(graph), _choices(graph), dict(graph.tensors)
    changed: list[Statement] = []
    for statement in graph.statements:
        made = None
        for old, other, sign in _products(statement):
            choice = choices.get(old.tensor)
            if choice is None or old.tensor not in alone:
                continue
            if max(_depth(choice.word, depths), _depth(other, depths)) < _depth(choice.flag, depths):
                made = _late(statement, choice, other, sign, tensors)
                break
        changed += made or [statement]
    return with_statements(replace(graph, tensors=tensors), changed)


def _products(statement: Statement) -> Iterator[tuple[Read, Operand, int]]:
    """Return, for a product of two scalars, the word that may be a choice, the other factor and the sign, both ways
    round.
    """
    match statement.operation:
        case Linear(terms=(Term(factors=(a, b), sign=sign, reduce=()),), test=None) if not statement.indices:
            for one, other in ((a, b), (b, a)):
                if isinstance(one, Read):
                    yield one, other, sign


def _late(
    statement: Statement, choice: _Choice, other: Operand, sign: int, tensors: dict[str, Tensor]
) -> list[Statement]:
    """Return the statements that replace the product: the negative of the word where that is chosen, the product, and
    the choice.
    """
    assert isinstance(statement.operation, Linear)
    out, word = [], choice.word
    if choice.sign < 0:
        # A statement of its own: the negative of the lowest word saturates, and halves round up.
        word = _value(statement.target, tensors)
        out.append(_scalar(statement, word, Linear(terms=(Term(factors=(choice.word,), sign=-1),))))
    product = _value(statement.target, tensors)
    terms = (Term(factors=(other, word), sign=sign),)
    out.append(_scalar(statement, product, replace(statement.operation, terms=terms)))
    chosen = Linear(terms=(Term(factors=(choice.flag, product)),))
    return [*out, replace(statement, operation=chosen)]


def _value(stem: str, tensors: dict[str, Tensor]) -> Read:
    number = next(n for n in range(1, len(tensors) + 2) if f"{stem}.early{n}" not in tensors)
    name = f"{stem}.early{number}"
    tensors[name] = Tensor(name=name, shape=(), role="value")
    return Read(tensor=name)


def _scalar(like: Statement, target: Read, operation: Linear) -> Statement:
    return replace(like, target=target.tensor, write=(), operation=operation)


def _choices(graph: Graph) -> dict[str, _Choice]:
    """Scalars that one statement makes by multiplying with a 0/1 value."""
    flags = zero_or_one(graph)
    found = {}
    for statement in graph.statements:
        tensor = graph.tensors[statement.target]
        if tensor.shape or tensor.role != "value" or len(list(graph.writers(tensor.name))) != 1:
            continue
        match statement.operation:
            case Linear(terms=(Term(factors=(a, b), sign=sign, reduce=()),), shift=0, test=None):
                for flag, word in ((a, b), (b, a)):
                    if isinstance(flag, Read) and flag.tensor in flags:
                        found[tensor.name] = _Choice(flag=flag, word=word, sign=sign)
                        break
    return found


def _depths(graph: Graph) -> dict[str, int]:
    """How many statements lie between what a sample brings and a tensor."""
    depths: dict[str, int] = {}
    for statement in graph.statements:
        here = 1 + max((depths.get(source, 0) for source in statement.sources), default=0)
        depths[statement.target] = max(depths.get(statement.target, 0), here)
    return depths


def _depth(operand: Operand, depths: dict[str, int]) -> int:
    return depths.get(operand.tensor, 0) if isinstance(operand, Read) else 0
