"""A true lower bound on cycles per sample, from graph and template alone (DESIGN section 4).

Terms: ``multiplies``: multiplies over all multipliers, the roots' included, where a term of a statement is all the
lanes' or all the roots' work (:mod:`tabla.schedule.shares`). ``path``: for every circuit of dependences through a
model, the shortest ways along it and the issue of the work that must lie on it, for the best choice of how statements
are computed (:mod:`tabla.schedule.circuits`). ``stream``: beats in, and words out. ``functions``: evaluations over the
units.
"""

from __future__ import annotations

from collections.abc import Mapping as Map

from tabla.ir.constraints import points
from tabla.ir.format import Format
from tabla.ir.graph import (
    Compare,
    Divide,
    Function,
    Graph,
    Linear,
    Operation,
    Product,
    Statement,
    Term,
)
from tabla.ir.independent import independent
from tabla.ir.running import running
from tabla.schedule.best_choice import busiest_circuit
from tabla.schedule.claims import whole
from tabla.schedule.latencies import Latencies, multiplicity
from tabla.schedule.products import mentioned, multiplied
from tabla.schedule.shares import Shares
from tabla.templates.template import Template, timing


def binary_tensors(graph: Graph) -> frozenset[str]:
    """Tensors that hold only 0 and 1: a product with one is a choice, not a multiply."""
    writers: dict[str, list[Statement]] = {}
    for statement in graph.statements:
        writers.setdefault(statement.target, []).append(statement)
    return frozenset(t for t, ss in writers.items() if all(_tests(s.operation) for s in ss))


def _tests(operation: Operation) -> bool:
    return isinstance(operation, Compare) or (isinstance(operation, Linear) and operation.test is not None)


def multiplies(graph: Graph, format: Format) -> int:
    """Multiplies per sample: products of two words of which none is 0, 1 or -1, nor a 0/1 value.

    What depends on indices alone is known before.
    """
    return sum(n for _, _, n in _work(graph))


def _work(graph: Graph) -> list[tuple[Statement, Term | None, int]]:
    """Multiplies per sample of every statement, by term where there are terms."""
    binary, before = binary_tensors(graph), independent(graph)
    return [
        (statement, term, n)
        for statement in graph.statements
        if statement.id not in before
        for term, n in _multiplies(statement, binary)
    ]


def _multiplies(statement: Statement, binary: frozenset[str]) -> list[tuple[Term | None, int]]:
    outs = frozenset(i.name for i in statement.indices)
    match statement.operation:
        case Linear() as linear:
            products = multiplied(linear, binary)
            if running(statement) is not None:
                # Each product is made once, for the first output that takes it, and stays in the accumulator.
                return [(None, points(statement, mentioned(term), term.reduce)) for term in products]
            return [(term, multiplicity(statement, outs | frozenset(term.reduce))) for term in products]
        case Product(reduce=reduce):
            if (found := running(statement)) is not None:
                outs -= {found.index.name}
            # The first step multiplies by one.
            ones = 0 if statement.operation.initial is not None else multiplicity(statement, outs)
            return [(None, multiplicity(statement, outs | frozenset(reduce)) - ones)]
        case _:
            return []


def _evaluations(graph: Graph) -> dict[str, int]:
    found: dict[str, int] = {}
    before = independent(graph)
    for statement in graph.statements:
        if statement.id in before:
            continue
        outs = frozenset(i.name for i in statement.indices)
        match statement.operation:
            case Function(name=name):
                found[name] = found.get(name, 0) + multiplicity(statement, outs)
            case Divide(unit=unit):
                found[unit] = found.get(unit, 0) + multiplicity(statement, outs)
            case _:
                pass
    return found


def _path(graph: Graph, template: Template, format: Format) -> int:
    """The longest circuit through a model: read, the chain of statements, write.

    A tensor that several statements write counts with the quickest of them, and a model only if its updates
    cover all of it: then every word that a sample reads was updated along the circuit by the sample before.
    """
    laws = timing()
    longest = 1
    latencies = Latencies(template, format)
    for model, following in graph.updates.items():
        if not whole(graph, following):
            continue
        reach: dict[str, int] = {model: laws.memory_read}
        shortest: dict[str, int] = {}
        for statement in graph.statements:
            after = latencies.after(statement)
            # 0: does not depend on the model.
            done = max([0, *(reach[t] + cycles for t, cycles in after.items() if reach.get(t, 0))])
            done = min(done, shortest.get(statement.target, done))
            shortest[statement.target] = reach[statement.target] = done
        if reach.get(following, 0):
            longest = max(longest, reach[following] + laws.memory_write)
    return max(longest, busiest_circuit(graph, template, latencies, binary_tensors(graph)))


def bound_terms(graph: Graph, template: Template, format: Format, *, beats: int, outputs: int) -> Map[str, int]:
    """The terms, each at least 1. `beats` is the fewest beats in which a sample can arrive."""
    return {
        "multiplies": max(1, Shares.of(graph, _work(graph), template).cycles()),
        "path": _path(graph, template, format),
        "stream": max(1, beats, outputs),
        "functions": max([1, *(-(-n // max(1, template.roots)) for n in _evaluations(graph).values())]),
    }
