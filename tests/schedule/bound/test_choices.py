"""The bound of the very choices that a schedule made is not above its cycles: nor is that of the best ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.learning.problems import Problem
from tabla.driver import build
from tabla.graph.graph import Graph
from tabla.graph.operations import zero_or_one
from tabla.schedule import bound
from tabla.schedule.bound.choice import EVERYWHERE, Choice
from tabla.schedule.bound.circuits import Circuits, overwritten
from tabla.schedule.bound.dependents import dependent
from tabla.schedule.bound.distances import NEVER, Distances, Times
from tabla.schedule.bound.groups import WHOLE, Groups
from tabla.schedule.bound.latencies import Latencies
from tabla.schedule.bound.products import Slots, per_group, points, turns_of
from tabla.schedule.bound.trains import Train
from tabla.schedule.bound.windows import Work, behind, issued, longest
from tabla.schedule.compile import schedule_graph
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import template_for, timing
from tests.draws import draws
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.bound.longest import longest as longest_circuit

HEAD = """
mu = 0.25; n = {n}; m = {m};
model_input x[n]; model_input v[m]; model_output y[n]; model_output z[m]; model w[n]; model u[m]; model q[m][n];
gradient g[n] -> w; gradient p[m] -> u; gradient r[m][n] -> q; iterator i[0:n]; iterator j[0:m];
"""
BODIES = tuple(
    """
g[i] = (w[i]*x[i] - y[i])*x[i]; p[j] = (u[j] - v[j])*v[j]; r[j][i] = q[j][i]*x[i];

a[i] = w[i]*x[i]; b[i] = a[i]*y[i]; c[i] = b[i]*x[i]; g[i] = c[i]*a[i]; p[j] = v[j]*u[j]; e[j] = u[j]*z[j];
r[j][i] = e[j]*x[i];

h[j] = sum[i](q[j][i]*x[i]); e[j] = h[j] - z[j]; r[j][i] = e[j]*x[i]; p[j] = e[j]*u[j]; g[i] = w[i]*x[i];

h[j] = sigmoid(sum[i](q[j][i]*x[i])); o = sum[j](u[j]*h[j]); e = o - z[0]; d[j] = e*u[j]; p[j] = e*h[j];
r[j][i] = d[j]*x[i]; g[i] = e*x[i];

h[j] = sigmoid(sum[i](q[j][i]*x[i])); o[i] = sum[j](q[j][i]*h[j]); e[i] = o[i] - x[i];
d[j] = sum[i](e[i]*q[j][i]); r[j][i] = d[j]*x[i]; p[j] = u[j]*d[j]; g[i] = e[i]*w[i];

h = sum[i](w[i]*x[i]); k[j] = h*u[j]; s = sum[j](k[j]*v[j]); e = s - y[0]; g[i] = e*x[i]; p[j] = e*k[j];
r[j][i] = e*q[j][i];

a = sum[i](w[i]*w[i]); g[i] = a*w[i]; p[j] = a*u[j]; r[j][i] = a*q[j][i];

