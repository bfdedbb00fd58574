"""How many changes of a long program are tried: a budget for each round, and rounds that must be worth their time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tabla.schedule.mapping.changes import changes
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS, Effort
from tabla.schedule.mapping.improve import improved
from tabla.schedule.mapping.judge import Figures, Judged
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.search import Search
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.mapping.judges import figures
from tests.schedule.mapping.single import array, legal_of

EFFORT = replace(EFFORTS[DEFAULT_EFFORT], change_beam=1)


def layers(number: int) -> Mapping:
    """The first mapping by the estimate of a network of layers of 8 neurons on 8 PEs, whose weights stay."""
    lines = ["model_input x[8]; iterator i[0:8]; iterator j[0:8];"]
    last = "x"
    for layer in range(number):
        lines.append(f"model_input w{layer}[8][8]; h{layer}[j] = sum[i](w{layer}[j][i] * {last}[i]) > 0;")
        last = f"h{layer}"
    legal = legal_of(shaped_graph("\n".join(lines)), Q6_10)
    mapping = Search(legal, array(8), effort=EFFORT).candidates(1)[0]
    assert len(mapping.graph.statements) == number
    return mapping


class Recording:
    """A judge that counts: `figures_of` has the figures by the number of the mapping that is judged, from 1 on."""

    def __init__(self, figures_of: Callable[[int], Figures]) -> None:
        self.figures_of = figures_of
        self.seen: list[Mapping] = []

    def __call__(self, mapping: Mapping, _: float) -> Figures | None:
        self.seen.append(mapping)
        return self.figures_of(len(self.seen))


def tried(mapping: Mapping, effort: Effort, figures_of: Callable[[int], Figures]) -> list[Mapping]:
    """The mappings that are judged while a mapping is improved."""
    judge = Recording(figures_of)
    improved(Judged(mapping=mapping, figures=figures_of(0)), judge, effort)
    return judge.seen


def nothing_gained(statements: int) -> Callable[[int], Figures]:
    return lambda _: figures(1000, waits=(0,) * statements)


def test_a_short_program_has_all_changes() -> None:
    mapping = layers(9)
    effort = replace(EFFORT, short=9, work=9)
    assert len(tried(mapping, effort, nothing_gained(9))) == len(list(changes(mapping, effort))) > 7


@pytest.mark.parametrize("mappings", [1, 3, 7])
def test_a_round_of_a_long_program_schedules_so_many_statements(mappings: int) -> None:
    mapping = layers(9)
    effort = replace(EFFORT, short=8, work=9 * mappings + 8)
    assert len(list(changes(mapping, effort))) > 7
    assert len(tried(mapping, effort, nothing_gained(9))) == mappings


def test_changes_of_statements_that_wait_come_first() -> None:
    mapping = layers(9)
    every = list(changes(mapping, EFFORT))
    waits = (0, 0, 0, 90, 0, 0, 0, 0, 0)
    (chosen,) = tried(mapping, replace(EFFORT, short=8, work=9), lambda _: figures(1000, waits=waits))
    # The statement itself waits less, or the statement before it makes its words sooner.
    touched = {n for n, (one, other) in enumerate(zip(mapping.fits, chosen.fits, strict=True)) if one != other}
    assert touched & {2, 3}
    assert repr(chosen) != repr(every[0])


def test_changes_for_which_no_unit_waits_are_left_out() -> None:
    mapping = layers(9)

    def judged(cycles: int, wait: int) -> int:
        return len(tried(mapping, replace(EFFORT, short=8), lambda _: figures(cycles, waits=(wait,) * 9)))

    every = len(list(changes(mapping, EFFORT)))
    # A change touches a statement and one that reads its results. Two times 40 cycles are less than a thousandth.
    assert judged(100_000, 0) == judged(100_000, 40) == 0
    assert judged(100_000, 100) == every
    # A thousandth of a short sample is a cycle, which any change may save.
    assert judged(1_000, 0) == every


def test_several_sequencers_have_all_changes() -> None:
    """A change moves work from one sequencer to another, and no waiting says what that saves."""
    one = layers(9)
    mapping = replace(one, template=one.template.with_sequencers(2))
    found = tried(mapping, replace(EFFORT, short=8), lambda _: figures(100_000, waits=(0,) * 9))
    assert len(found) == len(list(changes(mapping, EFFORT))) > 0


def test_a_round_that_saves_too_little_is_the_last() -> None:
    """Each mapping that is judged saves one cycle of 100,000, and the first round has several."""
    mapping = layers(9)
    waits = (1000,) * 9
    slow, some = (lambda n: figures(100_000 - n, waits=waits)), (lambda n: figures(100_000 - 200 * n, waits=waits))
    one_round = len(list(changes(mapping, EFFORT)))
    assert len(tried(mapping, replace(EFFORT, short=8), slow)) == one_round
    assert len(tried(mapping, replace(EFFORT, short=8), some)) > one_round
    assert len(tried(mapping, replace(EFFORT, short=8, least_gain=0.0), slow)) > one_round
    assert len(tried(mapping, replace(EFFORT, short=9), slow)) > one_round


def test_what_a_last_round_saves_is_kept() -> None:
    mapping = layers(9)
    judge = Recording(lambda n: figures(100_000 - n, waits=(1000,) * 9))
    start = Judged(mapping=mapping, figures=judge.figures_of(0))
    best = improved(start, judge, replace(EFFORT, short=8))
    assert best.figures.cycles == 100_000 - len(judge.seen)
