"""What a prediction needs of a program that learns: the results with the models held, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from tabla.graph.graph import Graph
from tabla.graph.rewrite import needed_for


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedPart:
    """The part of a graph that its results are computed from.

    `statements` has the numbers of the statements, and `tensors` the names of all tensors that these statements and the
    results read.
    """

    statements: frozenset[int]
    tensors: frozenset[str]

    @staticmethod
    def of(graph: Graph) -> PredictedPart | None:
        """Return the prediction of a graph, or None if the graph has none.

        A graph has a prediction if it updates models and returns results, none of which depends on a next value.
        """
        found = PredictedPart.needed(graph)
        if not graph.updates or not graph.results or found.tensors.intersection(graph.updates.values()):
            return None
        return found

    @staticmethod
    def needed(graph: Graph) -> PredictedPart:
        """Return what the results of a graph are computed from, whether it learns or not."""
        statements, tensors = needed_for((tensor for _, tensor in graph.results), graph.statements)
        return PredictedPart(statements=frozenset(statement.id for statement in statements), tensors=tensors)

    def ignored(self, graph: Graph) -> tuple[str, ...]:
        """Return the inputs and labels of a graph of which no result depends, in the order of the graph."""
        streamed = (tensor for tensor in graph.tensors.values() if tensor.role in ("input", "label"))
        return tuple(tensor.name for tensor in streamed if tensor.name not in self.tensors)
