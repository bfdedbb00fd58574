"""Finding the prediction of a program: the value that the program text compares with a label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tabla.base.source import TablaError
from tabla.graph.graph import Compare, Graph, Linear, Operand, Read, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A tensor of the graph that is compared with a label.

    `name` is the name for people. `residual` is 0 if `tensor` is the prediction p itself. It is the sign s, 1 or -1, if
    the graph only has the difference ``s * (label - p)``, and `tensor` is that difference. `margin` is true if the
    program multiplies the prediction by labels of -1 and 1, as a support vector machine does.
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
    """Return the prediction that a statement compares with a label, or None if the statement does no such thing.

    A statement compares a value p with a label y if it computes ``p * y``, ``p - y``, ``y - p``, ``p < y`` or a similar
    comparison.
    """
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
            same = graph.tensors[statement.target].shape == graph.tensors[label.tensor].shape
            if same and statement.operation.test is None:
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
    """Return whether a tensor can be the prediction: it is computed, and it has the shape of the label."""
    tensor = graph.tensors[value]
    return tensor.role == "value" and tensor.shape == graph.tensors[label].shape


def _prediction(graph: Graph, tensor: str, label: str, *, residual: int = 0, margin: bool = False) -> Prediction:
    return Prediction(
        name=_named(graph, tensor), tensor=tensor, label=_named(graph, label), residual=residual, margin=margin
    )


def default_prediction(graph: Graph) -> Prediction:
    """Return the first value that the text compares with a label. A program without one is a `TablaError`."""
    for statement in graph.statements:
        found = _of_statement(graph, statement)
        if found:
            return found
    raise TablaError(
        "no value of the program is compared with a label, so there is nothing to measure",
        hint="name the value that predicts the label with --predict",
    )


def named_prediction(graph: Graph, name: str, labels: Iterable[str]) -> Prediction:
    """Return the prediction that the user names, which must be one of `graph.results`.

    Its label is the first of `labels` that has the same shape. If there is none, that is a `TablaError`.
    """
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
