"""Programs that are refused before anything of them is lowered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tabla.languages.tile.lower.expressions import makes_whole
from tabla.languages.tile.lower.known import refuse
from tabla.languages.tile.program import Elementwise, Node, Program

MOST_NESTED = 250
"""The most operations of one expression that lie inside each other. Python goes no deeper than a thousand calls."""


def refuse_whole_numbers(program: Program, nodes: Sequence[Node]) -> None:
    """Refuse whole numbers in a program that learns, because training compares it with the same graph in float64, which
    does not round to words.
    """
    for node in nodes:
        if program.steps and isinstance(node, Elementwise) and makes_whole(node):
            refuse(f"{node.operator} in a program that learns does not run on the machine yet", node.span)


def refuse_deep(nodes: Sequence[Node], shown: Sequence[Node]) -> None:
    """Refuse expressions that are nested too deep. Values that are used once become one expression, which is walked
    from the outside in.
    """
    uses = Counter([*(operand for node in nodes for operand in node.operands), *shown])
    depths: dict[Node, int] = {}
    for node in nodes:
        if isinstance(node, Elementwise):
            depths[node] = 1 + max((depths.get(each, 0) for each in node.operands if uses[each] == 1), default=0)
            if depths[node] > MOST_NESTED:
                hint = "return a value on the way there, or use it twice: it is then a word of its own"
                refuse(f"this expression is nested more than {MOST_NESTED} deep", node.span, hint)
