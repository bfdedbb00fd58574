"""Positions that the format cannot hold as real words (decision 22).

They are integers of the machine, where the word n is the integer n. Coordinates that are no real words are such
integers, and so are the integers that are made of them or compared with them. All other integers of a program are real
words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tabla.graph.format import Format
from tabla.languages.tile.elementwise import COMPARISONS
from tabla.languages.tile.program import (
    Contraction,
    Elementwise,
    Input,
    Node,
    Ordinal,
    Program,
    Reshape,
    Values,
)


def positions_of(program: Program, number_format: Format) -> frozenset[Node]:
    """Return the tensors of a program whose words are integers."""
    nodes = program.nodes()
    last = number_format.highest >> number_format.fraction
    found: set[Node] = {node for node in nodes if isinstance(node, Ordinal) and node.shape[node.axis] - 1 > last}
    if program.steps or not found:
        return frozenset()
    before = -1
    while before != len(found):
        before = len(found)
        for node in nodes:
            found.update(_made_of(node, found))
            found.update(_beside(node, found))
    taken: dict[Node, list[Node]] = {}
    for node in nodes:
        for operand in node.operands:
            taken.setdefault(operand, []).append(node)
    for given in program.inputs:
        # A parameter that has other uses is a real tensor.
        if all(_is_position(given, user, found) for user in taken.get(given, [None])):
            found.add(given)
    return frozenset(found)


def _values(node: Node) -> Sequence[Node]:
    """The operands that become values of a node, and not its conditions."""
    match node:
        case Elementwise(operator="select", inputs=inputs):
            return inputs[1:]
        case Elementwise(operator=operator) if operator in COMPARISONS:
            return ()
        case Contraction(combination="condition", sources=sources):
            return (sources[2].node,)
        case _:
            return node.operands


def _compared(node: Node) -> Sequence[Node]:
    """The operands that a node compares."""
    match node:
        case Elementwise(operator=operator, inputs=inputs) if operator in COMPARISONS:
            return inputs
        case Contraction(combination="condition", sources=sources):
            return (sources[0].node, sources[1].node)
        case _:
            return ()


def _made_of(node: Node, found: Iterable[Node]) -> Iterable[Node]:
    if node.kind == "integer" and any(operand in found for operand in _values(node)):
        yield node
    if node in found and not (isinstance(node, Elementwise) and node.operator == "cast"):
        yield from (operand for operand in _values(node) if _can_be(operand))


def _beside(node: Node, found: Iterable[Node]) -> Iterable[Node]:
    compared = _compared(node)
    if any(operand in found for operand in compared):
        yield from (operand for operand in compared if _can_be(operand))


def _can_be(node: Node) -> bool:
    return node.kind == "integer" and isinstance(node, Contraction | Elementwise | Ordinal | Reshape | Values)


def _is_position(given: Input, user: Node | None, found: Iterable[Node]) -> bool:
    """Return whether a node uses a parameter as a position."""
    match user:
        case Elementwise(operator="cast", kind="integer"):
            return user in found
        case Elementwise() | Contraction():
            compared = _compared(user)
            return given in compared and given not in _values(user) and any(each in found for each in compared)
        case _:
            return False