a[j] = sum[i](q[j][i]*w[i]); b[j] = sigmoid(a[j]*u[j]); c[i] = sum[j](b[j]*q[j][i]); g[i] = c[i]*x[i];
p[j] = b[j]*v[j]; r[j][i] = b[j]*c[i];
""".split("\n\n")
)


def program(body: int, n: int, m: int) -> Graph:
    return shaped_graph(HEAD.format(n=n, m=m) + BODIES[body])


def shared_as(schedule: Schedule, groups: Groups) -> Groups:
    """What groups do in a schedule: what is not cut, each of them has and makes."""
    split = {model: schedule.mapped.tensors[model].split for model in schedule.graph.updates}
    cuts = {model: axis if axis >= 0 else WHOLE for model, axis in split.items()}
    while (options := groups.choices()) is not None:
        fitting = [each for each in options if each.cuts.items() <= cuts.items() and all(each.made.values())]
        (groups,) = fitting
    return groups


def of_its_choices(schedule: Schedule) -> int:
    """The bound if statements are computed as a schedule computes them."""
    ways: dict[str, set[Choice]] = {}
    for statement, fit in zip(schedule.mapped.statements, schedule.mapping.fits, strict=True):
        ways.setdefault(statement.target, set()).add(Choice(fit.way, fit.index))
    distances = Distances.anyhow(Latencies(schedule.template, schedule.format), schedule.graph)
    distances = distances.with_groups(shared_as(schedule, distances.groups))
    for statement in schedule.graph.statements:
        if len(found := ways.get(statement.target, set())) == 1:
            distances = distances.with_choice(statement, *found)
    circuits = Circuits.of(schedule.graph, zero_or_one(schedule.graph), schedule.template)
    return longest_circuit(circuits, distances)


@draws(6, 25)
@given(
    st.integers(0, len(BODIES) - 1),
    st.sampled_from([1, 2, 3, 5, 8, 13, 16, 24, 50]),
    st.sampled_from([1, 2, 3, 6, 12]),
    st.sampled_from([1, 2, 4, 8, 16, 32, 64]),
    st.sampled_from([0, 1, 2, 4]),
)
def test_no_schedule_is_below_the_bound_of_its_choices(body: int, n: int, m: int, pes: int, roots: int) -> None:
    template = template_for(pes)
    if roots and pes // roots >= 2:
        template = template.with_roots(roots)
    schedule = schedule_graph(program(body, n, m), template, Q6_10)
    assert bound.full(schedule.graph, schedule.template, Q6_10).cycles <= schedule.cycles
    assert of_its_choices(schedule) <= schedule.cycles


@draws(1, 5)
@given(
    st.sampled_from([1, 4, 8, 13, 16]),
    st.sampled_from([1, 2, 7, 8, 16, 24]),
    st.sampled_from([1, 3, 4, 8, 9, 16]),
    st.sampled_from([4, 8, 16, 32]),
)
def test_no_network_is_below_the_bound_of_its_choices(features: int, hidden: int, classes: int, pes: int) -> None:
    problem = Problem(kind="backprop", sizes=(features, hidden, classes))
    schedule = build(problem.file, problem.options(pes)).schedule
    assert bound.full(schedule.graph, schedule.template, Q6_10).cycles <= schedule.cycles
    assert of_its_choices(schedule) <= schedule.cycles


def test_words_are_read_until_they_are_written() -> None:
    """Two rows of w are updated, and read once more before they are written: 43 cycles, of which 35 are of four other
    models' products.
    """
    rows = {"p0": 18, "p1": 7, "p2": 5, "p3": 5}
    text = (
        "mu = 0.5; model_input x[32]; model_output y[2]; model w[2][32]; model v[2]; iterator k[0:2]; iterator j[0:32];"
    )
    text += "gradient g[2][32] -> w; gradient gv[2] -> v;"
    for name, count in rows.items():
        text += f"model {name}[{count}][32]; gradient g{name}[{count}][32] -> {name}; iterator f{name}[0:{count}];"
    text += """
    a[k] = sum[j](w[k][j]*x[j]); s = sum[k](a[k]*y[k]); h[k] = s*y[k]; d1[j] = s*x[j]; d2[j] = d1[j]*x[j];
    b[k] = sum[j](w[k][j]*d2[j]); g[k][j] = h[k]*x[j]; gv[k] = b[k]*y[k];
    """
    text += "".join(f"g{name}[f{name}][j] = {name}[f{name}][j]*x[j];" for name in rows)
    template = template_for(32).with_roots(1).with_sequencers(1)
    schedule = schedule_graph(shaped_graph(text), template, Q6_10)
    assert schedule.cycles == 43
    assert bound.full(schedule.graph, schedule.template, Q6_10).cycles <= schedule.cycles
    assert of_its_choices(schedule) <= schedule.cycles


def test_layers_wait_for_each_other_by_hand() -> None:
    """16 words of o sum over 8 of h, 8 words of d over 16 of e, on four lanes and one root."""
    graph = program(4, 16, 8)
    o, e, d = (next(s for s in graph.statements if s.target == name) for name in ("o", "e", "d"))
    distances = Distances.anyhow(Latencies(template_for(4).with_roots(1), Q6_10), graph)
    operation, memory = distances.operation, distances.memory
    laws = timing()

    # Nothing is chosen: no more than the latencies.
    free = dependent(graph, "h", distances).own
    assert free["o"].times == free["o"].last

    for statement, choice in ((o, Choice("root")), (e, Choice("root")), (d, Choice("lane", "j"))):
        distances = distances.with_choice(statement, choice)
    own = dependent(graph, "h", distances).own
    # The last word of h is the last term of a first sum, all of 15 others come after; e takes each word as it is made,
    # its addend late, but the root makes one after the other: 121 products, 16 differences.
    assert own["o"].times.root == operation and own["o"].last.root == 120 + operation
    late = laws.late_operand - laws.operand
    assert own["e"].times.root == 2 * operation - late
    assert own["e"].last.root == 120 + 16 + operation
    # Each sum of d waits for the last word of e, and the second of two rows of lanes sums all its terms after it.
    assert own["d"].times.lane == own["e"].last.root + laws.broadcast + operation
    assert own["d"].last.lane == own["d"].times.lane + 16
    assert memory < own["d"].times.lane


def test_a_model_is_overwritten_after_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """8-24-16 on 8 PEs: all of w2 is read with the last of 16 errors, then overwritten; or words are copied before."""
    problem = Problem(kind="backprop", sizes=(8, 24, 16))
    made = build(problem.file, replace(problem.options(8), effort=0))
    graph, template = made.graph, template_for(8).with_roots(1)
    distances = Distances.anyhow(Latencies(template, Q6_10), graph)
    ways = {"h.t1": ("tree", "i"), "o.t1": ("lane", "k"), "b.t1": ("tree", "k"), "w1.next": ("lane", "i")}
    ways |= {"w2.next": ("lane", "k")}
    for statement in graph.statements:
        if statement.target in ("d.t1", "d.t2", "d", "b.t2", "b"):
            distances = distances.with_choice(statement, Choice("root"))
        if statement.target in ways:
            distances = distances.with_choice(statement, Choice(*ways[statement.target]))  # type: ignore[arg-type]
    circuits = Circuits.of(graph, zero_or_one(graph), template)
    update = next(statement for statement in graph.statements if statement.target == "w2.next")
    own = dependent(graph, "d", distances).own
    laws = timing()
    # From the result register to the lanes; a sum of one word each has one slot before the first word is overwritten.
    least = overwritten(graph, circuits.binary, own, distances)
    assert least == {update.id: laws.broadcast + 1}
    # 24 + 48 + 48 + 24 + 48 products, and words that go up: what the bound counts of 16.
    lanes = circuits.issued(distances).lane
    assert 192 < lanes <= 192 + 16
    with_law = longest_circuit(circuits, distances)
    monkeypatch.setattr("tabla.schedule.bound.circuits.overwritten", lambda *_: {})
    without = longest_circuit(circuits, distances)
    needs = circuits._needed("d", distances, every=True)
    late = longest(*circuits._between("d", dependent(graph, "d", distances), *needs, distances, least), template)
    assert without < with_law < late
    # An update may issue so long before a read that it is written after it.
    assert with_law >= -(-(late - (laws.result - 1) + lanes) // 2)
    assert made.schedule.cycles >= late


def test_trains_by_hand() -> None:
    """Three pieces on the root, one in the lanes: what can issue sooner goes first."""
    train = Train().with_issue(3, "root", 5, 2).with_issue(1, "root", 0, 3).with_issue(2, "lane", 40, 1)
    assert train.end("root") == 6
    assert train.with_issue(4, "root", 1, 3).end("root") == 7
    assert train.end("lane") == 40
    # The same statement in the next sample is another piece; joined with itself nothing changes.
    assert train.before().with_issue(3, "root", 5, 2).end("root") == 8
    assert train.joined(train) == train


@pytest.mark.parametrize(("body", "n", "m", "pes"), [(1, 24, 3, 16), (4, 8, 8, 8), (3, 50, 1, 64)])
def test_the_bound_is_close_where_lanes_do_all(body: int, n: int, m: int, pes: int) -> None:
    """Chains in lanes wait for their memory, words for the tree and the bus, rows for rows: little else is lost."""
    schedule = schedule_graph(program(body, n, m), template_for(pes).with_roots(1), Q6_10)
    assert of_its_choices(schedule) <= schedule.cycles <= 1.15 * of_its_choices(schedule)


def test_heads_and_tails_by_hand() -> None:
    """64 lanes, one root. Ten slots of all lanes, no sooner than 7 cycles after u and 9 before v."""
    template = template_for(64).with_roots(1)
    middle = Work(multiplies=0, slots=640, head=Times(NEVER, 7), tail=Times(NEVER, 9))
    near = Work(multiplies=0, slots=64, head=Times(NEVER, 2), tail=Times(NEVER, 3))
    assert longest([middle], [], template) == 7 + 10 - 1 + 9
    # What is nearer to both finds room beside it, as long as it is less than what the others are away.
    assert longest([near], [middle], template) == 7 + 10 - 1 + 9
    more = replace(near, slots=20 * 64)
    assert longest([more], [middle], template) == 2 + 30 - 1 + 3
    # An operation before all of it on the lanes: eleven slots later the last, at least 3 cycles before v.
    assert behind([near, middle], template) == Times(0, 11 + 3)
    above = Work(multiplies=0, slots=30, head=Times(0, NEVER), tail=Times(5, NEVER))
    assert issued([near, middle, above], template) == Times(30, 11)


def test_slots_by_hand() -> None:
    """h[j] = sum[i](q[j][i]*x[i]), 10 sums of 50 terms, on 16 lanes in two groups."""
    graph = program(2, 50, 10)
    statement = graph.statements[0]
    (term,) = statement.operation.terms  # type: ignore[union-attr]
    template = template_for(16).with_roots(2)

    def slots(choice: Choice, pinned: frozenset[str] = frozenset()) -> int:
        return turns_of(statement, term, pinned, choice, template).slots

    assert points(statement, term, frozenset()) == 500
    assert per_group({"i": 10, "j": 3}, 4) == 9 and per_group({}, 4) == 1
    # Five sums a root; a row of 10 of 16 lanes for each term; seven rows of 8 lanes for each of five sums.
    assert slots(Choice("root")) == 2 * 5 * 50
    assert slots(Choice("lane", "j")) == 16 * 50
    assert slots(Choice("tree", "i")) == 16 * min(5 * 7, 10 * 4)
    # Every lane all five sums of its group.
    assert slots(EVERYWHERE) == 16 * 5 * 50
    # From the first to the last of them; none where a way is not chosen, or the tensor joins elsewhere.
    every = Slots(template)
    assert every.issue(statement, "q", frozenset(), Choice("root")) == 5 * 50 - 1
    assert every.issue(statement, "q", frozenset("i"), Choice("lane", "j")) == 1 - 1
    assert every.issue(statement, "q", frozenset(), None) == every.issue(statement, "y", frozenset(), EVERYWHERE) == 0
    # Of the first sum one term may be the last: then each root has four whole ones to come.
    assert slots(Choice("root"), frozenset("i")) == 2 * (4 * 50 + 1)
    assert slots(Choice("tree", "i"), frozenset("i")) == 16 * min(4 * 7 + 1, 9 * 4 + 1)


def test_words_by_place_by_hand() -> None:
    """A word of a lane reaches the root by the tree, six levels high, as soon as a lane makes it."""
    text = """model_input x[8]; model w[8]; gradient g[8] -> w; iterator i[0:8];
    a[i] = w[i]*x[i]; b[i] = a[i]*x[i]; c[i] = a[i] + x[i]*x[i]; g[i] = b[i]*c[i];"""
    graph, laws = shaped_graph(text), timing()
    distances = Distances.anyhow(Latencies(template_for(64).with_roots(1), Q6_10), graph)
    a, b, c = (next(s for s in graph.statements if s.target == name) for name in "abc")
    assert distances.arrival(b, "a", Times(0, NEVER)) == Times(0, laws.broadcast)
    in_lanes = distances.arrival(b, "a", Times(NEVER, 0))
    assert in_lanes == Times(1 + 6, 3)
    # A word that is only added is the start value of the root's operation, which then takes no time of its own: its
    # result would come four cycles after a late operand.
    assert distances.arrival(c, "a", Times(NEVER, 0)) == Times(1 + 6 - 4, 3)
    # A model's word is for the next sample, and goes through a memory.
    assert distances.arrival(a, "w", Times(NEVER, 0)) == Times(1 + 6 + 3, 3)
    assert distances.required(b, "a", Times(0, NEVER)) == Times(0, in_lanes.root)
    assert distances.required(b, "a", Times(NEVER, 0)) == Times(laws.broadcast, in_lanes.lane)


def test_the_last_word_that_lanes_send_by_hand() -> None:
    """Twelve sums of five words each in lanes: one is sent as it is made, or all others are made after the first."""
    graph = program(2, 5, 12)
    distances = Distances.anyhow(Latencies(template_for(16).with_roots(1), Q6_10), graph)
    h, e = (next(s for s in graph.statements if s.target == name) for name in ("h", "e"))
    assert h.reduced and not e.reduced

    def last(words: int) -> int:
        return distances.arrival_of_last(e, "h", Times(NEVER, 10), Times(NEVER, 10), words).root

    up = 1 + 4 - 4  # `e` only adds it
    assert last(1) == 10 + up
    assert last(2) == 10 + up + 5
    assert last(12) == 10 + up + 3 + 5
