"""The mapping stage with judges that schedule nothing: it takes what its judge likes best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import pytest

from tabla.base.source import TablaError
from tabla.schedule.mapping.candidates import candidates
from tabla.schedule.mapping.effort import EFFORTS, Effort
from tabla.schedule.mapping.judge import Figures
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.stage import map_graph
from tabla.schedule.placing.build import judge_of, schedule_mapping
from tabla.templates.template import template_for
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.bank import bank
from tests.schedule.mapping.judges import Remembering, estimated
from tests.schedule.mapping.single import legal_of

LAYER = """
model_input x[16]; model_output y[8]; model w[8][16]; gradient g[8][16] -> w; iterator i[0:16]; iterator k[0:8];
s[k] = sum[i](w[k][i] * x[i]); p[k] = sigmoid(s[k]); g[k][i] = (p[k] - y[k]) * x[i];
"""

NETWORK = """
model_input x[8]; model w[12][8]; model v[5][12]; iterator i[0:8]; iterator j[0:12]; iterator k[0:5];
h[j] = tanh(sum[i](w[j][i] * x[i])); p[k] = sigmoid(sum[j](v[k][j] * h[j]));
"""


def mapped(judge: Callable[[Mapping], int | None], effort: Effort, text: str = LAYER, pes: int = 16) -> Mapping:
    graph = shaped_graph(text)
    legal = legal_of(graph, Q6_10)
    return map_graph(graph, legal, template_for(pes), Q6_10, judge=Remembering(judge), effort=effort)


@pytest.mark.parametrize("effort", EFFORTS[:3], ids=["0", "1", "2"])
def test_the_judge_decides(effort: Effort) -> None:
    """Whichever of the mappings that it saw the judge likes best, that one is returned."""
    graph = shaped_graph(LAYER)
    legal = legal_of(graph, Q6_10)
    for favourite in range(2):
        judge = Remembering(lambda _: 1 if len(judge.seen) == favourite + 1 else 1000)  # noqa: B023
        found = map_graph(graph, legal, template_for(4), Q6_10, judge=judge, effort=effort)
        assert found == judge.seen[favourite]


@pytest.mark.parametrize("effort", EFFORTS[:3], ids=["0", "1", "2"])
def test_if_only_the_root_can_be_scheduled_all_is_computed_there(effort: Effort) -> None:
    def only_root(mapping: Mapping) -> int | None:
        return 100 if all(fit.way == "root" for fit in mapping.fits) else None

    assert {fit.way for fit in mapped(only_root, effort).fits} == {"root"}


def test_if_nothing_can_be_scheduled_the_program_is_too_large() -> None:
    with pytest.raises(TablaError, match=r"needs a memory of more than 8,388,608 words") as caught:
        mapped(lambda _: None, EFFORTS[2])
    assert caught.value.hint


def test_roots_are_tried_and_taken_where_they_pay() -> None:
    def roots(mapping: Mapping) -> int:
        return 10 if mapping.template.roots == 4 else 100

    assert mapped(roots, EFFORTS[2]).template.roots == 4
    assert mapped(roots, EFFORTS[0]).template.roots == 1, "no effort tries one root only"


def test_a_root_that_saves_less_than_it_costs_is_left_out() -> None:
    """Four roots weigh like 1.8 of 16 lanes, so they must save more than a tenth of the cycles."""
    assert mapped(lambda m: 90 if m.template.roots == 4 else 100, EFFORTS[2]).template.roots == 1
    assert mapped(lambda m: 89 if m.template.roots == 4 else 100, EFFORTS[2]).template.roots == 4


def test_sequencers_are_tried_and_taken_where_they_pay() -> None:
    found = mapped(lambda m: 10 if m.template.sequencers == 2 else 100, EFFORTS[2], bank(4))
    assert found.template.sequencers == 2
    assert mapped(lambda m: 10 if m.template.sequencers == 2 else 100, EFFORTS[0], bank(4)).template.sequencers == 1


def test_changes_go_on_from_the_best() -> None:
    """A judge that likes each part of a statement better than the one before leads to the most parts that are tried."""

    def parts(mapping: Mapping) -> int:
        return 1000 - sum(fit.parts for fit in mapping.fits)

    none, some = mapped(parts, EFFORTS[0]), mapped(parts, EFFORTS[1])
    assert max(fit.parts for fit in none.fits) == 1 < max(fit.parts for fit in some.fits)


def test_the_same_search_finds_the_same() -> None:
    assert mapped(estimated, EFFORTS[2]) == mapped(estimated, EFFORTS[2])


def test_a_cut_whose_fastest_mapping_is_hopeless_is_left() -> None:
    """More than 1.5 times the cycles of one root: the first mapping of each cut is judged, and no other."""

    def seen(effort: Effort) -> int:
        graph, judge = shaped_graph(LAYER), Remembering(lambda m: 100 if m.template.roots == 1 else 151)
        map_graph(graph, legal_of(graph, Q6_10), template_for(16), Q6_10, judge=judge, effort=effort)
        return sum(m.template.roots == 4 and m.template.sequencers == 1 for m in judge.seen)

    plain = replace(EFFORTS[2], starts=0, hastened=0, cuts=1)
    assert seen(plain) == 1 < seen(replace(plain, hopeless=9))
    # The program has more than one statement, so a short one may have no more than that.
    assert seen(replace(plain, short=1, hopeless=9)) == 1 < seen(replace(plain, short=1, hopeless_of_long=9))


def test_one_root_is_left_in_long_programs_alone() -> None:
    """Mappings of a short program differ much: another one than the first may take the fewest cycles."""

    def seen(effort: Effort) -> int:
        graph = shaped_graph(LAYER)
        judge = Remembering(lambda m: 1000 if m.template.roots == 1 and m.template.sequencers == 1 else 100)
        map_graph(graph, legal_of(graph, Q6_10), template_for(16), Q6_10, judge=judge, effort=effort)
        return sum(m.template.roots == 1 and m.template.sequencers == 1 for m in judge.seen)

    plain = replace(EFFORTS[2], starts=0, hastened=0)
    assert seen(replace(plain, short=1)) == 1 < seen(plain)


@pytest.mark.parametrize("effort", EFFORTS[:3], ids=["0", "1", "2"])
@pytest.mark.parametrize("text", [LAYER, NETWORK], ids=["learning", "inference"])
def test_what_is_not_judged_for_its_cycles_would_not_have_been_chosen(text: str, effort: Effort) -> None:
    """The search finds the same mapping if every schedule is made whole, however many cycles it takes."""
    graph, template = shaped_graph(text), template_for(8)
    legal, real = legal_of(graph, Q6_10), judge_of(graph, Q6_10)
    refused = 0

    def brief(mapping: Mapping, most: float) -> Figures | None:
        nonlocal refused
        figures = real(mapping, most)
        refused += figures is None
        return figures

    def whole(mapping: Mapping, _: float) -> Figures | None:
        return real(mapping, inf)

    one, other = (map_graph(graph, legal, template, Q6_10, judge=judge, effort=effort) for judge in (brief, whole))
    assert one == other
    assert refused or effort is not EFFORTS[2]


@pytest.mark.parametrize("text", [LAYER, NETWORK], ids=["learning", "inference"])
def test_a_schedule_of_as_many_cycles_as_are_wanted_is_made(text: str) -> None:
    """One cycle less may be answered with None, and a single cycle is."""
    graph, template = shaped_graph(text), template_for(4).with_roots(1).with_sequencers(1)
    for mapping in candidates(legal_of(graph, Q6_10), template, EFFORTS[2]):
        whole = schedule_mapping(graph, mapping, Q6_10)
        assert whole is not None
        again = schedule_mapping(graph, mapping, Q6_10, most=whole.cycles)
        assert again is not None and again.text() == whole.text()
        assert schedule_mapping(graph, mapping, Q6_10, most=1) is None
