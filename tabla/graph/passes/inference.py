"""The part of a program that predicts: what is left of a graph without its updates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tabla.base.source import Label, TablaError
from tabla.graph.graph import Graph, Linear, Read, Statement
from tabla.graph.passes.framework import graph_pass
from tabla.graph.prediction import Prediction, default_prediction, named_prediction
from tabla.graph.rewrite import needed_for, with_statements, with_tensors


def without_updates(graph: Graph, wanted: str) -> Graph:
    """Return the part of a graph that computes the tensor `wanted`, without the updates of the models.

    Inputs, labels and models stay, whether they are read or not.
    """
    statements, keep = needed_for((wanted,), graph.statements)
    tensors = {n: t for n, t in graph.tensors.items() if n in keep or t.role in ("input", "label", "model")}
    return with_statements(replace(with_tensors(graph, tensors), updates={}, results=()), statements)


def inference(graph: Graph, prediction: Prediction, results: Iterable[tuple[str, str]] = ()) -> Graph:
    """Return the graph that computes a prediction and nothing else, with the models as words that never change.

    Its first result is the prediction, by its name. `results` are further tensors of `graph` to return, each with the
    name to show. What is not read is not in the graph: not the learning rate, nor models that only learning needs.
    Where the program has no tensor for the prediction, but only its difference from the label, the statement of that
    difference computes the prediction. So a label is in the graph only if the prediction or a result depends on it.
    """
    shown = dict([(prediction.name, prediction.tensor), *results])
    statements, keep = needed_for(shown.values(), [_without_label(s, prediction) for s in graph.statements])
    tensors = {name: tensor for name, tensor in graph.tensors.items() if name in keep}
    part = replace(with_tensors(graph, tensors), updates={}, results=tuple(shown.items()), rate=None)
    return with_statements(part, statements)


def narrow(graph: Graph) -> Graph:
    """Return a graph without guard bits: the word nearest to a wide model is what an accelerator reads (decision 2)."""
    return replace(graph, tensors={name: replace(tensor, guard=0) for name, tensor in graph.tensors.items()})


@graph_pass("inference", "keep what computes the prediction, without the updates of the models")
def predicting(graph: Graph, predict: str | None) -> Graph:
    """Return the graph that computes a prediction: the value named `predict`, or that which is compared with a label.

    Raises `TablaError` if the graph has no such value, and if no value is compared with a label.
    """
    if predict is None:
        return narrow(inference(graph, default_prediction(graph)))
    if predict not in graph.tensors or graph.tensors[predict].role != "value":
        values = ", ".join(name for name, tensor in graph.tensors.items() if tensor.role == "value")
        raise TablaError(f"--predict {predict}: the graph computes no such value", hint=f"there are {values}")
    labels = [tensor.name for tensor in graph.tensors.values() if tensor.role == "label"]
    shown = replace(graph, results=(*graph.results, (predict, predict)))
    return narrow(inference(graph, named_prediction(shown, predict, labels)))


def refuse_labels(graph: Graph) -> None:
    """Raise `TablaError` at a statement that reads a label: nobody has the label when a program predicts."""
    for statement in graph.statements:
        for tensor in statement.sources:
            if graph.tensors[tensor].role == "label":
                name = graph.tensors[statement.target].origin or statement.target
                raise TablaError(
                    f"'{name}' reads the label '{graph.tensors[tensor].origin or tensor}', so it predicts nothing",
                    *((Label(statement.span, "computed here"),) if statement.span else ()),
                    hint="name the value that predicts the label with --predict",
                )


def _without_label(statement: Statement, prediction: Prediction) -> Statement:
    """Return the statement of a difference ``s * (label - p)`` as one that computes p; every other one as it is."""
    match statement.operation:
        case Linear(terms=terms) as linear if prediction.residual and statement.target == prediction.tensor:
            label = next((t for t in terms if _reads_alone(t.factors, prediction)), None)
            if label is None:
                return statement
            others = (t for t in terms if t is not label)
            kept = tuple(replace(t, sign=-prediction.residual * t.sign) for t in others)
            return replace(statement, operation=replace(linear, terms=kept)) if kept else statement
        case _:
            return statement


def _reads_alone(factors: tuple[object, ...], prediction: Prediction) -> bool:
    match factors:
        case (Read(tensor=tensor),):
            return tensor == prediction.label
        case _:
            return False
