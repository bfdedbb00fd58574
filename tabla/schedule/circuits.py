"""The bound by circuits that carry work: words through which all of a model's update must pass (DESIGN section 4, b).

Let u be a word of one sample and v one of the next. Every multiply that depends on u, and that v depends on, issues
between them. Around the circuit go then: the shortest latencies from v to u, the issue of these multiplies on all
lanes and roots, and the latency of the last. What lanes make reaches others by the tree only, and lanes hear of others
by the bus only, so that they have fewer of these cycles than a root; and each word of the model that a lane takes
part in is written and read in between.

The words are the first ones of their tensors, and dependences are counted symbolically: of each tensor a set of
*pinned* axes, along which only the first element is claimed; along the others every element is. A claim is never too
large.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tabla.ir.constraints import points
from tabla.ir.graph import Affine, Constant, Graph, Index, Linear, Operand, Read, Statement, Term
from tabla.schedule.latencies import Latencies
from tabla.schedule.shares import issue_cycles
from tabla.templates.template import Template, timing

Pins = frozenset[int]
Claims = Mapping[str, Pins]
MOST_WORDS = 16
MOST_STATEMENTS = 64
"""Circuits are looked for through so many words, and work on them in so many statements, the heaviest: what is left out
makes the bound no larger, and the time would grow with the third power of the program's length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """What is claimed of tensors, in a word's own sample and, through models, in the one beside it."""

    own: Claims
    other: Claims


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
    longest = 0
    needed = {v: _needed(graph, v) for v in last}
    chains = {v: _chains(graph, v, latencies) for v in last}
    for u in first:
        forward = _dependent(graph, u)
        for v in last:
            between = chains[v].get(u)
            if v not in forward.other or between is None:
                continue
            before = [n for s in statements if s.target != u for n in _shared(s, forward.own, needed[v].other, binary)]
            after = [n for s in statements for n in _shared(s, forward.other, needed[v].own, binary)]
            if before or after:
                longest = max(longest, between + _issue(before, after, template))
    return longest


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


def _issue(before: Sequence[int], after: Sequence[int], template: Template) -> int:
    """Cycles from the first possible issue to the last result of so many multiplies of each term, before the model is
    written and after it.
    """
    laws, roots = timing(), max(1, template.roots)
    levels = (template.pes // roots - 1).bit_length()
    up = 1 + levels * laws.tree_level
    away = laws.broadcast + up
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
    return min(alone, shared) - 1 + laws.multiply + laws.accumulate + laws.round


# ---- claims


def _plain(subscript: Affine, box: Mapping[str, Index]) -> str:
    """The index that a subscript is, if it begins at 0; empty otherwise."""
    if subscript.constant or len(subscript.coefficients) != 1:
        return ""
    name, factor = subscript.coefficients[0]
    return name if factor == 1 and box[name].low == 0 else ""


def _pinned(subscripts: tuple[Affine, ...], pins: Pins, box: Mapping[str, Index]) -> frozenset[str] | None:
    """The indices that stand at 0 where the pinned axes do; None if that cannot be said."""
    names = [_plain(subscripts[axis], box) for axis in sorted(pins)]
    return None if "" in names else frozenset(names)


def _first(claims: Iterable[frozenset[str]]) -> frozenset[str] | None:
    """The largest claim."""
    return min(claims, key=_size, default=None)


def _size(pinned: frozenset[str]) -> tuple[int, list[str]]:
    """Smaller for a larger claim; ties by name."""
    return len(pinned), sorted(pinned)


def _sources(statement: Statement, claims: Claims) -> dict[str, frozenset[str]]:
    """For each tensor that a statement reads and that is claimed: the pinned indices of the points that read it so."""
    found: dict[str, frozenset[str]] = {}
    for read in statement.reads:
        if read.tensor in claims:
            pinned = _pinned(read.subscripts, claims[read.tensor], statement.box)
            if pinned is not None:
                found[read.tensor] = min(pinned, found.get(read.tensor, pinned), key=_size)
    return found


def _written(statement: Statement, pinned: frozenset[str]) -> Pins | None:
    """The pinned axes of what points write; None if that cannot be said."""
    axes = [axis for axis, subscript in enumerate(statement.write) if pinned.intersection(subscript.names)]
    fine = all(_plain(statement.write[axis], statement.box) for axis in axes)
    return frozenset(axes) if fine else None


def _dependent(graph: Graph, tensor: str) -> _Reach:
    """What depends on the first word of `tensor`: in its sample, and through models in the next."""
    own = _spread(graph, {tensor: frozenset(range(len(graph.tensors[tensor].shape)))})
    models = {
        model: own[following]
        for model, following in graph.updates.items()
        if following in own and whole(graph, following)
    }
    return _Reach(own=own, other=_spread(graph, models))


def _spread(graph: Graph, known: Claims) -> Claims:
    found = dict(known)
    for name in dict.fromkeys(s.target for s in graph.statements):
        if name in known:
            continue
        union: set[int] = set()
        for statement in graph.writers(name):
            pinned = _first(_sources(statement, found).values())
            axes = None if pinned is None else _written(statement, pinned)
            if axes is None:
                break
            union |= axes
        else:
            found[name] = frozenset(union)
    return found


def _needed(graph: Graph, tensor: str) -> _Reach:
    """What the first word of `tensor` depends on: in its sample, and through models in the one before."""
    own = _gathered(graph, {tensor: frozenset(range(len(graph.tensors[tensor].shape)))})
    before = {following: own[model] for model, following in graph.updates.items() if model in own}
    return _Reach(own=own, other=_gathered(graph, before))


def _gathered(graph: Graph, known: Claims) -> Claims:
    found = dict(known)
    for statement in reversed(graph.statements):
        if statement.target not in found:
            continue
        pinned = _pinned(statement.write, found[statement.target], statement.box)
        if pinned is None:
            continue
        for read in statement.reads:
            pins = _read(statement, read, pinned, graph)
            if pins is not None and len(pins) < len(found.get(read.tensor, (*read.subscripts, 0))):
                found[read.tensor] = pins
    return found


def _read(statement: Statement, read: Read, pinned: frozenset[str], graph: Graph) -> Pins | None:
    """The pinned axes of the elements that a read meets; None if along some axis it is not the first, or all."""
    box, pins, seen = statement.box, set(), set()
    for axis, (subscript, extent) in enumerate(zip(read.subscripts, graph.tensors[read.tensor].shape, strict=True)):
        if subscript == Affine():
            pins.add(axis)
            continue
        name = _plain(subscript, box)
        if not name or name in seen:
            return None
        seen.add(name)
        if name in pinned:
            pins.add(axis)
        elif box[name].high != extent:
            return None
    return frozenset(pins)


def whole(graph: Graph, tensor: str) -> bool:
    """Whether its statements write every element."""
    written = sum(points(s, [index.name for index in s.indices]) for s in graph.writers(tensor))
    return written >= graph.tensors[tensor].size


# ---- along the circuit


def _shared(statement: Statement, forward: Claims, backward: Claims, binary: frozenset[str]) -> list[int]:
    """By term, a statement's multiplies of which a factor is claimed by `forward`, and what they make by `backward`."""
    if statement.target not in backward or not isinstance(statement.operation, Linear):
        return []
    after = _pinned(statement.write, backward[statement.target], statement.box)
    if after is None:
        return []
    found = [_points(statement, term, forward, after) for term in multiplied(statement.operation, binary)]
    return [n for n in found if n]


