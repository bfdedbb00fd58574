"""The bound by circuits that carry work: words through which all of a model's update must pass (DESIGN section 4, b).

Let u be a word of one sample and v one of the next. Every multiply that depends on u, and that v depends on, issues
between them. Around the circuit go then: the shortest latencies from v to u, the issue of these multiplies on all
lanes and roots, and the latency of the last. What lanes make reaches others by the tree only, and lanes hear of others
by the bus only, so that they have fewer of these cycles than a root; and each word of the model that a lane takes
part in is written and read in between.

Of these multiplies some are far from u, some far from v. Any part of them takes, too, the shortest latency from u to
its first, its issue, and the shortest latency from its last to v, as jobs on a machine do that have heads and tails (J.
Carlier, The one-machine sequencing problem, European Journal of Operational Research 11, 1982). A network's layers
wait for each other, and what is done between two of them is such a part.

The words are the first ones of their tensors, and dependences are counted symbolically (:mod:`tabla.schedule.claims`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from tabla.ir.graph import Constant, Graph, Linear, Operand, Read, Statement, Term
from tabla.schedule.claims import Claims, Reach, dependent, largest, needed, pinned_indices
from tabla.schedule.distances import Distances, Times
from tabla.schedule.latencies import Latencies
from tabla.schedule.shares import issue_cycles
from tabla.templates.template import Template, timing

MOST_WORDS = 16
MOST_STATEMENTS = 64
"""Circuits are looked for through so many words, and work on them in so many statements, the heaviest: what is left out
makes the bound no larger, and the time would grow with the third power of the program's length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """So many multiplies of a term, none less than `head` cycles after u, and each at least `tail` before v, by where
    they are done.
    """

    multiplies: int
    head: Times
    tail: Times


def busiest_circuit(graph: Graph, template: Template, latencies: Latencies, binary: frozenset[str]) -> int:
    """Cycles per sample of the circuit with the most latency and work; 0 if there is none.

    `binary`: tensors of which a product is no multiply.
    """
    if any(s.constraints for s in graph.statements) or any(t.filled for t in graph.tensors.values()):
        return 0
    heavy = _heavy(graph, binary)
    following = set(graph.updates.values())
    first = _most(heavy, lambda s: [name for name in s.sources if name not in following and any(graph.writers(name))])
    last = _most(heavy, lambda s: [s.target] if s.target not in following else [])
    statements = [statement for statement, _ in heavy[:MOST_STATEMENTS]]
    distances = Distances(latencies)
    before = {v: needed(graph, v, distances) for v in last}
    chains = {v: dependent(graph, v, distances).own for v in last}
    longest = 0
    for u in first:
        after = dependent(graph, u, distances)
        for v in last:
            if v in after.other and u in chains[v]:
                work = _between(statements, u, after, before[v], distances, binary)
                longest = max(longest, chains[v][u].times.least + _longest(*work, template))
    return longest


def _between(
    statements: Sequence[Statement],
    u: str,
    after: Reach,
    before: Reach,
    distances: Distances,
    binary: frozenset[str],
) -> tuple[list[_Work], list[_Work]]:
    """What depends on u and v depends on: in the sample of u, and in that of v."""

    def shared(statement: Statement, forward: Claims, backward: Claims) -> list[_Work]:
        return _shared(statement, forward, backward, distances, binary)

    here = [work for s in statements if s.target != u for work in shared(s, after.own, before.other)]
    there = [work for s in statements for work in shared(s, after.other, before.own)]
    return here, there


def _heavy(graph: Graph, binary: frozenset[str]) -> list[tuple[Statement, int]]:
    """The statements that multiply, those that do it most often first, each with how often."""
    found = []
    for statement in graph.statements:
        operation = statement.operation
        if isinstance(operation, Linear):
            if terms := multiplied(operation, binary):
                box = [index.extent for index in (*statement.indices, *statement.reduced)]
                found.append((statement, len(terms) * math.prod(box)))
    return sorted(found, key=lambda pair: -pair[1])


def _most(heavy: Sequence[tuple[Statement, int]], words: Callable[[Statement], Iterable[str]]) -> list[str]:
    """Tensors by which work hangs together, of the heaviest statements: the work begins with them or ends in them."""
    return list(dict.fromkeys(name for statement, _ in heavy for name in words(statement)))[:MOST_WORDS]


def _longest(before: Sequence[_Work], after: Sequence[_Work], template: Template) -> int:
    """Cycles from u to v around so much work of u's sample and of v's; negative if there is none."""
    if not before and not after:
        return -1
    issue = _issue([work.multiplies for work in before], [work.multiplies for work in after], template)
    whole = issue - 1 + timing().multiply + timing().accumulate + timing().round
    return max([whole, *(_part(part, template) for part in _parts([*before, *after]))])


def _parts(work: Sequence[_Work]) -> Iterator[list[_Work]]:
    """All that is so far from u, and so far from v, if lanes do it."""
    for head in sorted({each.head.lane for each in work}):
        far = [each for each in work if each.head.lane >= head]
        for tail in sorted({each.tail.lane for each in far}):
            yield [each for each in far if each.tail.lane >= tail]


def _part(work: Sequence[_Work], template: Template) -> int:
    """Cycles from u to v around a part of the work, in whatever order it is done."""
    counts, roots, lanes = [each.multiplies for each in work], max(1, template.roots), template.pes
    head = reduce(Times.sooner, (each.head for each in work))
    tail = reduce(Times.sooner, (each.tail for each in work))
    way = Times(head.root + tail.root, head.lane + tail.lane)
    roots_idle, lanes_idle = way.root - way.least, way.lane - way.least
    shared = issue_cycles(counts, lanes, roots, lanes_idle=lanes_idle, roots_idle=roots_idle)
    issue = min(
        roots_idle - (-sum(counts) // roots),
        lanes_idle - (-sum(counts) // lanes),
        max(shared, roots_idle + 1, lanes_idle + 1),
    )
    return way.least + issue - 1


def _away(template: Template) -> int:
    """Cycles that a word takes from a root to lanes and what they make of it to a root, beside those of operations."""
    laws = timing()
    levels = (template.pes // max(1, template.roots) - 1).bit_length()
    return laws.broadcast + 1 + levels * laws.tree_level


def _issue(before: Sequence[int], after: Sequence[int], template: Template) -> int:
    """Cycles from the first possible issue to the last of so many multiplies of each term, before the model is written
    and after it.
    """
    laws, roots = timing(), max(1, template.roots)
    away = _away(template)
    # None of those after is issued before a word of the model is written, none of those before so late that no word
    # is read again: each kind lacks these cycles, a root's write following an addend that came late.
    written = laws.result + laws.memory_write
    late = laws.late_operand - laws.operand

    def enough(work: Sequence[int], lanes: int, root: int) -> int:
        return issue_cycles(work, template.pes, roots, lanes_idle=lanes, roots_idle=root)

    alone = -(-sum((*before, *after)) // roots)
    shared = max(
        enough((*before, *after), away, 0),
        enough(before, away + written, written - late),
        enough(after, away + written, written - late),
        away + written + 1,
    )
    return min(alone, shared)


# ---- along the circuit


def _shared(
    statement: Statement, forward: Claims, backward: Claims, distances: Distances, binary: frozenset[str]
) -> list[_Work]:
    """By term, a statement's multiplies of which a factor is claimed by `forward`, and what they make by `backward`."""
    if statement.target not in backward or not isinstance(statement.operation, Linear):
        return []
    target = backward[statement.target]
    after = pinned_indices(statement.write, target.pins, statement.box)
    if after is None:
        return []
    tail = distances.multiplied(target.times)
    found = []
    for term in multiplied(statement.operation, binary):
        if (points := _points(statement, term, forward, after)) is not None:
            multiplies, times = points
            found.append(_Work(multiplies=multiplies, head=distances.heard(times), tail=tail))
    return found


