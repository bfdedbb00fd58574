"""The overlays that random programs are run on. CXXRTL compiles each once, and it takes one program after another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from tabla.graph.format import Format
from tabla.host.engines.port_machine import PortMachine
from tabla.host.engines.session import overlay_machine
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.program.overlay import Overlay, overlay_of
from tabla.schedule.placing.schedule import Schedule
from tabla.sim.machine import BeatRows, Counters, Machine, RunResult, Stalls
from tabla.templates.overlays import default_room
from tabla.templates.template import Template, functions, template_for


@dataclass(frozen=True, kw_only=True)
class OverlayCase:
    """An array and a number format, whose overlay has room for most of the programs that are drawn."""

    number: str
    pes: int
    options: dict[str, Any]

    @property
    def format(self) -> Format:
        """The number format."""
        return Format.parse(self.number)

    @property
    def template(self) -> Template:
        """The array."""
        format = self.format
        words = {"integer_bits": format.integer, "fraction_bits": format.fraction}
        return replace(template_for(self.pes), **words, **self.options)

    @cached_property
    def overlay(self) -> Overlay:
        """The overlay, with every function and every place of a sum that is usual."""
        room = replace(
            default_room(),
            model_words=256, data_words=256, interim_words=256, root_data_words=512, root_memory_words=512,
            output_words=256, strands=128, operations=256, body=8, cycles=14, terms=256, tokens=16,
            shifts=(), functions=tuple(sorted(functions())),
        )  # fmt: skip
        return overlay_of(self.template, room)


OVERLAYS = {
    "overlay of 4 PEs": OverlayCase(number="q6.10", pes=4, options={"stream_words": 2}),
    "overlay of 3 PEs": OverlayCase(number="q4.4", pes=3, options={"stream_words": 1}),
    "overlay of two sequencers": OverlayCase(number="q16.16", pes=8, options={"stream_words": 4, "sequencers": 2}),
}
"""The overlays by their names in the report: one of 8 bits, one of 32 bits, one of a prime number of PEs."""


class Shown(Machine):
    """What a program can show of a machine: the counts since `before`, and the words of its models.

    Nothing resets the hardware between two programs, so it goes on counting. A dump brings words of the program before
    where the present one has no model.
    """

    def __init__(self, machine: Machine, schedule: Schedule, before: Counters | None = None) -> None:
        self.image, self._machine = machine.image, machine
        self._before = before or Counters()
        host = Host(schedule)
        places = np.arange(host.dump_count * self.image.dump.outputs)
        self._of_models = np.isin(places, [each for words in host.models(places).values() for each in words.flat])
        self.counters = self._before

    def load(self, beats: BeatRows) -> None:
        """Load as the machine does."""
        self._machine.load(beats)

    def run(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Run as the machine does. Afterwards `counters` has the counts since the reset."""
        result = self._machine.run(beats, samples, stalls)
        self.counters = result.counters
        since = {f.name: getattr(self.counters, f.name) - getattr(self._before, f.name) for f in fields(Counters)}
        return replace(result, counters=Counters(**since))

    def dump(self, count: int) -> list[int]:
        """Dump as the machine does, with 0 in the places of words that belong to no model."""
        return [int(word) for word in np.where(self._of_models, self._machine.dump(count), 0)]

    def close(self) -> None:
        """End the simulator."""
        self._machine.close()


class Opened:
    """The machines of the overlays of a run. Each is built when the first program wants it, and kept."""

    def __init__(self, stack: ExitStack, engine: str) -> None:
        self._stack, self.engine = stack, engine
        self._machines: dict[str, PortMachine] = {}
        self._shown: dict[str, Shown] = {}

    def machine(self, name: str, image: Image, schedule: Schedule) -> Shown:
        """Return the machine of an overlay, with the program of an image."""
        if name not in self._machines:
            made = overlay_machine(image, self.engine, "overlay", OVERLAYS[name].overlay)
            self._machines[name] = self._stack.enter_context(made)
        self._machines[name].program(image)
        before = self._shown[name].counters if name in self._shown else None
        self._shown[name] = Shown(self._machines[name], schedule, before)
        return self._shown[name]


@contextmanager
def opened(engine: str = "cxxrtl") -> Iterator[Opened]:
    """Keep the machines of the overlays open."""
    with ExitStack() as stack:
        yield Opened(stack, engine)
