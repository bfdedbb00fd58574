"""The bound by circuits that carry work: scalars through which all of a model's update must pass (DESIGN section 4, b).

Let u be a scalar of one sample and v one of the next. Every multiply that depends on u, and that v depends on, issues
between them. Around the circuit go then: the shortest latencies from v to u, the issue of these multiplies on all
lanes and roots, and the latency of the last. Words of a lane reach the root by the tree only, and lanes hear of u by
the bus only, so that lanes have fewer of these cycles than a root; and each word of the model that a lane takes
part in is written and read in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tabla.ir.graph import Graph, Statement
from tabla.templates.template import Template, timing

Count = Callable[[Statement], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """Tensors of which every element depends on something, in its sample and in the next."""

    now: frozenset[str]
    later: frozenset[str]


def busiest_circuit(graph: Graph, template: Template, latencies: Mapping[int, int], multiplies: Count) -> int:
    """Cycles per sample of the circuit with the most latency and work; 0 if no scalar lies on one.

    `latencies`: of each statement, the shortest; `multiplies`: how many a statement takes.
    """
    scalars = [s.target for s in graph.statements if not graph.tensors[s.target].shape and s.target not in _next(graph)]
    longest = 0
    needed = {v: _needed(graph, v) for v in scalars}
    for u in scalars:
        forward = _dependent(graph, u)
        for v in scalars:
            if v not in forward.later:
                continue
            between = _latency(graph, v, u, latencies)
            if between is None:
                continue
            work = sum(
                multiplies(s)
                for s in graph.statements
                if (s.target in forward.now - {u} and s.target in needed[v].later)
                or (s.target in forward.later and s.target in needed[v].now)
            )
            if work:
                longest = max(longest, between + _issue(work, template))
    return longest


def _issue(work: int, template: Template) -> int:
    """Cycles from the first possible issue to the last result of so many multiplies."""
    laws, roots = timing(), max(1, template.roots)
    levels = (template.pes // roots - 1).bit_length()
    up = 1 + levels * laws.tree_level
    away = laws.broadcast + up
    alone = -(-work // roots)
    shared = max(-(-(work + template.pes * away) // (template.pes + roots)), away + laws.result + laws.memory_write + 1)
    return min(alone, shared) - 1 + laws.multiply + laws.accumulate + laws.round


def _next(graph: Graph) -> frozenset[str]:
    return frozenset(graph.updates.values())


def _dependent(graph: Graph, tensor: str) -> _Reach:
    """What depends on `tensor` in every element: in this sample, and through models in the next."""
    now = _spread(graph, {tensor})
    models = {model for model, following in graph.updates.items() if following in now and _whole(graph, following)}
    return _Reach(now=now, later=_spread(graph, models))


def _spread(graph: Graph, known: set[str]) -> frozenset[str]:
    found = set(known)
    for name in dict.fromkeys(s.target for s in graph.statements):
        if all(found.intersection(s.sources) for s in graph.writers(name)):
            found.add(name)
    return frozenset(found)


def _needed(graph: Graph, tensor: str) -> _Reach:
    """What `tensor` depends on, every element of it: in its sample (`now`), and through models in the one before."""
    now = _gathered(graph, {tensor})
    before = {following for model, following in graph.updates.items() if model in now}
    return _Reach(now=now, later=_gathered(graph, before))


def _gathered(graph: Graph, known: set[str]) -> frozenset[str]:
    found = set(known)
    for statement in reversed(graph.statements):
        if statement.target in found:
            found.update(name for name in statement.sources if _reads_whole(graph, statement, name))
    return frozenset(found)


def _reads_whole(graph: Graph, statement: Statement, tensor: str) -> bool:
    """Whether one read of a statement meets every element of a tensor."""
    box = statement.box
    return not statement.constraints and any(
        read.tensor == tensor
        and all(
            subscript.constant == 0
            and len(subscript.names) == 1
            and subscript.coefficient(subscript.names[0]) == 1
            and (box[subscript.names[0]].low, box[subscript.names[0]].high) == (0, extent)
            for subscript, extent in zip(read.subscripts, graph.tensors[tensor].shape, strict=True)
        )
        and len({name for subscript in read.subscripts for name in subscript.names}) == len(read.subscripts)
        for read in statement.reads
    )


def _whole(graph: Graph, tensor: str) -> bool:
    """Whether statements without constraints write every element."""
    written = 0
    for statement in graph.writers(tensor):
        if statement.constraints:
            return False
        points = 1
        for index in statement.indices:
            points *= index.extent
        written += points
    return written >= graph.tensors[tensor].size


def _latency(graph: Graph, v: str, u: str, latencies: Mapping[int, int]) -> int | None:
    """The longest chain of shortest latencies from scalar v to scalar u of the same sample; None without one."""
    reach: dict[str, int] = {v: 0}
    for statement in graph.statements:
        starts = [reach[source] for source in statement.sources if source in reach]
        if starts and statement.target != v:
            done = max(starts) + latencies[statement.id]
            # What several statements write counts with the quickest of them.
            reach[statement.target] = min(done, reach.get(statement.target, done))
    return reach.get(u)
