"""All passes in their order: the one place that says when each of them runs.

The groups run one after the other. The passes of `PREPARE` do what the options of a build ask for. All others change no
word of a result or a model. The rules of graphs are checked after each pass, so that a pass that breaks a rule is
named. ``docs/extend/pass.md`` says how to add one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.choose_last import choose_last
from tabla.graph.passes.common_subexpressions import common_subexpressions
from tabla.graph.passes.drop_dead import drop_dead
from tabla.graph.passes.drop_unit_indices import drop_unit_indices
from tabla.graph.passes.fold_constants import fold_constants
from tabla.graph.passes.forward_copies import forward_copies
from tabla.graph.passes.framework import Pass, Setting
from tabla.graph.passes.fuse_comparisons import fuse_comparisons
from tabla.graph.passes.legalise.common_shifts import common_shifts
from tabla.graph.passes.legalise.common_sums import common_sums
from tabla.graph.passes.legalise.flat_gathers import flatten_gathers
from tabla.graph.passes.legalise.index_set_splitting import split_index_sets
from tabla.graph.passes.legalise.materialise import materialise
from tabla.graph.passes.legalise.precompute import precompute
from tabla.graph.passes.legalise.snapshot import snapshot
from tabla.graph.passes.legalise.static_gathers import static_gathers
from tabla.graph.passes.looked_up_rows import looked_up_rows
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.model_guard import with_model_guard
from tabla.graph.passes.multiply_out import multiply_out
from tabla.graph.passes.touched_rows import touched_rows
from tabla.graph.verify import verify

MOST_ROUNDS = 20
"""Each round that changes a graph makes it smaller or simpler. The programs met so far need two or three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Passes that run one after the other: once, or with `repeats` again until a round changes nothing."""

    name: str
    passes: tuple[Pass[...], ...]
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRun:
    """One run of a pass: in which group and round (from 1), the graphs before and after it, and the seconds it took."""

    which: Pass[...]
    group: str
    round: int
    before: Graph
    after: Graph
    seconds: float


PREPARE = Group(name="prepare", passes=(with_model_guard, minibatched))
"""What the options of a build ask for. The graph after these is evaluated to judge the machine."""

SIMPLIFY = Group(
    name="simplify",
    passes=(
        drop_unit_indices,
        fold_constants,
        forward_copies,
        common_subexpressions,
        drop_dead,
        touched_rows,
        looked_up_rows,
    ),
    repeats=True,
)
"""The passes that make every graph smaller or simpler."""

SHAPE = Group(name="shape", passes=(multiply_out, choose_last, fuse_comparisons, drop_dead), repeats=True)
"""The passes that shorten chains of dependences on this machine, some at the price of a statement or two. They run
after `SIMPLIFY` has come to rest."""

LEGALISE = Group(
    name="legalise",
    passes=(
        split_index_sets,
        static_gathers,
        flatten_gathers,
        snapshot,
        precompute,
        common_shifts,
        materialise,
        common_sums,
    ),
)
"""The passes that make of a graph what the machine can run. When all have run, every operand is a read, apart from the
constant 1 as a factor, and no address is computed from more than one table."""


def groups(more: Sequence[Pass[...]] = ()) -> tuple[Group, ...]:
    """Return all groups, with passes of the user's own at the end of `SIMPLIFY`."""
    return PREPARE, replace(SIMPLIFY, passes=(*SIMPLIFY.passes, *more)), SHAPE, LEGALISE


def all_passes() -> tuple[Pass[...], ...]:
    """Return the passes of all groups, each once, in the order in which they run first."""
    return tuple(dict.fromkeys(each for group in groups() for each in group.passes))


def pass_runs(graph: Graph, setting: Setting, group: Group) -> Iterator[PassRun]:
    """Run the passes of a group, and yield each run when it has ended.

    A group that repeats ends with a round that changes nothing, or after `MOST_ROUNDS`. Raises `GraphFault`, which
    names the pass, if a pass breaks a rule of graphs.
    """
    for number in range(1, (MOST_ROUNDS if group.repeats else 1) + 1):
        begin = graph
        for each in group.passes:
            start = perf_counter()
            after = each.run(graph, setting)
            seconds = perf_counter() - start
            yield PassRun(which=each, group=group.name, round=number, before=graph, after=after, seconds=seconds)
            graph = after
        if group.repeats and graph == begin:
            return


def run_group(graph: Graph, setting: Setting, group: Group) -> Graph:
    """Return the graph after the passes of a group."""
    for each in pass_runs(graph, setting, group):
        graph = each.after
    return graph


def run_passes(
    graph: Graph,
    fmt: Format,
    passes: Sequence[Pass[...]] = SIMPLIFY.passes,
    *,
    pes: int | None = None,
    scatters: bool = True,
) -> Graph:
    """Run passes in order, again and again until a round changes nothing, or `MOST_ROUNDS` times.

    Raises `GraphFault` for a graph that breaks a rule before the first pass, and for one that a pass breaks.
    """
    verify(graph)
    setting = Setting(fmt=fmt, pes=pes, scatters=scatters)
    return run_group(graph, setting, replace(SIMPLIFY, passes=tuple(passes)))


def shaped(
    graph: Graph, fmt: Format, more: Sequence[Pass[...]] = (), *, pes: int | None = None, scatters: bool = True
) -> Graph:
    """Return what is compiled: a graph after `SIMPLIFY`, to which `more` is appended, and after `SHAPE`."""
    graph = run_passes(graph, fmt, (*SIMPLIFY.passes, *more), pes=pes, scatters=scatters)
    return run_group(graph, Setting(fmt=fmt, pes=pes), SHAPE)


def legalise(graph: Graph, fmt: Format, *, pes: int | None = None) -> Graph:
    """Return the graph that the machine runs, with the words of its constants.

    Raises `TablaError` for a program that the machine cannot run, and `GraphFault`, which names the pass, if a pass
    breaks a rule of graphs.
    """
    return run_group(graph, Setting(fmt=fmt, pes=pes), LEGALISE)
