"""The search: what it returns is consistent, complete where it may look at everything, and always exists."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph.graph import Affine, Graph, Linear, Read
from tabla.schedule.check import check
from tabla.schedule.mapping.effort import EFFORTS, Effort
from tabla.schedule.mapping.fit import Fit
from tabla.schedule.mapping.mapping import Mapping, operands_of_functions, static_tensors
from tabla.schedule.mapping.places import EVERY, ROOT, Spot
from tabla.schedule.mapping.search import Search
from tabla.schedule.placing.build import schedule_mapping
from tests.graph.examples import Builder, at, product
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, agree_on, shaped_graph
from tests.schedule.mapping.single import array, legal_of, ways, written_at

EVERYTHING = replace(EFFORTS[2], beam=10**6, homes=10**6)
NEURON = """
model_input x[64]; model_output y; model w[64]; gradient g[64] -> w; iterator i[0:64];
p = sigmoid(sum[i](w[i] * x[i])); g[i] = (p - y) * x[i];
"""
both_kinds = st.booleans().flatmap(lambda learns: programs(learns=learns))


def legal(text: str) -> Graph:
    return legal_of(shaped_graph(text), Q6_10)


def consistent(mapping: Mapping, pes: int) -> None:
    """Every statement is computed in one of its ways, writes its tensor's home, and finds its operands."""
    graph = mapping.graph
    model_of = {following: model for model, following in graph.updates.items()}
    spots = {*mapping.copies, *mapping.homes.items()}
    spots |= {(following, mapping.homes[model]) for model, following in graph.updates.items()}
    for statement, fit in zip(graph.statements, mapping.fits, strict=True):
        assert fit in ways(statement, graph, pes)
        assert mapping.homes[model_of.get(statement.target, statement.target)] == written_at(statement, fit)
        for need in fit.needs:
            assert need in spots, f"s{statement.id} misses {need}"
    for tensor, spot in mapping.copies:
        # What the lanes compute reaches other lanes through the root.
        home = mapping.homes.get(tensor)
        if home is not None and home.kind == "lane" and spot.kind != "root" and tensor not in static_tensors(graph):
            assert (tensor, ROOT) in mapping.copies


@settings(max_examples=80)
@given(both_kinds, st.sampled_from([1, 2, 3, 4, 16]), st.sampled_from(EFFORTS), st.booleans(), st.booleans())
def test_candidates_are_consistent(text: str, pes: int, effort: Effort, clustered: bool, fused: bool) -> None:
    search = Search(legal(text), array(pes), effort=effort, clustered=clustered, fused=fused)
    found = search.candidates(effort.candidates)
    assert 1 <= len(found) <= effort.candidates
    for mapping in (*found, search.at_root()):
        consistent(mapping, pes)
    estimates = [mapping.estimate for mapping in found]
    assert estimates == sorted(estimates)
    for one, other in itertools.combinations(found, 2):
        assert one.fits != other.fits or one.homes != other.homes


@settings(max_examples=60)
@given(both_kinds, st.sampled_from([1, 2, 4, 8]), st.integers(0, 99))
def test_everything_at_the_root_always_exists_and_runs(text: str, pes: int, seed: int) -> None:
    graph = shaped_graph(text)
    mapping = Search(legal_of(graph, Q6_10), array(pes)).at_root()
    assert {fit.way for fit in mapping.fits} <= {"root"} and set(mapping.homes.values()) <= {ROOT}
    assert all(spot == ROOT for _, spot in mapping.copies)
    schedule = schedule_mapping(graph, mapping, Q6_10)
    assert schedule is not None
    check(schedule)
    agree_on(schedule, samples=2, seed=seed)


def enumerated(legal: Graph, pes: int) -> set[tuple[tuple[Fit, ...], frozenset[tuple[str, Spot]]]]:
    """All combinations of fits whose homes agree, by going through every one of them."""
    graph = legal
    model_of = {following: model for model, following in graph.updates.items()}
    found = set()
    for chosen in itertools.product(*(ways(statement, graph, pes) for statement in graph.statements)):
        homes: dict[str, set[Spot]] = {}
        for statement, fit in zip(graph.statements, chosen, strict=True):
            home = written_at(statement, fit)
            homes.setdefault(model_of.get(statement.target, statement.target), set()).add(home)
            # A statement cannot wait for a copy of what it makes.
            homes[model_of.get(statement.target, statement.target)] |= {
                spot for tensor, spot in fit.needs if tensor == statement.target
            }
        if all(len(spots) == 1 for spots in homes.values()):
            found.add((chosen, frozenset((tensor, spot) for tensor, (spot,) in homes.items())))
    return found


