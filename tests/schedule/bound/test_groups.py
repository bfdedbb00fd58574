"""How groups share a program: what follows from where they have the words of models, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.learning.problems import Problem
from tabla.driver import build
from tabla.graph.graph import Graph
from tabla.graph.operations import zero_or_one
from tabla.schedule.bound.best_choice import busiest_circuit
from tabla.schedule.bound.choice import APART, UNDIVIDED, Choice
from tabla.schedule.bound.circuits import Circuits, overwritten
from tabla.schedule.bound.claims import Claim, all_of
from tabla.schedule.bound.dependents import dependent
from tabla.schedule.bound.distances import NEVER, Distances, Times
from tabla.schedule.bound.groups import ASIDE, CARRIED, WHOLE, Groups
from tabla.schedule.bound.latencies import Latencies
from tabla.schedule.bound.products import Turns, turns_of
from tabla.schedule.bound.sent import moved
from tabla.schedule.bound.windows import Work, longest
from tabla.schedule.compile import schedule_graph
from tabla.templates.template import template_for, timing
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.bound.longest import longest as longest_circuit


def network(features: int, hidden: int, classes: int) -> Graph:
    problem = Problem(kind="backprop", sizes=(features, hidden, classes))
    return build(problem.file, problem.options(16)).graph


def chosen(graph: Graph, count: int, **cuts: int) -> Groups | None:
    """With such layouts of models; None if one forbids another."""
    groups = Groups(graph=graph, count=count)
    while (options := groups.choices()) is not None and len(groups.cuts) < len(cuts):
        fitting = [each for each in options if each.cuts.items() <= cuts.items()]
        if not fitting:
            return None
        (groups,) = fitting
    return groups


def by_name(graph: Graph, groups: Groups) -> dict[str, str]:
    return {s.target: groups.along[s.id] for s in graph.statements if s.id in groups.along}


def test_what_follows_from_features_and_classes() -> None:
    """w1[j][i] along i, w2[k][j] along k: each group has all hidden words and all their errors, and its own classes."""
    graph = network(16, 32, 16)
    groups = chosen(graph, 2, w1=1, w2=0)
    assert groups is not None
    assert by_name(graph, groups) == {"h.t1": "i", "o.t1": "k", "b.t1": "k", "w1.next": "i", "w2.next": "k"}
    number = {statement.target: statement.id for statement in graph.statements}
    readers = {tensor: {graph.statements[n].target for n in each} for tensor, each in groups.whole.items()}
    assert readers == {"h": {"o.t1", "w2.next"}, "b": {"w1.next"}} and not groups.crossing
    # Each group makes all of b, and all that it takes for it; the sums of h and b.t1 are those of all groups.
    made = groups
    while (options := made.choices()) is not None:
        made = options[0]
        assert all(made.made.values()) and len(options) == 2
    assert set(made.made) == {number[name] for name in ("h", "b", "b.t2")} and not made.crossing
    assert {"h.t1", "b.t1"} <= made.whole.keys()
    # Or words of b cross: those of b.t2 are whatever.
    options = groups.choices()
    assert options is not None
    assert options[1].crossing == {"b"} and "b.t2" not in options[1].whole


def test_what_follows_from_hidden_words() -> None:
    """Both models along hidden words: all groups have all output errors. With w2 along classes words of h cross."""
    graph = network(16, 32, 16)
    groups = chosen(graph, 2, w1=0, w2=1)
    assert groups is not None
    assert by_name(graph, groups) == {name: "j" for name in ("h.t1", "o.t1", "b.t1", "w1.next", "w2.next")}
    assert groups.whole.keys() == {"d"}
    groups = chosen(graph, 2, w1=0, w2=0)
    assert groups is not None
    options = groups.choices()
    assert options is not None and [each.crossing for each in options] == [{"h.t1"}, {"h"}]


def test_a_model_that_each_group_has() -> None:
    """Each updates all of it, of all words that this takes; or its words cross: of 512 half, that a group has not."""
    graph = network(16, 32, 16)
    groups = chosen(graph, 2, w1=0, w2=WHOLE)
    assert (
        groups is not None and by_name(graph, groups)["w2.next"] == UNDIVIDED and "o.t1" not in by_name(graph, groups)
    )
    assert groups.whole.keys() == {"d", "h"} and groups.carried == 0
    groups = chosen(graph, 2, w1=0, w2=CARRIED)
    assert groups is not None and groups.carried == 256 and not groups.whole


def test_layouts_that_do_not_fit() -> None:
    """A product of words of two models is made where both are."""
    text = """
    model_input x[8]; model_output y[6]; model q[6][8]; model w[8]; gradient r[6][8] -> q; gradient g[8] -> w;
    iterator i[0:8]; iterator j[0:6]; h[j] = sum[i](q[j][i] * w[i]); e[j] = h[j] - y[j];
    r[j][i] = e[j] * x[i]; g[i] = w[i] * x[i];
    """
    graph = shaped_graph(text)
    assert chosen(graph, 2, q=0, w=0) is None
    assert chosen(graph, 2, q=1, w=0) is not None and chosen(graph, 2, q=0, w=WHOLE) is not None


def test_words_that_cross_by_hand() -> None:
    """32 words of h, made along hidden words and wanted along classes: a slot of all lanes and of both roots each."""
    graph, template = network(16, 32, 16), template_for(16).with_roots(2)
    groups = chosen(graph, 2, w1=0, w2=0)
    assert groups is not None
    options = groups.choices()
    assert options is not None
    distances = Distances.anyhow(Latencies(template, Q6_10), graph).with_groups(options[1])
    for statement in graph.statements:
        if statement.target in ("h.t1", "b.t1"):
            distances = distances.with_choice(statement, Choice("tree", statement.reduced[0].name))
        elif statement.target in ("o.t1", "w2.next"):
            distances = distances.with_choice(statement, Choice("lane", "k"))
    made = {"h": Claim(pins=frozenset(), times=Times(0, NEVER))}
    lanes, root = moved(graph, made, all_of(graph.tensors), distances)
    assert (lanes.slots, root.slots) == (32 * 16, 32 * 2)
    # From the root that made a word over its bus, up the tree of all groups, and down to the lanes that take it.
    laws = timing()
    across = 1 + 3 * laws.tree_level + laws.tree_level
    assert lanes.head.lane == laws.broadcast and root.head.root == laws.broadcast + across
    assert lanes.tail.lane == distances.operation + across + laws.broadcast + distances.operation


def test_the_bound_knows_that_groups_have_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """16-32-16 on 16 PEs and two roots: nobody makes half of the errors that all groups take."""
    graph, template = network(16, 32, 16), template_for(16).with_roots(2)
    latencies, binary = Latencies(template, Q6_10), zero_or_one(graph)
    assert busiest_circuit(graph, template, latencies, binary).cycles == 197
    monkeypatch.setattr(Groups, "choices", lambda _: None)
    assert busiest_circuit(graph, template, latencies, binary).cycles == 182


def test_a_group_may_have_a_program_of_its_own() -> None:
    """Tensors may share a pass: two programs of one form on two groups take what one takes on half of the lanes."""
    one = "model w{n}[12][12]; gradient g{n}[12][12] -> w{n}; model_input x{n}[12];"
    one += "a{n}[i] = sum[j](w{n}[i][j]*x{n}[j]); g{n}[i][j] = a{n}[j]*x{n}[i];"
    head = "mu = 0.25; iterator i[0:12]; iterator j[0:12];"
    alone = schedule_graph(shaped_graph(head + one.format(n=0)), template_for(4).with_roots(1), Q6_10)
    both = shaped_graph(head + one.format(n=0) + one.format(n=1))
    template = template_for(8).with_roots(2)
    bound = busiest_circuit(both, template, Latencies(template, Q6_10), zero_or_one(both)).cycles
    assert bound <= alone.cycles == 83


def test_rows_of_a_group_leave_lanes_to_others() -> None:
    """Three vectors of 17 words in each of four groups of 16 lanes: eight cycles, six of them for two rows of each."""
    models = range(12)
    text = "mu = 0.25; model_input x[17]; iterator i[0:17];"
    text += "".join(f"model w{n}[17]; gradient g{n}[17] -> w{n}; g{n}[i] = w{n}[i]*x[i];" for n in models)
    graph, template = shaped_graph(text), template_for(64).with_roots(4)
    assert busiest_circuit(graph, template, Latencies(template, Q6_10), zero_or_one(graph)).cycles <= 8
    (term,) = graph.statements[0].operation.terms[1:]  # type: ignore[union-attr]
    turns = turns_of(graph.statements[0], term, frozenset(), Choice("lane", "i"), template)
    assert turns == Turns(cycles=1, slots=2 * 16)


def test_a_model_that_some_group_has_not() -> None:
    """Its statements have one group less; where other models are cut, they cannot be."""
    graph, template = network(16, 32, 16), template_for(32).with_roots(4)
    groups = chosen(graph, 4, w1=0, w2=ASIDE)
    assert groups is not None and by_name(graph, groups)["b.t1"] == APART and groups.whole.keys() == set()
    b = next(statement for statement in graph.statements if statement.target == "b.t1")
    (term,) = b.operation.terms  # type: ignore[union-attr]
    # 32 sums of 16 terms, of which three groups of eight lanes take 11 each; or all a part of each sum.
    turns = turns_of(b, term, frozenset(), Choice("lane", "j"), template, APART)
    assert turns == Turns(cycles=2 * 16, slots=4 * 16 * 8)
    assert turns_of(b, term, frozenset(), Choice("root"), template, APART) == Turns(cycles=11 * 16, slots=32 * 16)


def test_work_that_a_group_has_no_part_of_by_hand() -> None:
    """Ten rows of 16 lanes in two groups are twenty of one; what others do beside them finds room in the other."""
    template = template_for(16).with_roots(2)
    work = Work(multiplies=0, slots=160, head=Times(NEVER, 7), tail=Times(NEVER, 9))
    assert longest([work], [], template) == 7 + 10 - 1 + 9
    assert longest([replace(work, aside="w")], [], template) == 7 + 20 - 1 + 9
    assert longest([replace(work, aside="w")], [replace(work, aside="v")], template) == 7 + 20 - 1 + 9
    assert longest([replace(work, aside="w")] * 2, [], template) == 7 + 40 - 1 + 9


def test_words_that_one_group_updates_are_copied_for_less() -> None:
    """What is updated sooner is copied in as many slots: those of all lanes only if all groups have even parts."""
    graph, template = network(8, 24, 16), template_for(8).with_roots(2)
    distances = Distances.anyhow(Latencies(template, Q6_10), graph)
    ways = {"h.t1": ("tree", "i"), "o.t1": ("lane", "k"), "b.t1": ("tree", "k"), "w1.next": ("lane", "i")}
    ways |= {"w2.next": ("lane", "k")}
    for statement in graph.statements:
        if statement.target in ways:
            distances = distances.with_choice(statement, Choice(*ways[statement.target]))  # type: ignore[arg-type]
    found = {}
    for cut in (None, 0, 1, WHOLE, ASIDE):
        groups = distances.groups if cut is None else chosen(graph, 2, w1=1, w2=cut)
        assert groups is not None
        of_groups = distances.with_groups(groups)
        own = dependent(graph, "d", of_groups).own
        found[cut] = {graph.statements[n].target for n in overwritten(graph, frozenset(), own, of_groups)}
    assert found == {None: set(), 0: {"w2.next"}, 1: {"w2.next"}, WHOLE: {"w2.next"}, ASIDE: set()}


def test_parts_of_an_axis_are_no_parts_of_a_half() -> None:
    """Rows of one model that lie in one group: nothing that they make crosses, nor is it divided."""
    text = """
    model_input x[6]; model w[12][6]; gradient g[12][6] -> w; iterator k[0:6]; iterator j[0:6]; iterator l[6:12];
    a[k] = sum[j](w[k][j]*x[j]); g[k][j] = a[j]*x[k]; g[l][j] = w[l][j]*x[j];
    """
    graph = shaped_graph(text)
    groups = chosen(graph, 2, w=0)
    assert groups is not None and not groups.along and not groups.whole
    groups = chosen(graph, 2, w=1)
    assert groups is not None and set(groups.along.values()) == {"j"}


def test_a_model_that_its_own_update_takes_in_another_order() -> None:
    """Four words of a corner are carried at the most, whoever else takes all."""
    text = """
    model_input x[8]; model w[8][8]; gradient g[8][8] -> w; iterator i[0:8]; iterator j[0:8];
    a[i] = sum[j](w[i][j]*x[j]); g[i][j] = w[j][i]*a[j];
    """
    graph = shaped_graph(text)
    groups = chosen(graph, 2, w=CARRIED)
    assert groups is not None and groups.carried == 64 - 32
    corner = shaped_graph(
        text.replace("g[i][j] = w[j][i]*a[j];", "iterator p[0:2]; iterator q[0:2]; g[p][q] = w[q][p]*x[q];")
    )
    groups = chosen(corner, 2, w=CARRIED)
    assert groups is not None and groups.carried == 4 - 2


def test_each_of_the_layouts_is_worse_than_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is chosen only forbids schedules: no bound of a part is below that of the whole."""
    graph, template = network(8, 12, 6), template_for(8).with_roots(2)
    circuits = Circuits.of(graph, zero_or_one(graph), template)
    distances = Distances.anyhow(Latencies(template, Q6_10), graph)
    for statement in graph.statements:
        if statement.reduced or statement.target.endswith(".next"):
            distances = distances.with_choice(statement, Choice("lane", statement.indices[0].name))
    free, parts = longest_circuit(circuits, distances), [distances.groups]
    while parts:
        groups = parts.pop()
        assert longest_circuit(circuits, distances.with_groups(groups)) >= free
        parts += groups.choices() or [] if len(groups.cuts) < 2 else []
