"""A mapping: where each tensor of a legal graph lies in the array, and how each statement is computed."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass, field

from tabla.graph.graph import Affine, Function, Graph, Read, Statement
from tabla.schedule.mapping.fit import Fit
from tabla.schedule.mapping.places import Spot
from tabla.templates.template import Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """One way to compute a legal graph on one array.

    `graph` is the graph that every tap group runs, with the words of its constants: the whole program's, or the part
    of one group where the program is cut between groups. `template` is the array, its number of roots and sequencers
    chosen. `fits` has the way of each statement, by number. `homes` has the spot where each computed tensor and each
    model with an update lies, and `copies` lists the further spots that each sample, or the load, copies a tensor to.
    `estimate` is the search's estimate of the cycles of a sample, in cycles.

    `kept` are those of the copies that are never copied: they are copies of models, loaded with them, and the root's
    update of such a model writes each new word there too.

    With `waves`, the list scheduler takes the parts of several statements in turns, so that a part of one statement
    comes before a later part of the statement before it.

    Two mappings are equal if they compute the same way; the graph, the array and the estimate are not compared.
    """

    graph: Graph = field(compare=False, repr=False)
    template: Template = field(compare=False, repr=False)
    fits: tuple[Fit, ...]
    homes: Map[str, Spot]
    copies: tuple[tuple[str, Spot], ...]
    estimate: float = field(compare=False)
    waves: bool = False
    kept: tuple[tuple[str, Spot], ...] = ()

    @property
    def updated(self) -> frozenset[tuple[str, Spot]]:
        """The models with an update, each with every spot where a sample leaves its next value."""
        return frozenset((model, self.homes[model]) for model in self.graph.updates) | frozenset(self.kept)

    def text(self) -> str:
        """Return where tensors lie and how statements are computed, for people and golden tests."""
        lines = [f"mapping {self.graph.name}: {self.template.pes} PEs, {max(1, self.template.roots)} roots"]
        for tensor, spot in sorted(self.homes.items()):
            lines.append(f"{tensor} at home at {spot}")
        for tensor, spot in self.copies:
            lines.append(f"{tensor} {'kept' if (tensor, spot) in self.kept else 'copied to'} {spot}")
        lines += [
            f"s{statement.id} {statement.target}: {fit.text()}"
            for statement, fit in zip(self.graph.statements, self.fits, strict=True)
        ]
        return "\n".join(lines) + "\n"


def static_tensors(graph: Graph) -> frozenset[str]:
    """Find the tensors that no sample changes: constants, and models without an update."""
    return frozenset(
        t.name
        for t in graph.tensors.values()
        if t.role == "constant" or (t.role == "model" and t.name not in graph.updates)
    )


def operands_of_functions(graph: Graph) -> frozenset[str]:
    """Find the tensors whose words are operands of functions."""
    functions = (s.operation for s in graph.statements if isinstance(s.operation, Function))
    return frozenset(f.operand.tensor for f in functions if isinstance(f.operand, Read))


def word_by_word(subscripts: tuple[Affine, ...], statement: Statement, shape: tuple[int, ...]) -> bool:
    """Say whether subscripts are those of all words of a shape, with an index of the statement for each axis.

    An axis of a single element needs no index.
    """
    axes = [axis for axis in zip(subscripts, shape, strict=True) if axis != (Affine(), 1)]
    names = [subscript.names[0] if len(subscript.names) == 1 else "" for subscript, _ in axes]
    return sorted(names) == sorted(index.name for index in statement.indices) and all(
        subscript == Affine.index(name) and statement.box[name].extent == extent
        for (subscript, extent), name in zip(axes, names, strict=True)
    )