@settings(max_examples=60)
@given(both_kinds, st.sampled_from([1, 2, 3]))
def test_a_search_without_limits_finds_every_consistent_combination(text: str, pes: int) -> None:
    made = legal(text)
    combinations = 1
    for statement in made.statements:
        combinations *= len(ways(statement, made, pes))
    if combinations > 2000:
        return
    found = Search(made, array(pes), effort=EVERYTHING).candidates(10**6)
    assert {(mapping.fits, frozenset(mapping.homes.items())) for mapping in found} == enumerated(made, pes)
    assert len(found) == len({(mapping.fits, frozenset(mapping.homes.items())) for mapping in found})


def test_a_statement_does_not_wait_for_a_copy_of_what_it_makes() -> None:
    """The second half of a reads a word of the first: it would have to be in every lane before all of a is made."""
    builder = Builder()
    for name, role in (("x", "input"), ("w", "model"), ("a", "value")):
        builder.tensor(name, role, 8)
    builder.let("a", "i", Linear(terms=(product(at("w", "i"), at("x", "i")),)), i=4)
    first = Read(tensor="a", subscripts=(Affine.of(0),))
    builder.let("a", "i", Linear(terms=(product(first, at("x", "i")),)), i=4)
    builder.statements[1] = replace(builder.statements[1], write=(Affine.of(4, i=1),))
    made = legal_of(builder.graph("halves", {}, (("a", "a"),)), Q6_10)
    found = Search(made, array(4), effort=EVERYTHING).candidates(10**6)
    assert {(mapping.fits, frozenset(mapping.homes.items())) for mapping in found} == enumerated(made, 4)
    assert {mapping.homes["a"] for mapping in found} == {ROOT}


def test_a_neuron_is_spread_along_its_features() -> None:
    best = Search(legal(NEURON), array(4)).candidates(1)[0]
    assert best.homes["w"] == Spot("lane", 0)
    assert [fit.way for fit in best.fits if fit.index] == ["tree", "lane"]
    assert ("x", Spot("lane", 0)) in best.copies


def test_more_lanes_lower_the_estimate() -> None:
    estimates = [Search(legal(NEURON), array(pes)).candidates(1)[0].estimate for pes in (1, 4, 16, 64)]
    assert estimates == sorted(estimates, reverse=True) and len(set(estimates)) == 4


@pytest.mark.parametrize(("size", "home"), [(64, Spot("lane", 0)), (2, ROOT)])
def test_many_models_are_improved_one_after_the_other(size: int, home: Spot) -> None:
    """Of 2 to the power of 8 combinations of homes, only a few are looked at, and the best is among them."""
    names = [f"w{n}" for n in range(8)]
    text = f"model_input x[{size}]; iterator i[0:{size}];" + "".join(
        f"model {name}[{size}]; gradient g{name}[{size}] -> {name}; g{name}[i] = {name}[i] * x[i];" for name in names
    )
    made = legal(text)
    few = Search(made, array(8), effort=replace(EFFORTS[2], homes=4)).candidates(1)[0]
    every = Search(made, array(8), effort=replace(EFFORTS[2], homes=256)).candidates(1)[0]
    assert few.estimate == every.estimate
    assert set(few.homes[name] for name in names) == {home}


def test_operands_of_functions_come_to_the_root_at_once() -> None:
    made = legal("model_input x[8]; model w[8]; iterator i[0:8]; p[i] = w[i] * x[i]; q[i] = tanh(p[i]); r = q[0];")
    assert operands_of_functions(made) == {"p"}
    for fused in (False, True):
        mappings = Search(made, array(4), fused=fused).candidates(10)
        assert all(("p", ROOT) in m.copies or m.homes["p"] == ROOT for m in mappings)


def test_a_shared_copy_is_paid_once() -> None:
    """Two statements that read one tensor in every lane need one copy of it."""
    made = legal(
        "model_input x[4]; model_input z[3]; model w[4][3]; model v[4][3]; gradient g[4][3] -> w;"
        "gradient f[4][3] -> v; iterator i[0:4]; iterator j[0:3];"
        "g[i][j] = x[i] * z[j] * z[j]; f[i][j] = x[i] * z[j] * z[j];"
    )
    for mapping in Search(made, array(4)).candidates(6):
        assert len(mapping.copies) == len(set(mapping.copies))
        assert sum(1 for tensor, spot in mapping.copies if (tensor, spot) == ("z", EVERY)) <= 1
