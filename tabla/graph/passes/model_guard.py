"""Guard bits: models that are stored with more bits than a word has (decision 2, *Models with guard bits*).

Lowering marks the addend of every update as a stored read. This pass says how many guard bits it has.
"""

from __future__ import annotations

from dataclasses import replace

from tabla.base.source import Label, Span, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear, Operand, Read, Statement, Term, is_stored
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import with_operands


@graph_pass("model-guard", "store the models that learn with guard bits, or say that they have none")
def with_model_guard(graph: Graph, guard: int, fmt: Format) -> Graph:
    """Return the graph in which every model with an update has `guard` guard bits; with 0, a graph without marks.

    A graph that has guard bits already, as its file says, stays as it is.

    Raises `TablaError` for a graph that updates no model, and for more bits than the format and the learning rate take.
    """
    if not guard and graph.model_guard:
        return graph
    if not guard:
        return replace(graph, statements=tuple(_unmarked(graph, statement) for statement in graph.statements))
    if not graph.updates:
        raise TablaError(
            f"'{graph.name}' updates no model, so no model takes guard bits", hint="leave --model-guard out"
        )
    updates = [s for s in graph.statements if graph.tensors[s.target].role == "next"]
    _refuse_excess(graph, guard, fmt)
    wide = {*graph.updates, *graph.updates.values()}
    tensors = {name: replace(tensor, guard=guard) if name in wide else tensor for name, tensor in graph.tensors.items()}
    statements = tuple(_widened(s, graph.owner(s.target), guard) if s in updates else s for s in graph.statements)
    return replace(graph, tensors=tensors, statements=statements)


def largest_guard(shift: int, fmt: Format) -> int:
    """Return the most guard bits of a model whose update has a shift: the stored integer must fit 32 bits, the guard a
    word, and the step must not be finer than its products.
    """
    return max(0, min(fmt.width, 32 - fmt.width, fmt.fraction + shift))


def largest_allowed(graph: Graph, fmt: Format) -> int:
    """Return the most guard bits that all models with an update can have; 0 where no model has one."""
    updates = [s.operation for s in graph.statements if graph.tensors[s.target].role == "next"]
    return min((largest_guard(each.shift, fmt) for each in updates if isinstance(each, Linear)), default=0)


def _refuse_excess(graph: Graph, guard: int, fmt: Format) -> None:
    largest = largest_allowed(graph, fmt)
    if guard <= largest:
        return
    model = graph.tensors[next(iter(graph.updates))]
    raise TablaError(
        f"--model-guard {guard}: models in {fmt} take at most {largest} guard bits at this learning rate",
        *([Label(model.span, "learns with them")] if model.span else []),
        hint=f"use --model-guard {largest}" if largest else "leave --model-guard out, or take a narrower format",
    )


def _widened(statement: Statement, model: str, guard: int) -> Statement:
    """Return an update with guard bits. Its addend is marked, unless the graph comes from a text, which has no mark."""
    operation = statement.operation
    terms = operation.terms if isinstance(operation, Linear) else ()
    addends = [term for term in terms if is_stored(term)]
    plain = Read(tensor=model, subscripts=statement.write)
    addends = addends or [term for term in terms if term == Term(factors=(plain,))]
    if not isinstance(operation, Linear) or len(addends) != 1:
        raise TablaError(
            f"the update of '{model}' does not add to its old word, so it takes no guard bits",
            *([Label(statement.span, "updated here")] if statement.span else []),
            hint="leave --model-guard out",
        )
    stored = replace(addends[0], factors=(replace(plain, stored=True, span=_place(addends[0])),))
    terms = tuple(stored if term is addends[0] else term for term in terms)
    return replace(statement, operation=replace(operation, terms=terms, guard=guard))


def _place(term: Term) -> Span | None:
    (factor,) = term.factors
    return factor.span


def _unmarked(graph: Graph, statement: Statement) -> Statement:
    if graph.tensors[statement.target].role != "next":
        return statement
    return replace(statement, operation=with_operands(statement.operation, _plain))


def _plain(operand: Operand) -> Operand:
    return replace(operand, stored=False) if isinstance(operand, Read) else operand
