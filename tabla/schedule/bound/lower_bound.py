"""A lower bound on the cycles of a sample, from the graph, the template and the number format alone.

The bound is the largest of four terms, each of which no schedule of any mapping can beat:

``multiplies``
    cycles that the multipliers of all lanes and roots need (:mod:`tabla.schedule.bound.shares`);
``path``
    cycles around a circuit of dependences through a model, from a word of one sample to the same word of the next
    sample, with the work that must lie on the circuit (:mod:`tabla.schedule.bound.circuits`);
``stream``
    beats in, or words out, whichever are more (:mod:`tabla.schedule.bound.stream`);
``functions``
    evaluations of all functions, over the function units of all roots. A root issues one operation in a cycle, and its
    function unit takes the result of that operation alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tabla.base.html import block, paragraph, table
from tabla.graph.accesses import is_written_whole
from tabla.graph.format import Format
from tabla.graph.graph import Divide, Function, Graph
from tabla.graph.independent import independent
from tabla.graph.operations import zero_or_one
from tabla.graph.work import multiplicity, work_by_term
from tabla.schedule.bound import stream
from tabla.schedule.bound.best_choice import Circuit, busiest_circuit
from tabla.schedule.bound.latencies import Latencies
from tabla.schedule.bound.scatters import without_scatters
from tabla.schedule.bound.shares import Shares
from tabla.templates.template import Template, timing


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Bound:
    """A lower bound on the cycles of a sample in the steady state; with minibatches, of a step.

    `terms` gives the cycles of each term by name, 1 at the least. `circuit` says what makes the term ``path``.
    """

    terms: Mapping[str, int]
    circuit: Circuit = field(compare=False, repr=False)

    @property
    def cycles(self) -> int:
        """The largest term: no schedule takes fewer cycles."""
        return max(self.terms.values())

    def __repr__(self) -> str:
        return f"<Bound {self.cycles} cycles, set by {self.binding}>"

    def _repr_html_(self) -> str:
        terms = sorted(self.terms.items(), key=lambda term: -term[1])
        told = f"No schedule takes fewer than {self.cycles} cycles, because of the term {self.binding}."
        return block(paragraph(told), table(terms, head=("term", "cycles")))

    @property
    def binding(self) -> str:
        """The name of the largest term; of equal ones the first in the alphabet."""
        return max(sorted(self.terms), key=lambda name: self.terms[name])


def quick(graph: Graph, template: Template, format: Format) -> Bound:
    """Return the bound that asks nothing about the ways in which statements are computed. It takes milliseconds.

    An array whose number of roots or sequencers is left open (0) counts as an array with one.
    """
    return _bound(graph, template, format, choosing=False)


def full(graph: Graph, template: Template, format: Format) -> Bound:
    """Return the bound of the best choice of ways, which is never below :func:`quick`. It may take seconds.

    An array whose number of roots or sequencers is left open (0) counts as an array with one.
    """
    return _bound(graph, template, format, choosing=True)


def _bound(graph: Graph, template: Template, format: Format, *, choosing: bool) -> Bound:
    graph, latencies = without_scatters(graph), Latencies(template, format)
    circuit = busiest_circuit(graph, template, latencies, zero_or_one(graph), choosing=choosing)
    functions = sum(evaluations(graph).values())
    plain, model = plain_path(graph, latencies)
    if plain > circuit.cycles:
        circuit = Circuit(cycles=plain, kind="chain", words=(model,))
    return Bound(
        terms={
            "multiplies": max(1, Shares.of(graph, work_by_term(graph), template).cycles()),
            "path": max(1, plain, circuit.cycles),
            "stream": max(1, stream.beats(graph, template, format), stream.beats_out(graph, template)),
            "functions": max(1, -(-functions // max(1, template.roots))),
        },
        circuit=circuit,
    )


def evaluations(graph: Graph) -> dict[str, int]:
    """How often a sample evaluates each function, by its name."""
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


def plain_path(graph: Graph, latencies: Latencies) -> tuple[int, str]:
    """Return the cycles of the longest circuit by latencies alone, and its model: read, a chain of statements, write.

    A tensor that several statements write counts with the quickest of them, and a model only if its updates
    cover all of it: then every word that a sample reads was updated along the circuit by the sample before.

    Every element of what a statement writes must depend on an element of what it reads. A statement with constraints
    may sum over no point at all for some elements, and a tensor that is filled has elements that no statement writes.
    So neither continues a circuit.
    """
    laws, longest = timing(), (0, "")
    for model, following in graph.updates.items():
        if not is_written_whole(graph, following):
            continue
        reach: dict[str, int] = {model: laws.memory_read}
        shortest: dict[str, int] = {}
        for statement in graph.statements:
            after = latencies.after(statement)
            # 0: does not depend on the model.
            done = max([0, *(reach[t] + cycles for t, cycles in after.items() if reach.get(t, 0))])
            if statement.constraints or graph.tensors[statement.target].filled:
                done = 0
            done = min(done, shortest.get(statement.target, done))
            shortest[statement.target] = reach[statement.target] = done
        if reach.get(following, 0):
            longest = max(longest, (reach[following] + laws.memory_write, model))
    return longest
