"""Every change of a mapping that may be tried makes a machine with the same words, and cycles as predicted."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.graph.graph import Graph
from tabla.graph.passes.legalise.materialise import materialise
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.pipeline import shaped
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.schedule import bound
from tabla.schedule.check import check
from tabla.schedule.mapping.changes import (
    as_made,
    at_hand,
    changes,
    divided,
    in_turns,
    in_waves,
    kinds,
    sums_in_turns,
    taken_early,
    taken_early_in_part,
    undivided,
)
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS, Effort
from tabla.schedule.mapping.kept import keeping
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.places import EVERY
from tabla.schedule.mapping.search import Search
from tabla.schedule.placing.build import schedule_mapping
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import Template, template_for, timing
from tests.draws import draws
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, agree_on, shaped_graph

Change = Callable[[Mapping, Effort], Iterator[Mapping]]
EFFORT = EFFORTS[DEFAULT_EFFORT]


CHANGES: tuple[Change, ...] = kinds()


def array(pes: int) -> Template:
    """One root, one sequencer."""
    return template_for(pes).with_roots(1).with_sequencers(1)


NETWORK = """
model_input x[{n}]; model_output y[{k}]; model w1[{m}][{n}]; model w2[{k}][{m}];
gradient g1[{m}][{n}] -> w1; gradient g2[{k}][{m}] -> w2;
iterator a[0:{n}]; iterator b[0:{m}]; iterator c[0:{k}];
h[b] = sigmoid(sum[a](w1[b][a] * x[a]));
o[c] = sigmoid(sum[b](w2[c][b] * h[b]));
d[c] = (o[c] - y[c]) * o[c] * (1 - o[c]);
e[b] = sum[c](w2[c][b] * d[c]) * h[b] * (1 - h[b]);
g1[b][a] = e[b] * x[a];
g2[c][b] = d[c] * h[b];
"""


def network(n: int, m: int, k: int) -> Graph:
    return shaped_graph(NETWORK.format(n=n, m=m, k=k))


def schedules(graph: Graph, pes: int, changes: tuple[Change, ...], *, at_root: bool = False) -> Iterator[Schedule]:
    """The best mapping by estimate, or all at the root, with each of the changes, one at a time; then the same with
    what comes over the bus in every lane before.
    """
    template = array(pes)
    material = materialise(graph, Q6_10)
    search = Search(material, template)
    mappings = [search.at_root() if at_root else search.candidates(1)[0]]
    while before := next(taken_early(mappings[-1], EFFORT), None):
        mappings.append(before)
    for mapping in dict.fromkeys((0, len(mappings) - 1)):
        for change in changes:
            for changed in change(mappings[mapping], EFFORT):
                made = schedule_mapping(graph, changed, Q6_10)
                if made is not None:
                    check(made)
                    yield made


def issues(schedule: Schedule, name: str) -> list[tuple[int, int]]:
    """(start, words) of the root's strands of a statement."""
    strands = [s for s in schedule.units["root_issue"] if s.comment.split()[-1] == name]
    return [(s.start, s.iterations) for s in strands]


# The models of this network lie in the lanes, so the root has none of which lanes could keep a copy.
@pytest.mark.parametrize("change", [c for c in CHANGES if c is not keeping], ids=lambda change: change.__name__)
@pytest.mark.parametrize("sizes", [(5, 8, 6), (7, 6, 11), (9, 13, 2)])
def test_a_network(change: Change, sizes: tuple[int, int, int]) -> None:
    found = list(schedules(network(*sizes), 4, (change,), at_root=change is sums_in_turns))
    # 13 words are too many parts, and lanes sum those of the two classes; the sum e.t1 takes d before the update does.
    assert found or (change, sizes) in ((sums_in_turns, (9, 13, 2)), (as_made, (5, 8, 6)))
    for schedule in found:
        agree_on(schedule)


@draws(40, 100)
@given(programs(), st.sampled_from([1, 2, 3, 4]), st.integers(0, 2**20))
def test_random_programs(text: str, pes: int, seed: int) -> None:
    graph = shaped_graph(text)

    least = 0
    for schedule in schedules(graph, pes, CHANGES):
        agree_on(schedule, seed=seed)
        least = least or bound.full(graph, schedule.template, Q6_10).cycles
        assert schedule.cycles >= least


