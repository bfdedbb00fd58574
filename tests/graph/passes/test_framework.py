"""What a pass is: its name, its description, what it needs, and its condition."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tabla.base.source import TablaValueError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes import framework
from tabla.graph.passes.drop_dead import drop_dead
from tabla.graph.passes.framework import Condition, Pass, Setting, graph_pass, pass_named
from tabla.graph.passes.inference import predicting
from tabla.graph.passes.pipeline import (
    LEGALISE,
    MOST_ROUNDS,
    PREPARE,
    SHAPE,
    SIMPLIFY,
    Group,
    all_passes,
    groups,
    pass_runs,
)
from tests.graph.examples import logistic

Q6_10 = Format.parse("q6.10")


@pytest.fixture(autouse=True)
def unregistered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The passes of these tests are forgotten afterwards."""
    monkeypatch.setattr(framework, "_REGISTERED", dict(framework._REGISTERED))
    yield


def test_a_pass_is_given_what_its_parameters_name() -> None:
    seen = list[object]()

    @graph_pass("notes", "note what it is given")
    def noting(graph: Graph, pes: int | None, fmt: Format, samples: int, guard: int, predict: str | None) -> Graph:
        seen.extend([pes, fmt, samples, guard, predict])
        return graph

    assert noting.needs == ("pes", "fmt", "samples", "guard", "predict")
    noting.run(logistic(3), Setting(fmt=Q6_10, pes=8, samples=2, guard=3, predict="p"))
    assert seen == [8, Q6_10, 2, 3, "p"]
    assert noting(logistic(3), 4, Q6_10, 1, guard=0, predict=None) == logistic(3)
    assert seen[5:] == [4, Q6_10, 1, 0, None]


def test_a_pass_without_work_leaves_the_graph() -> None:
    ran = list[int]()

    @graph_pass("wide", "note wide arrays", condition=Condition(text="there are two PEs", holds=lambda pes: pes >= 2))
    def wide(graph: Graph, fmt: Format, pes: int) -> Graph:
        ran.append(pes)
        return replace(graph, name="wide")

    graph = logistic(3)
    assert wide(graph, Q6_10, 1) is graph and not wide.applies(graph, Setting(fmt=Q6_10, pes=1)) and not ran
    assert wide(graph, Q6_10, pes=2).name == "wide" and wide.applies(graph, Setting(fmt=Q6_10, pes=2))
    assert wide.run(graph, Setting(fmt=Q6_10, pes=3)).name == "wide" and ran == [2, 3]
    assert wide.run(graph, Setting(fmt=Q6_10, pes=1)) is graph and ran == [2, 3]


def test_what_is_no_pass_is_refused() -> None:
    def needy(graph: Graph, colour: str) -> Graph:
        return graph

    def nothing() -> Graph:
        return logistic(3)

    with pytest.raises(TablaValueError, match="takes 'colour', which no pass can have") as fault:
        graph_pass("needy", "ask for a colour")(needy)
    assert fault.value.hint is not None and "fmt, samples, guard, pes, scatters, predict" in fault.value.hint
    with pytest.raises(TablaValueError, match="takes no graph"):
        graph_pass("nothing", "return a graph")(nothing)
    for description in ("", "two\nlines"):
        with pytest.raises(TablaValueError, match="no description of one line"):
            Pass(name="silent", description=description, function=lambda graph: graph)
    with pytest.raises(TablaValueError, match="the condition of the pass 'blind' takes 'pes'"):
        Pass(
            name="blind",
            description="ask in vain",
            function=lambda graph: graph,
            condition=Condition(text="there are PEs", holds=lambda graph, pes: bool(pes)),
        )


def test_a_name_belongs_to_one_pass() -> None:
    @graph_pass("one", "do nothing")
    def one(graph: Graph) -> Graph:
        return graph

    again = graph_pass("one", "do nothing, too")(one.function)  # a module that is imported anew
    assert [each for each in framework.registered() if each.name == "one"] == [again]
    with pytest.raises(TablaValueError, match=r"there is a pass 'one' already, .*test_a_name_belongs_to_one_pass"):

        @graph_pass("one", "do something else")
        def other(graph: Graph) -> Graph:
            return graph


def test_all_passes_are_registered_and_placed() -> None:
    placed = {each.name: each for each in (*all_passes(), predicting)}
    assert {each.name: each for each in framework.registered() if _ours(each)} == placed
    assert [group.name for group in groups()] == ["prepare", "simplify", "shape", "legalise"]
    assert len({each.description for each in placed.values()}) == len(placed)


def _ours(one: Pass[...]) -> bool:
    return one.function.__module__.startswith("tabla.")


def test_which_groups_repeat() -> None:
    assert [group.repeats for group in (PREPARE, SIMPLIFY, SHAPE, LEGALISE)] == [False, True, True, False]


def test_passes_of_ones_own_end_each_round() -> None:
    own = Pass(name="own", description="do nothing", function=lambda graph: graph)
    assert groups([own])[1].passes == (*SIMPLIFY.passes, own)
    assert own not in all_passes()


def test_rounds_end_when_one_changes_nothing_or_at_the_limit() -> None:
    growing = Pass(name="grow", description="grow", function=lambda graph: replace(graph, notes=(*graph.notes, "n")))
    endless = list(pass_runs(logistic(3), Setting(fmt=Q6_10), Group(name="g", passes=(growing,), repeats=True)))
    assert [each.round for each in endless] == list(range(1, MOST_ROUNDS + 1))
    assert len(endless[-1].after.notes) == MOST_ROUNDS
    thrice = Pass(name="thrice", description="note", function=lambda graph: replace(graph, notes=("n",)))
    runs = list(pass_runs(logistic(3), Setting(fmt=Q6_10), Group(name="g", passes=(thrice,), repeats=True)))
    assert [each.round for each in runs] == [1, 2] and runs[1].before is runs[0].after
    once = list(pass_runs(logistic(3), Setting(fmt=Q6_10), Group(name="g", passes=(growing,))))
    assert len(once) == 1


def test_an_unknown_name_is_answered_with_one_like_it() -> None:
    assert pass_named("drop-dead", all_passes()) is drop_dead
    with pytest.raises(TablaValueError, match="there is no pass 'drop-ded'") as fault:
        pass_named("drop-ded", all_passes())
    assert fault.value.hint == "did you mean drop-dead?"
    with pytest.raises(TablaValueError) as fault:
        pass_named("xyz", all_passes())
    assert fault.value.hint == "tabla pass --list names all"


def minibatched_logistic(graph: Graph) -> Graph:
    return logistic(graph.samples)


def test_a_pass_goes_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(drop_dead)) is drop_dead
    plain = Pass(name="plain", description="make an example", function=minibatched_logistic)
    again = pickle.loads(pickle.dumps(plain))
    assert again == plain and isinstance(again, Pass)
