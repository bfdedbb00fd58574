"""The layout file: with nothing else, a host packs and unpacks what the build's own host packs and unpacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.arrays import npz_bytes
from tabla.program.host import Host, halves
from tabla.program.positions import positions
from tests.program.probed_layout import layout_arrays

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CASES: list[tuple[str, dict[str, Any]]] = [
    ("backprop.t", {"pes": 4, "minibatch": 3, "results": ("h",)}),
    ("backprop.t", {"pes": 8, "pes_per_pu": 4, "stream_words": 8}),
    ("recommender.t", {"pes": 8, "stream_words": 4}),
    ("linear.t", {"pes": 4, "model_guard": 6, "results": ("h",)}),
    ("svm.t", {"pes": 4, "model_guard": 15, "stream_words": 2}),
]


def names(layout: dict[str, Any], kind: str) -> dict[str, Any]:
    """The arrays of one kind of unit, by tensor."""
    return {name.removeprefix(f"{kind}/"): places for name, places in layout.items() if name.startswith(f"{kind}/")}


@pytest.mark.parametrize(("program", "options"), CASES)
def test_units_are_those_of_the_host(program: str, options: dict[str, Any]) -> None:
    build = tabla.compile(EXAMPLES / program, effort=0, **options)
    schedule, chance = build.schedule, np.random.default_rng(2)
    host = Host(schedule)
    layout: dict[str, Any] = dict(positions(host))
    probed = layout_arrays(schedule)
    assert probed.keys() == layout.keys()
    for name, found_places in probed.items():
        # The copies of an element may come in another order.
        copied = name.startswith(("load/", "sample/"))
        here, there = (np.sort(a, axis=0) if copied else a for a in (found_places, layout[name]))
        assert here.tolist() == there.tolist(), name
    width, tensors = build.format.width, schedule.mapped.tensors
    reach = 1 << (width - 1)

    models, unit = {}, layout["load.template"].copy()
    for name, places in names(layout, "load").items():
        if name.endswith(".guard"):
            continue
        guard = tensors[name].guard
        models[name] = chance.integers(-(reach << guard), reach << guard, places.shape[1:])
        words = {name: models[name] >> guard}
        if guard:
            words = dict(zip((name, f"{name}.guard"), halves(models[name], guard, width), strict=True))
        for each, here in words.items():
            for copy in layout[f"load/{each}"]:
                unit[copy] = here
    assert unit.tolist() == host.load_beats(models).reshape(-1).tolist()
    assert any(tensors[name].guard for name in models) == bool(options.get("model_guard"))

    inputs, unit = {}, layout["sample.template"].copy()
    for name, places in names(layout, "sample").items():
        inputs[name] = chance.integers(-reach, reach, places.shape[1:])
        for copy in places:
            unit[copy] = inputs[name]
    assert unit.tolist() == host.sample_beats({n: words[None] for n, words in inputs.items()}).reshape(-1).tolist()

    words = chance.integers(-reach, reach, len(layout["result.template"]))
    found = host.results(words) if len(words) else {}
    assert set(found) == set(names(layout, "result"))
    for name, held in found.items():
        assert words[layout[f"result/{name}"]].tolist() == held[0].tolist()

    words = chance.integers(-reach, reach, len(layout["dump.template"]))
    for name, parts in host.dumped(words).items():
        for each, held in zip((name, f"{name}.guard"), parts, strict=False):
            assert words[layout[f"dump/{each}"]].tolist() == held.tolist()
    assert set(names(layout, "dump")) == set(names(layout, "load"))


def test_the_file_has_the_same_bytes_each_time() -> None:
    schedule = tabla.compile(EXAMPLES / "linear.t", pes=2, effort=0).schedule
    assert npz_bytes(positions(Host(schedule))) == npz_bytes(positions(Host(schedule)))
