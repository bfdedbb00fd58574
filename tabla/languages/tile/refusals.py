"""Programs that are refused before anything of them is lowered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tabla.base.source import Label, TablaError
from tabla.graph.rate import RATE
from tabla.languages.kernel.lower.quantise import shown
from tabla.languages.tile.known import refuse
from tabla.languages.tile.program import Elementwise, Node, Program, Values
from tabla.languages.tile.text import names_of

MOST_NESTED = 250
"""The most operations of one expression that lie inside each other. Python goes no deeper than a thousand calls."""
MOST_VALUES = 1024
"""The most numbers of an array that a program holds. Each of them is a statement of the graph."""


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


def makes_whole(node: Elementwise) -> bool:
    """Return whether a node makes whole numbers of reals."""
    match node.operator:
        case "round" | "floor" | "ceil":
            return True
        case "cast":
            return node.kind == "integer" and node.inputs[0].kind == "float"
        case "bit_and" | "bit_or" | "bit_xor" | "shift_right":
            return node.kind == "integer"
        case _:
            return False


def refuse_large_arrays(nodes: Sequence[Node]) -> None:
    """Refuse arrays of more numbers than the graph has statements for."""
    for node in nodes:
        if isinstance(node, Values) and node.size > MOST_VALUES:
            hint = "hand the array in as a parameter of the function, and name the parameter in --keep"
            refuse(f"an array of {node.size} numbers in a program has more than {MOST_VALUES}", node.span, hint)


def refuse_loaded_rate(program: Program) -> None:
    """Refuse a learning rate that hosts load where there is not exactly one, or where another tensor has its name."""
    if not program.steps:
        raise TablaError(
            f"--runtime-rate: '{program.name}' updates no tensor, so it has no learning rate", hint="leave it out"
        )
    first = program.steps[0].rate
    for step in program.steps:
        if step.rate != first:
            raise TablaError(
                f"--runtime-rate: this step has the rate {shown(step.rate)} and the first one has {shown(first)}",
                *([Label(step.span)] if step.span else []),
                hint="give all steps one rate: only one is loaded",
            )
    for node, name in names_of(program).items():
        if name == RATE:
            raise TablaError(
                f"--runtime-rate: '{RATE}' is the name of the learning rate that is loaded",
                *([Label(node.span)] if node.span else []),
                hint="give this value another name",
            )
