"""Minibatches: a graph that takes several samples in one step sums their gradients before it applies them.

Every tensor that depends on a sample gets a leading axis of B samples. An update sums its step over that axis exactly
and rounds once. `mu` stays the rate of one sample.

Arrays of samples ``(samples, ...)`` become arrays of steps ``(steps, B, ...)`` for such a graph, and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from tabla.base.source import Label, TablaError
from tabla.graph.graph import Affine, Gather, Graph, Index, Linear, Operand, Read, Statement, Term
from tabla.graph.passes.framework import Condition, graph_pass
from tabla.graph.rewrite import with_operands

# No name of a program has a dot.
INDEX = "sample."
_GIVEN = ("input", "label")


@graph_pass(
    "minibatch",
    "let a step take several samples, and sum their gradients before the models change",
    condition=Condition(text="a step has more than one sample", holds=lambda samples: samples > 1),
)
def minibatched(graph: Graph, samples: int) -> Graph:
    """Return the graph of one step over `samples` samples. With one sample it is `graph` itself.

    Inputs, labels, results and all that depends on them have the shapes ``(samples, ...)``; models keep theirs.

    Raises `TablaError` for a graph whose step has several samples already.
    """
    if graph.samples > 1:
        raise TablaError(f"'{graph.name}' takes {graph.samples} samples a step already", hint="leave the minibatch out")
    index = Index(name=INDEX, low=0, high=samples)
    each = _of_each_sample(graph)
    tensors = {n: replace(t, shape=(samples, *t.shape)) if n in each else t for n, t in graph.tensors.items()}
    model_of = {following: model for model, following in graph.updates.items()}
    statements = tuple(_statement(s, index, each, model_of.get(s.target)) for s in graph.statements)
    return replace(graph, tensors=tensors, statements=statements, samples=samples)


def as_steps(arrays: Mapping[str, NDArray[Any]], samples: int) -> dict[str, NDArray[Any]]:
    """Return arrays of samples as a graph with so many `samples` a step takes them.

    The only sample of a step has no axis of its own.
    """
    return {n: a.reshape(-1, samples, *a.shape[1:]) for n, a in arrays.items()} if samples > 1 else dict(arrays)


def as_samples(arrays: Mapping[str, NDArray[Any]], samples: int) -> dict[str, NDArray[Any]]:
    """Undo `as_steps`."""
    return {n: a.reshape(-1, *a.shape[2:]) for n, a in arrays.items()} if samples > 1 else dict(arrays)


def _of_each_sample(graph: Graph) -> frozenset[str]:
    """Return the tensors that differ from sample to sample. Results always count, so that each sample has its own."""
    each = {name for name, tensor in graph.tensors.items() if tensor.role in _GIVEN}
    each.update(tensor for _, tensor in graph.results)
    for statement in graph.statements:
        if graph.tensors[statement.target].role != "next" and any(tensor in each for tensor in statement.sources):
            each.add(statement.target)
    return frozenset(each)


def _statement(statement: Statement, index: Index, each: frozenset[str], model: str | None) -> Statement:
    moved = replace(statement, operation=with_operands(statement.operation, lambda operand: _operand(operand, each)))
    if isinstance(moved.operation, Gather) and moved.operation.tensor in each:
        own = (Affine.index(index.name), *moved.operation.subscripts)
        moved = replace(moved, operation=replace(moved.operation, subscripts=own))
    if model is not None:
        return _summed(moved, model, index)
    if statement.target not in each:
        return statement
    write = (Affine.index(index.name), *statement.write)
    return replace(moved, write=write, indices=(index, *statement.indices))


def _operand(operand: Operand, each: frozenset[str]) -> Operand:
    match operand:
        case Read(tensor=tensor, subscripts=subscripts) if tensor in each:
            return replace(operand, subscripts=(Affine.index(INDEX), *subscripts))
        case _:
            return operand


def _summed(statement: Statement, model: str, index: Index) -> Statement:
    """Return an update in which the old word stays as it is and the step is summed over the samples."""
    match statement.operation:
        case Linear(terms=(Term(factors=(Read(tensor=name, subscripts=place),)) as old, *steps)) as linear if (
            name == model and place == statement.write and not old.reduce
        ):
            summed: list[Term] = [replace(step, reduce=(index.name, *step.reduce)) for step in steps]
            operation = replace(linear, terms=(old, *summed))
            return replace(statement, operation=operation, reduced=(index, *statement.reduced))
        case _:
            raise TablaError(
                f"the update of '{model}' does not begin with its old word, so samples cannot share it",
                *([Label(statement.span, "updated here")] if statement.span else []),
                hint="write it as the old word and the step: w[i] - g[i]",
            )
