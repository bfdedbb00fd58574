"""A true lower bound on cycles per sample, from graph and template alone (DESIGN section 4).

Terms: ``multiplies``: multiplies over all multipliers, the roots' included, where a term of a statement is all the
lanes' or all the roots' work (:mod:`tabla.bound.shares`). ``path``: for every circuit of dependences through a
model, the shortest ways along it and the issue of the work that must lie on it, for the best choice of how statements
are computed (:mod:`tabla.bound.circuits`). ``stream``: beats in, and words out. ``functions``: evaluations over the
units.
"""

from __future__ import annotations

from collections.abc import Mapping as Map

from tabla.bound.best_choice import busiest_circuit
from tabla.bound.claims import whole
from tabla.bound.latencies import Latencies
from tabla.bound.shares import Shares
from tabla.ir.format import Format
from tabla.ir.graph import (
    Divide,
    Function,
    Graph,
)
from tabla.ir.independent import independent
from tabla.ir.work import binary_tensors, multiplicity, work_by_term
from tabla.templates.template import Template, timing


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
        "multiplies": max(1, Shares.of(graph, work_by_term(graph), template).cycles()),
        "path": _path(graph, template, format),
        "stream": max(1, beats, outputs),
        "functions": max([1, *(-(-n // max(1, template.roots)) for n in _evaluations(graph).values())]),
    }
