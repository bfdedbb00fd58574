"""A case for a host of the wrapper: the units that go in, and the words that must come out, as the evaluation says."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabla.build.files.bus import sustained_cycles
from tabla.build.files.registers import register_entries
from tabla.driver import Build
from tabla.graph.evaluate import FixedPlan, Run
from tabla.hw.bus.axi import AxiWrapper
from tabla.hw.emit import component_verilog, verilog
from tabla.program.bus import BusShape
from tabla.program.host import GUARD, Host, halves
from tabla.program.positions import positions
from tabla.program.protocol import fingerprint
from tabla.templates.bus import registers

PREDICTED = 2
"""The units that are learned before all units are predicted."""


def placed(template: Any, positions: dict[str, Any], words: dict[str, Any]) -> list[int]:
    """A unit, as docs/host-bus.md says: the template with the words of each tensor in all their places."""
    unit = template.copy()
    for name, places in positions.items():
        for copy in places:
            unit[copy] = words[name]
    return [int(word) for word in unit]


def case_of(build: Build, *, bus_bits: int, units: int, seed: int) -> dict[str, Any]:
    """The units of a run with random words, and what the evaluation says of them."""
    schedule, shape = build.schedule, shape_of(build, bus_bits)
    layout = positions(Host(schedule))
    by_kind: dict[str, dict[str, Any]] = {kind: {} for kind in ("load", "sample", "result", "dump")}
    for name, places in layout.items():
        kind, slash, tensor = name.partition("/")
        if slash:
            by_kind.setdefault(kind, {})[tensor] = places
    chance = np.random.default_rng(seed)
    reach, width, tensors = build.format.one, build.format.width, build.schedule.mapped.tensors
    guards = {n: tensors[n].guard for n in by_kind["load"] if not n.endswith(GUARD)}
    models = {n: chance.integers(-(reach << g), reach << g, by_kind["load"][n].shape[1:]) for n, g in guards.items()}
    if build.image.first is not None:  # the memories start with these
        models = {n: build.word_type(n).to_words(build.reading.models[n]) for n in guards}
    inputs = {n: chance.integers(-reach, reach, (units, *p.shape[1:])) for n, p in by_kind["sample"].items()}
    shown = dict(build.lowered.results)
    results: list[list[int]] = []
    dumps = []
    plan = FixedPlan.of(build.lowered, build.format)

    def words_of(held: dict[str, Any]) -> dict[str, Any]:
        """The words of models, and those of their guards."""
        found: dict[str, Any] = {}
        for name, guard in guards.items():
            words, rest = halves(held[name], guard, width) if guard else (held[name], None)
            found |= {name: words} | ({} if rest is None else {f"{name}{GUARD}": rest})
        return found

    def step(one: dict[str, Any], before: dict[str, Any]) -> Run:
        """A step from these models."""
        plan.load(before)
        return plan.run(one, list(shown.values()), 1)

    def result_of(made: Run) -> list[int]:
        """The unit of a step's results."""
        unit = layout["result.template"].copy()
        for name, tensor in shown.items():
            unit[by_kind["result"][name]] = made.kept[tensor].reshape(by_kind["result"][name].shape)
        return [int(word) for word in unit]

    held: dict[str, Any] = models
    predicted: dict[int, list[list[int]]] = {}
    for unit in range(units + 1):
        words = words_of(held)
        if shape.predicts and unit == PREDICTED:
            predicted[unit] = [
                result_of(step({n: each[at : at + 1] for n, each in inputs.items()}, held)) for at in range(units)
            ]
        dumps.append([(int(at), int(w)) for n, p in by_kind["dump"].items() for at, w in np.broadcast(p, words[n])])
        if unit == units:
            break
        made = step({n: each[unit : unit + 1] for n, each in inputs.items()}, held)
        held = made.models
        results.append(result_of(made))
    return {
        "registers": register_entries({"FINGERPRINT": fingerprint(build.image)}, registers(shape.predicts)),
        "predicts": shape.predicts,
        "predicted": predicted,
        "ignored": list(shape.ignored),
        "container": shape.container,
        "width": shape.width,
        "bus_bits": bus_bits,
        "unit_cycles": sustained_cycles(schedule, shape),
        "never_waits": bus_bits >= shape.stream_words * shape.container,
        "load": placed(layout["load.template"], by_kind["load"], words_of(models)),
        "units": [
            placed(layout["sample.template"], by_kind["sample"], {n: words[unit] for n, words in inputs.items()})
            for unit in range(units)
        ],
        "results": results,
        "dumps": dumps,
        "dump_words": len(layout["dump.template"]),
        "preloaded": build.image.first is not None,
    }


def shape_of(build: Build, bus_bits: int) -> BusShape:
    """The sizes of the wrapper of a build."""
    ignored = Host(build.schedule).ignored if build.image.parameters.predicts else ()
    return BusShape.of(build.image, bus_bits=bus_bits, dump_count=build.schedule.dump_count, ignored=ignored)


def wrapped_verilog(build: Build, bus_bits: int) -> str:
    """The Verilog of a build and of its wrapper, the module ``<name>_axi``."""
    wrapper = AxiWrapper(image=build.image, shape=shape_of(build, bus_bits), accelerator=build.module)
    return verilog(build.image, build.module, stoppable=True) + component_verilog(wrapper, f"{build.module}_axi")
