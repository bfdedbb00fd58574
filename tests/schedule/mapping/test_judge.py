"""What is weighed of two schedules, and in which order."""

from __future__ import annotations

from dataclasses import replace

from tabla.schedule.mapping.effort import EFFORTS, of_calls
from tabla.schedule.mapping.judge import Judged, judged
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.search import Search
from tabla.templates.template import Template
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.mapping.judges import Remembering, figures
from tests.schedule.mapping.single import array, legal_of

EFFORT = replace(EFFORTS[2], root_price=0.5, sequencer_price=2.0)
TEXT = "model_input x[4]; model w[4]; gradient g[4] -> w; iterator i[0:4]; g[i] = w[i] * x[i];"


def on(template: Template) -> Mapping:
    return Search(legal_of(shaped_graph(TEXT), Q6_10), template).at_root()


def cycles_of(template: Template, cycles: int, *, too_large: bool = False) -> float:
    return Judged(mapping=on(template), figures=figures(cycles, too_large=too_large)).merit(EFFORT)[0]


def test_one_root_and_one_sequencer_cost_nothing() -> None:
    assert cycles_of(array(8), 100) == 100


def test_further_roots_and_sequencers_weigh_like_lanes() -> None:
    """Half a lane of eight for each further root, two lanes of eight for a further sequencer."""
    assert cycles_of(array(8, roots=2), 100) == 100 * (1 + 0.5 / 8)
    assert cycles_of(array(8, roots=4), 100) == 100 * (1 + 3 * 0.5 / 8)
    assert cycles_of(array(8, sequencers=2), 100) == 100 * (1 + 2 / 8)


def test_block_rams_weigh_like_lanes() -> None:
    """Without updates, one more block RAM in every lane must save a thousandth of the cycles."""
    judged = Judged(mapping=on(array(8)), figures=figures(100, blocks=16))
    assert judged.merit(replace(EFFORT, block_price=0.25))[0] == 100 * (1 + 16 * 0.25 / 8)
    assert judged.merit(of_calls(EFFORTS[2]))[0] == 100 * (1 + 2 / 1000)
    assert judged.merit(EFFORTS[2])[0] == 100
    assert judged.merit(replace(of_calls(EFFORTS[2]), objective="latency")) == (0, 0, 100, 0)


def test_what_does_not_fit_counts_twice() -> None:
    assert cycles_of(array(8), 100, too_large=True) == 200


def test_block_rams_of_the_named_part_cost_nothing_and_no_schedule_wins_with_more() -> None:
    """One root has a table of a function, which takes two block RAMs, and the words that leave take one."""
    part, effort = replace(array(8), block_rams=50), of_calls(EFFORTS[2])

    def weighed(blocks: int, *, too_large: bool = False) -> float:
        made = replace(figures(100, blocks=16, too_large=too_large), blocks=blocks)
        return Judged(mapping=on(part), figures=made).merit(effort)[0]

    assert weighed(0) == weighed(47) == 100
    assert weighed(48) == 100 * 1000 * (1 + 1 / 50)
    assert weighed(97) == 100 * 1000 * (1 + 50 / 50)
    assert weighed(0, too_large=True) == 200
    latency = Judged(mapping=on(part), figures=replace(figures(100, 60), blocks=97))
    assert latency.merit(replace(effort, objective="latency"))[0] == 60 * 2000


def test_cycles_then_wires_then_latency_then_microcode() -> None:
    mapping = on(array(8))
    wired = replace(mapping, fits=tuple(replace(fit, as_made=True) for fit in mapping.fits))
    order = [
        Judged(mapping=wired, figures=figures(9, 99, 99)),
        Judged(mapping=mapping, figures=figures(10, 5, 99)),
        Judged(mapping=mapping, figures=figures(10, 6, 1)),
        Judged(mapping=mapping, figures=figures(10, 6, 2)),
        Judged(mapping=wired, figures=figures(10, 1, 1)),
    ]
    merits = [each.merit(EFFORT) for each in order]
    assert merits == sorted(merits) and len(set(merits)) == len(merits)
    assert merits[0] == (9, len(mapping.fits), 99, 99)


def test_a_mapping_without_a_schedule_is_not_judged() -> None:
    mapping = on(array(8))
    assert judged(mapping, Remembering(lambda _: None)) is None
    found = judged(mapping, Remembering(lambda _: 7))
    assert found is not None and found.mapping is mapping and found.figures.cycles == 7
