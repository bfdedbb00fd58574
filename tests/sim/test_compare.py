"""Differences between engines are found and told in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.host.engines.amaranth_run import AmaranthMachine
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.sim.compare import Stimulus, compare, difference, play
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import template_for
from tests.schedule.agreement import Q6_10, draw_words, shaped_graph
from tests.sim.hand_images import linear

CASE = linear(2, samples=6)
STIMULUS = Stimulus(load=CASE.load, beats=CASE.beats, samples=6, dump=CASE.dump, chunk=2)


def test_equal_machines_agree() -> None:
    assert compare({"one": CycleModel(CASE.image), "other": CycleModel(CASE.image, strict=False)}, STIMULUS) is None


def test_another_period_shows_as_a_cycle() -> None:
    other = replace(CASE.image, run=replace(CASE.image.run, period=60), release=36)
    quick = replace(CASE.image, release=36)
    found = compare({"model": CycleModel(quick), "icarus": CycleModel(other)}, STIMULUS)
    assert found is not None
    assert str(found).startswith("sample 1, cycle of the token: model says ")


class _Wrong(CycleModel):
    """Slips in the fourth sample."""

    def run(self, *arguments: object, **more: object) -> object:  # type: ignore[override]
        result = super().run(*arguments, **more)  # type: ignore[arg-type]
        self.done = getattr(self, "done", 0) + 1
        if self.done == 2:
            result.outputs[self.slip] += 1
        return result

    slip = 1


def test_a_wrong_word_is_named() -> None:
    found = compare({"model": CycleModel(CASE.image), "verilator": _Wrong(CASE.image)}, STIMULUS)
    expected = CASE.outputs[3] if CASE.outputs else None
    assert str(found) == f"sample 3, output word 0: model says {expected}, verilator says {expected + 1}"


@pytest.mark.parametrize(("lane", "place"), [(1, "lane 1, model word 2"), (2, "root memory word 2")])
def test_a_wrong_model_word_is_named(lane: int, place: str) -> None:
    class Broken(CycleModel):
        def dump(self, count: int) -> list[int]:
            words = super().dump(count)
            words[2 * 3 + lane] ^= 1
            return words

    found = compare({"model": CycleModel(CASE.image), "amaranth": Broken(CASE.image)}, STIMULUS)
    assert str(found).startswith(f"{place} after sample 1: model says ")


MODELS = """
mu = 0.5; model_input x; model a[3][7], b[9]; gradient ga[3][7] -> a, gb[9] -> b;
iterator i[0:3]; iterator j[0:7]; iterator k[0:9];
ga[i][j] = a[i][j] * x; gb[k] = exp(b[k]);
"""


def test_words_of_a_dump_without_a_meaning_are_not_compared() -> None:
    """The memories of the lanes are shallower than that of the root, so a dump goes on behind their end."""
    graph = shaped_graph(MODELS)
    schedule = schedule_graph(graph, template_for(4), Q6_10, EFFORTS[0])
    host, image = Host(schedule), encode(schedule)
    inputs, models = draw_words(graph, Q6_10, 2, 1)
    whole = Stimulus(load=host.load_beats(models), beats=host.sample_beats(inputs), samples=2, dump=host.dump_count)
    masked = replace(whole, shown=host.shown)
    machines = {"model": CycleModel(image), "hardware": AmaranthMachine(image)}
    found = compare(machines, whole)
    assert found is not None and "model word 8" in found.place
    assert compare(machines, masked) is None
    assert len(host.shown) == 21 + 9
    # A word of a model that differs is still seen.
    changed = replace(masked, load=host.load_beats({**models, "b": models["b"] + 1}))
    steps = [play(CycleModel(image), each) for each in (masked, changed)]
    assert difference(image, ("one", steps[0]), ("other", steps[1])) is not None