def _points(statement: Statement, term: Term, forward: Claims, after: frozenset[str]) -> tuple[int, Times] | None:
    """How many multiplies, and when what they take may be made."""
    claimed = {
        factor.tensor: pinned
        for factor in term.factors
        if isinstance(factor, Read) and factor.tensor in forward
        if (pinned := pinned_indices(factor.subscripts, forward[factor.tensor].pins, statement.box)) is not None
    }
    before = largest(claimed.values())
    if before is None:
        return None
    # A product is made once for all points that differ in indices which it does not mention.
    total = 1
    for name in mentioned(term) - before - after:
        total *= statement.box[name].extent
    return total, reduce(Times.later, (forward[name].times for name, pinned in claimed.items() if pinned == before))


def multiplied(operation: Linear, binary: frozenset[str]) -> list[Term]:
    """The terms that are multiplies: products of two words of which none is easy."""
    return [t for t in operation.terms if len(t.factors) == 2 and not any(easy(f, binary) for f in t.factors)]


def mentioned(term: Term) -> frozenset[str]:
    """The indices that a product depends on."""
    reads = (factor for factor in term.factors if isinstance(factor, Read))
    return frozenset(name for read in reads for subscript in read.subscripts for name in subscript.names)


def easy(operand: Operand, binary: frozenset[str]) -> bool:
    """Whether a product with the operand is no multiply: with 0, 1, -1, or a 0/1 value."""
    match operand:
        case Constant(value=value):
            return abs(value) in (0, 1)
        case Read(tensor=tensor):
            return tensor in binary
        case _:
            return False
