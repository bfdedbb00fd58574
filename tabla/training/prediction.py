"""Which value of a program is its prediction: the one that its text compares with the label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tabla.ir.graph import Compare, Graph, Linear, Operand, Read, Statement
from tabla.source import TablaError


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A tensor of the graph to hold against a label.

    `name` is what to show. `residual` is 0 when `tensor` is the prediction p itself; the sign s when the program
    has only the difference ``s * (label - p)`` under that name. `margin`: it multiplies labels of -1 and 1.
    """

    name: str
    tensor: str
    label: str
    residual: int = 0
    margin: bool = False


def _named(graph: Graph, tensor: str) -> str:
    return graph.tensors[tensor].origin or tensor


def _reads(operand: Operand, role_of: Graph, *, label: bool) -> Read | None:
    if isinstance(operand, Read) and (role_of.tensors[operand.tensor].role == "label") is label:
        return operand
    return None


def _of_statement(graph: Graph, statement: Statement) -> Prediction | None:
    """The prediction that a statement holds against a label, if that is what it does."""
    match statement.operation:
        case Linear(terms=terms):
            for term in terms:
                if len(term.factors) == 2:
                    for a, b in (term.factors, term.factors[::-1]):
                        label, value = _reads(a, graph, label=True), _reads(b, graph, label=False)
                        if label and value and _fits(graph, value.tensor, label.tensor):
                            return _prediction(graph, value.tensor, label.tensor, margin=True)
            single = [t for t in terms if len(t.factors) == 1]
            plain = [(t, label) for t in single if (label := _reads(t.factors[0], graph, label=True))]
            if len(plain) != 1:
                return None
            (term, label) = plain[0]
            if len(terms) == 2:
                other = next(t for t in terms if t is not term)
                value = _reads(other.factors[0], graph, label=False)
                if (
                    value
                    and len(other.factors) == 1
                    and not other.reduce
                    and other.sign == -term.sign
                    and _fits(graph, value.tensor, label.tensor)
                ):
                    return _prediction(graph, value.tensor, label.tensor)
            if graph.tensors[statement.target].shape == graph.tensors[label.tensor].shape:
                return _prediction(graph, statement.target, label.tensor, residual=term.sign)
        case Compare(left=left, right=right):
            for a, b in ((left, right), (right, left)):
                label, value = _reads(a, graph, label=True), _reads(b, graph, label=False)
                if label and value and _fits(graph, value.tensor, label.tensor):
                    return _prediction(graph, value.tensor, label.tensor)
        case _:
            pass
    return None


def _fits(graph: Graph, value: str, label: str) -> bool:
    """Only a computed value of the label's shape can be the prediction, not an input or a weight."""
    tensor = graph.tensors[value]
    return tensor.role == "value" and tensor.shape == graph.tensors[label].shape


def _prediction(graph: Graph, tensor: str, label: str, *, residual: int = 0, margin: bool = False) -> Prediction:
    return Prediction(
        name=_named(graph, tensor), tensor=tensor, label=_named(graph, label), residual=residual, margin=margin
    )


def default_prediction(graph: Graph) -> Prediction:
    """The first comparison of a value with a label in the text; `TablaError` when there is none."""
    for statement in graph.statements:
        found = _of_statement(graph, statement)
        if found:
            return found
    raise TablaError(
        "no value of the program is compared with a label, so there is nothing to measure",
        hint="name the value that predicts the label with --predict",
    )


def named_prediction(graph: Graph, name: str, labels: Iterable[str]) -> Prediction:
    """The prediction that the user names; `graph.results` must have it. Its label is the one of the same shape."""
    tensor = next(t for shown, t in graph.results if shown == name)
    shape = graph.tensors[tensor].shape
    fitting = [label for label in labels if graph.tensors[label].shape == shape]
    if not fitting:
        raise TablaError(
            f"'{name}' has shape {shape}, and no label of that shape is read by the program",
            hint="name a value of the label's shape with --predict",
        )
    try:
        found = default_prediction(graph)
        if found.tensor == tensor:
            return found
    except TablaError:
        pass
    return Prediction(name=name, tensor=tensor, label=fitting[0])
