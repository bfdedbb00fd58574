"""Which tensors of a program have statements of their own, and which sums are a part of another tensor's statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tabla.graph.boxes import around, volume
from tabla.languages.tile.program import (
    Biased,
    Contraction,
    Elementwise,
    Input,
    Node,
    Number,
    Program,
    Reshape,
    Values,
)
from tabla.languages.tile.region import region_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """How the tensors of a program share statements.

    `sums` has the contraction of each multiple by a constant, and of each sum with a bias, that is the only use of the
    contraction. `inner` are the tensors that such statements compute without a word of their own, and `shown` those
    that somebody sees.
    """

    nodes: Sequence[Node]
    shown: frozenset[Node]
    sums: Mapping[Node, Contraction]
    inner: frozenset[Node]

    @staticmethod
    def of(
        program: Program, nodes: Sequence[Node], asked: Iterable[Node], constants: Mapping[Node, Fraction]
    ) -> Joined:
        """Find the sums of a program. `asked` are tensors that are returned beside the outputs."""
        shown = frozenset({*program.outputs, *asked, *(step.gradient for step in program.steps)})
        if program.predicted is not None:
            shown |= {program.predicted}
        uses = Counter(operand for node in nodes for operand in node.operands)
        alone = {node for node in nodes if uses[node] == 1 and node not in shown}
        sums: dict[Node, Contraction] = {}
        inner: set[Node] = set()
        for node in nodes:
            match node:
                case Biased(inputs=(total, _), kind="float", shape=shape) if total in alone:
                    found = _sum_of(sums.get(total, total), alone)
                    if found is not None and found.shape == shape and _reached(found):
                        inner |= {total, found}
                        sums.pop(total, None)
                        sums[node] = found
                case Elementwise(operator="multiply" | "divide", kind="float") if node not in constants:
                    for total, factor in _multiples(node):
                        found = _sum_of(total, alone)
                        if found is not None and found.shape == node.shape and _scales(constants.get(factor)):
                            inner.add(found)
                            sums[node] = found
        return Joined(nodes=nodes, shown=shown, sums=sums, inner=frozenset(inner))

    def stated(self, *, constants: Container[Node], most_nested: int) -> frozenset[Node]:
        """Return the nodes that statements write: contractions, what they read, results, and values that are used
        twice. So are expressions that are nested deeper than `most_nested`. Of the `constants` only results are.
        """
        uses = Counter(operand for node in self.nodes for operand in node.operands)
        read = {each for node in self.nodes if isinstance(node, Contraction | Reshape) for each in node.operands}
        found: set[Node] = set()
        depths: dict[Node, int] = {}
        for node in self.nodes:
            if isinstance(node, Number | Input) or node in self.inner or (node in constants and node not in self.shown):
                continue
            own = node in self.shown or node in self.sums or isinstance(node, Contraction | Reshape | Values)
            if isinstance(node, Elementwise):
                depths[node] = 1 + max(depths.get(operand, 0) for operand in node.inputs)
                own = own or uses[node] > 1 or node in read or depths[node] > most_nested
            if own:
                found.add(node)
                depths[node] = 0
        return frozenset(found)


def _multiples(node: Elementwise) -> tuple[tuple[Node, Node], ...]:
    """Return the operands of a product in both orders, and those of a quotient in theirs."""
    left, right = node.inputs
    return ((left, right), (right, left)) if node.operator == "multiply" else ((left, right),)


def _scales(value: Fraction | None) -> bool:
    """Return whether a constant that multiplies a sum changes more than its sign."""
    return bool(value) and abs(value or 0) != 1


def _sum_of(node: Node, alone: Container[Node]) -> Contraction | None:
    """Return a node that is a sum of reals and has a single use, or None."""
    match node:
        case Contraction(aggregation="sum", kind="float") if node in alone:
            return node
        case _:
            return None


def _reached(node: Contraction) -> bool:
    """Return whether a statement writes all elements of a box of a contraction."""
    region = region_of(node)
    if region is None:
        return False
    outer = {index.name: index for index in region.indices}
    dense = region.points == volume(around(region.write, outer))
    return dense and not any(outer.keys() >= set(form.names) for form in region.constraints)