def _points(statement: Statement, term: Term, forward: Claims, after: frozenset[str]) -> int:
    before = _first(
        pinned
        for factor in term.factors
        if isinstance(factor, Read) and factor.tensor in forward
        if (pinned := _pinned(factor.subscripts, forward[factor.tensor], statement.box)) is not None
    )
    if before is None:
        return 0
    # A product is made once for all points that differ in indices which it does not mention.
    total = 1
    for name in mentioned(term) - before - after:
        total *= statement.box[name].extent
    return total


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


def _chains(graph: Graph, v: str, latencies: Latencies) -> dict[str, int]:
    """For each tensor: the longest chain of shortest latencies from the first word of v to its first in one sample."""
    claims = _spread(graph, {v: frozenset(range(len(graph.tensors[v].shape)))})
    reach: dict[str, int] = {v: 0}
    for statement in graph.statements:
        target = statement.target
        if target not in claims or target == v:
            continue
        sources = _sources(statement, claims)
        largest = _first(sources.values())
        if largest is None:
            continue
        after = latencies.after(statement, largest)
        starts = [reach[name] + after[name] for name, pinned in sources.items() if name in reach and pinned == largest]
        if starts:
            # What several statements write counts with the quickest of them.
            done = max(starts)
            reach[target] = min(done, reach.get(target, done))
    return reach