def test_groups_of_a_chain_follow_each_other_without_a_pause() -> None:
    """(w - y) * x * (1 - w) for ten words: two groups, each through three operations, five cycles apart."""
    text = """
    model_input x[10]; model_output y[10]; model w[10]; gradient g[10] -> w; iterator i[0:10];
    g[i] = (w[i] - y[i]) * x[i] * (1 - w[i]);
    """
    graph = shaped_graph(text)
    assert timing().result - timing().operand == 5
    groups = []
    for schedule in schedules(graph, 1, (in_turns,), at_root=True):
        agree_on(schedule)
        if "g.t3" not in {tensor for tensor, _ in schedule.layout.places}:
            # A chain of its own, of 1 - w and the update.
            continue
        first, second, last = (issues(schedule, name) for name in ("g.t1", "g.t2", "w.next"))
        assert [(start + 5, words) for start, words in first] == second
        assert [(start + 5, words) for start, words in second] == last
        assert sum(words for _, words in last) == 10
        groups.append(first)
        writes = {s.comment for s in schedule.units["root_write"]}
        assert writes and not {"g.t1", "g.t2"} & {word for comment in writes for word in comment.split()}
        assert not {"g.t1", "g.t2"} & {tensor for tensor, _ in schedule.layout.places}
    (start, _), _ = groups[0]
    assert groups[0] == [(start, 5), (start + 15, 5)] and len(groups[-1]) == 10


@pytest.mark.parametrize("terms", [1, 2, 3, 4, 5, 7])
def test_a_chain_may_begin_with_sums(terms: int) -> None:
    """sum(v * x) * y * (1 - y): as many words together as leave the root's slots to one statement at a time."""
    text = f"""
    model_input x[{terms}]; model_output y[6]; model v[6][{terms}]; model w[6]; gradient g[6] -> w;
    iterator i[0:6]; iterator k[0:{terms}];
    b[i] = sum[k](v[i][k] * x[k]) * y[i] * (1 - y[i]); g[i] = b[i];
    """
    together = set()
    for schedule in schedules(shaped_graph(text), 1, (in_turns,), at_root=True):
        agree_on(schedule)
        if "b.t1" in {tensor for tensor, _ in schedule.layout.places}:
            # The chain without its sums, or another one.
            continue
        sums, products, last = (issues(schedule, name) for name in ("b.t1", "b.t2", "b"))
        assert [(start + terms - 1 + 5, words // terms) for start, words in sums] == products
        assert [(start + 5, words) for start, words in products] == last
        together.add(max(words for _, words in last))
    assert max(together) == {1: 3, 2: 3, 3: 2, 4: 2}.get(terms, 1)


def test_sums_stay_out_of_a_chain_that_goes_without_them() -> None:
    text = """
    model_input x[3]; model_output y[4]; model v[4][3]; model w[4]; gradient g[4] -> w; iterator i[0:4];
    iterator k[0:3];
    b[i] = sum[k](v[i][k] * x[k]) * y[i] * (1 - y[i]); g[i] = b[i];
    """
    graph = shaped_graph(text)
    template, material = array(1), materialise(graph, Q6_10)
    twice = [
        again for first in in_turns(Search(material, template).at_root(), EFFORT) for again in in_turns(first, EFFORT)
    ]
    for mapping in twice:
        made = schedule_mapping(graph, mapping, Q6_10)
        assert made is not None
        check(made)
        agree_on(made)
    assert twice


def test_two_chains_do_not_meet() -> None:
    """Of two statements whose words one takes, the register shows those of one."""
    text = """
    model_input x[4]; model_output y[4]; model w[4]; gradient g[4] -> w; iterator i[0:4];
    g[i] = (w[i] - y[i]) * (w[i] - x[i]);
    """
    graph = shaped_graph(text)
    firsts = list(in_turns(Search(graph, array(1)).at_root(), EFFORT))
    passed = {s.target for m in firsts for s, fit in zip(graph.statements, m.fits, strict=True) if fit.through}
    assert passed == {"g.t1", "g.t2"}
    assert not [changed for mapping in firsts for changed in in_turns(mapping, EFFORT)]


def test_a_chain_does_not_end_with_an_update_past_its_own_reads() -> None:
    """w[1] is read on the way to the update of w[0], and updated elsewhere: that has to wait."""
    text = """
    model_input x; model w[2]; gradient g[2] -> w; iterator i[0:1];
    g[i] = (w[1 - i] + x) * x; g[1] = 0;
    """
    graph = shaped_graph(text)
    at_root = Search(graph, array(1)).at_root()
    assert not list(in_turns(at_root, EFFORT))
    for schedule in schedules(graph, 1, (in_turns, divided), at_root=True):
        agree_on(schedule)


def test_a_word_that_two_statements_read_is_written() -> None:
    text = """
    model_input x[4]; model_output y[4]; model w[4]; gradient g[4] -> w; iterator i[0:4];
    a[i] = w[i] - y[i]; b[i] = a[i] * x[i]; c[i] = b[i] * w[i]; g[i] = c[i] * b[i];
    """
    graph = shaped_graph(text)
    at_root = Search(graph, array(1)).at_root()
    passed = [
        {s.target for s, fit in zip(graph.statements, m.fits, strict=True) if fit.through}
        for m in in_turns(at_root, EFFORT)
    ]
    assert {"a"} in passed and {"c"} in passed and all(len(names) == 1 for names in passed)


def test_some_of_the_words_lie_in_every_lane() -> None:
    """Of the six words of d every lane gets some, for the first part of the update; the rest comes just in time."""
    found = set()
    for schedule in schedules(network(5, 8, 6), 4, (taken_early_in_part,)):
        update = schedule.mapping.fits[-1]
        assert schedule.mapped.statements[-1].target == "w2.next"
        takes = [s.iterations for s in schedule.units["lane_write"] if s.comment == f"d to {EVERY}"]
        fed = [s.iterations for s in schedule.units["root_write"] if s.comment == "broadcast d"]
        if update.early:
            assert update.bus == "d" and update.parts == 2
            # The words that the sum over classes takes come just in time, too.
            assert takes == [update.early] and sorted(fed) == sorted([6 - update.early, 12])
            found.add(update.early)
    assert found == {1, 2, 3, 4, 5}


def test_what_is_near_a_number_of_early_words_is_tried() -> None:
    graph = network(5, 8, 6)
    mapping = Search(graph, array(4)).candidates(1)[0]
    early = {m.fits[-1].early: m for m in taken_early_in_part(mapping, EFFORT)}
    near = [m for m in taken_early_in_part(early[3], EFFORT) if m.fits[:-1] == mapping.fits[:-1]]
    assert {m.fits[-1].early for m in near} == {2, 4}


def test_lanes_take_a_vector_as_the_root_makes_it() -> None:
    """Each of 12 words of b goes to the update of its row at once: no broadcast, and 12 cycles fewer of the root."""
    graph, template = network(4, 12, 3), array(4)
    material = materialise(graph, Q6_10)
    made = []
    for mapping in Search(material, template).candidates(40):
        for changed in as_made(mapping, EFFORT):
            before = schedule_mapping(graph, mapping, Q6_10)
            after = schedule_mapping(graph, changed, Q6_10)
            number = next(n for n, fit in enumerate(changed.fits) if fit.as_made)
            if before is None or after is None:
                continue
            vector = changed.fits[number].bus
            agree_on(after)
            assert issues(before, vector) and len(issues(after, vector)) == len(issues(before, vector)) - 1
            lanes = next(s for s in after.units["lane_issue"] if s.comment.endswith(graph.statements[number].target))
            root = next(s for s in after.units["root_write"] if s.comment.split()[-1] == vector)
            assert lanes.start == root.start + timing().broadcast - timing().operand
            assert root.body[0].field("to_bus") and "as it is made" in after.mapping.text()
            made.append((vector, before.cycles - after.cycles))
    assert {vector for vector, _ in made} == {"e"} and max(made)[1] > 0


def test_a_vector_in_groups_is_broadcast_again() -> None:
    """What is made in several strands is no longer taken as it is made, nor what the lanes take in parts."""
    graph = network(4, 12, 3)
    for mapping in Search(graph, array(4)).candidates(40):
        for changed in as_made(mapping, EFFORT):
            for further in changes(changed, EFFORT):
                for fit in further.fits:
                    if fit.as_made:
                        (maker,) = (further.fits[s.id] for s in graph.writers(fit.bus))
                        assert (fit.parts, maker.parts, maker.through) == (1, 1, False)


FURTHER = ("e[b] * y[c]", "d[c] * e[b]")
"""Gradients of a third model, of vectors that the others read, too."""


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(FURTHER), st.integers(2, 9), st.integers(6, 16), st.integers(3, 9), st.sampled_from([2, 4]))
def test_a_second_update_of_the_same_vector(further: str, n: int, m: int, k: int, pes: int) -> None:
    """It may read a copy, which lanes cannot write in the cycles in which they write the words of the first."""
    text = NETWORK.replace("gradient", "model v[{m}][{k}]; gradient g3[{m}][{k}] -> v; gradient", 1)
    graph = shaped_graph((text + f"g3[b][c] = {further};").format(n=n, m=m, k=k))
    template = array(pes)
    material = materialise(graph, Q6_10)
    for mapping in Search(material, template).candidates(20):
        for changed in as_made(mapping, EFFORT):
            schedule = schedule_mapping(graph, changed, Q6_10)
            if schedule is not None:
                check(schedule)
                agree_on(schedule)


def test_lanes_do_not_write_a_copy_and_what_they_make_at_once() -> None:
    """A second update reads a copy of all twelve words of e: no schedule, and `gen` finds another."""
    text = NETWORK.replace("gradient", "model v[{m}][{k}]; gradient g3[{m}][{k}] -> v; gradient", 1)
    graph = shaped_graph((text + "g3[b][c] = e[b] * y[c];").format(n=4, m=12, k=3))
    template = array(4)
    material = materialise(graph, Q6_10)
    candidates = Search(material, template).candidates(40)
    changed = [each for mapping in candidates for each in as_made(mapping, EFFORT)]
    assert None in [schedule_mapping(graph, each, Q6_10) for each in changed]


def test_a_root_that_broadcasts_does_not_take_sums_at_once() -> None:
    """w1 comes over the bus word by word for sums over samples up the tree: no schedule, where the two would meet."""
    text = """
    mu = 1; model_input x[20]; model_output y[12]; model w1[7][20]; model w2[12][7];
    iterator a[0:20]; iterator b[0:7]; iterator c[0:12]; gradient g1[7][20] -> w1; gradient g2[12][7] -> w2;
    h[b] = sum[a](w1[b][a] * x[a]); o[c] = sigmoid(sum[b](w2[c][b] * h[b])); d[c] = (o[c] - y[c]) * 0.5;
    e[b] = sum[c](w2[c][b] * d[c]) * 0.5; g1[b][a] = e[b] * w1[b][a]; g2[c][b] = d[c] * h[b];
    """
    graph = shaped(minibatched(lower(parse(Source.from_text(text)), number_format=Q6_10), 2), Q6_10)
    template = array(4)
    material = materialise(graph, Q6_10)
    made = [schedule_mapping(graph, mapping, Q6_10) for mapping in Search(material, template).candidates(40)]
    assert None in made
    for schedule in made:
        if schedule is not None:
            check(schedule)


def test_needless_parts_are_put_together() -> None:
    graph = network(5, 8, 6)
    mapping = Search(graph, array(4)).candidates(1)[0]
    parted = list(divided(mapping, EFFORT))
    assert parted and all(mapping in undivided(each, EFFORT) for each in parted)
    assert not list(undivided(mapping, EFFORT))


def test_sums_up_the_tree_are_taken_on_one_by_one() -> None:
    """Four samples a step: the error of each is made while the lanes sum the next one's products."""
    text = """
    model_input x[40]; model_output y; model w[40]; gradient g[40] -> w; iterator i[0:40];
    h = sum[i](w[i] * x[i]); e = h - y; g[i] = e * x[i];
    """
    graph = shaped(minibatched(lower(parse(Source.from_text(text)), number_format=Q6_10), 4), Q6_10)
    best = {}
    for change in (sums_in_turns, in_turns):
        for schedule in schedules(graph, 8, (change,)):
            agree_on(schedule)
            best[change] = min(schedule.cycles, best.get(change, schedule.cycles))
            if change is sums_in_turns and any(fit.way == "tree" and fit.parts == 4 for fit in schedule.mapping.fits):
                sums = [s for s in schedule.units["root_issue"] if s.body[0].field("base") == "tree"]
                assert [s.iterations for s in sums] == [1, 1, 1, 1]
                errors = [s.start for s in schedule.units["root_issue"] if s.comment.split()[-1] == "e"]
                assert sums[0].start < errors[0]
    assert sums_in_turns in best


RECOMMENDER = """
model_input x[10]; model_input r[12]; model_output y[12]; model w[12][10]; gradient g[12][10] -> w;
iterator i[0:12]; iterator l[0:10];
e[i] = sum[l](w[i][l] * x[l]) * r[i] - y[i];
g[i][l] = e[i] * x[l];
"""


def test_parts_of_rows_go_through_all_statements_in_waves() -> None:
    """Three rows of four lanes: what waits for a row's word finds the lanes busy with another row.

    10 products of each row, two operations for its error, 10 updates, and nothing else.
    """
    graph = shaped_graph(RECOMMENDER)
    template = array(4)
    material = materialise(graph, Q6_10)
    mapping = next(m for m in Search(material, template).candidates(8) if all(fit.way == "lane" for fit in m.fits))
    mapping = at_hand(mapping)
    plain = schedule_mapping(graph, mapping, Q6_10)
    found = [
        schedule_mapping(graph, changed, Q6_10)
        for changed in in_waves(mapping, EFFORT)
        if {fit.parts for fit in changed.fits} == {3}
    ]
    assert plain is not None and len(found) == 1 and found[0] is not None
    check(found[0])
    agree_on(found[0])
    assert found[0].cycles == 3 * (10 + 2 + 10) < plain.cycles
    starts = [(s.start, s.comment.split()[-1]) for s in found[0].units["lane_issue"]]
    assert [name for _, name in sorted(starts)] == (
        ["e.t1", "e.t1", "e", "e.t1", "e", "w.next", "e", "w.next", "w.next"]
    )


def test_what_samples_bring_is_at_hand() -> None:
    graph = network(5, 8, 6)
    mapping = Search(graph, array(4)).candidates(1)[0]
    streamed = {t.name for t in graph.tensors.values() if t.role in ("input", "label")}
    assert not any(fit.bus in streamed for fit in at_hand(mapping).fits)
