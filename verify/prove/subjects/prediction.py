"""Arrays that predict: which words a run writes, and what it counts, whatever the microcode is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial, reduce
from operator import or_
from typing import Any

from amaranth.asserts import AnySeq
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.passes.model_guard import with_model_guard
from tabla.graph.passes.pipeline import shaped
from tabla.hw.accelerator import Accelerator
from tabla.hw.control import MacControl
from tabla.hw.controller import DUMP, RUN
from tabla.hw.instruction import instruction_fields
from tabla.hw.sequencer import Sequencer
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.program.encode import encode
from tabla.program.image import Image
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.templates.template import template_for
from verify.prove.bench import Bench, Opened
from verify.prove.planted import exchanged, mutants
from verify.prove.subject import Speed, Subject

_LINE = """
mu = 0.25;
model_input x[8]; model_output y; model w[8], b; gradient gw[8] -> w, gb -> b;
iterator i[0:8];
h = sum[i](w[i] * x[i]) + b;
e = h - y;
gw[i] = e * x[i];
gb = e;
"""


class FreeSequencer(Sequencer):
    """A sequencer whose operations are whatever the solver chooses."""

    def elaborate(self, platform: Any) -> Module:
        """Drive every output anew in each cycle."""
        m = Module()
        for _, member, port in self.signature.flatten(self):
            if member.flow == wiring.Out:
                m.d.comb += port.eq(AnySeq(port.shape()))
        return m


@cache
def image_of(sequencers: int, guard: int) -> Image:
    """A line with its weights in two lanes and its intercept at the root, in words of 8 bits."""
    format = Format(integer=4, fraction=4)
    graph = lower(parse(Source.from_text(_LINE)), number_format=format, results=("h",))
    if guard:
        graph = with_model_guard(graph, guard, format)
    array = replace(template_for(2), sequencers=sequencers)
    return encode(schedule_graph(shaped(graph, format), array, format, EFFORTS[0]))


class PredictionProof:
    """An array whose microcode is free. Beside it, the operations are delayed until they meet what they cause."""

    def __init__(self, image: Image) -> None:
        assert image.parameters.predicts
        self.image, self.b = image, Bench()
        self.part = part = Accelerator(image)
        with exchanged({Sequencer: FreeSequencer}):
            self.opened = self.b.add(Opened(part), "array")
        self.b.drive(part)
        self.b.assume("knows_the_code", part.command_code <= DUMP)

    def _copy(self, unit: str) -> Any:
        return self.opened[f"{unit}_predict"]

    def _written(self, unit: str, field: str, cycles: int) -> Any:
        """Whether, so many cycles ago, the unit had an operation with this field that is no update in a prediction."""
        write = self.opened.component(f"{unit}_sequencer")
        fields = instruction_fields(unit, write.instruction)
        return self.b.past(
            write.valid & fields[field] & ~(self._copy(unit) & fields["model"]), cycles, f"{unit}_{field}_{cycles}"
        )

    def claim_command(self) -> None:
        """Claim that the array predicts from a command that says so to the next one."""
        b, part = self.b, self.part
        accepted = b.seen(part.command_valid & part.command_ready, "accepted")
        asked = Signal(name="asked_to_predict")
        with b.m.If(accepted):
            b.m.d.sync += asked.eq(part.command_predict & (part.command_code == RUN))
        predict = self.opened["controller.predict"]
        b.claim("predicts_as_asked", predict == asked)
        for unit in self.image.units:
            b.claim(f"copy_of_{unit}", self._copy(unit) == b.register(predict, f"past_predict_{unit}"))

    def claim_writes(self) -> None:
        """Claim which operations write a memory: all that say so, but for updates in a prediction."""
        b, image = self.b, self.image
        lanes = image.parameters.pes // image.parameters.sequencers
        for k in range(image.parameters.pes):
            unit = "lane_write" if image.parameters.sequencers == 1 else f"lane_write_{k // lanes}"
            lane = self.opened.component(f"group_0.lane_{k}")
            takes_part = lane.controls.write_active if lane.shape.writes_guarded else 1
            for memory in ("model", "interim"):
                if memory not in lane.shape.memories:
                    continue
                enable = self.opened[f"group_0.lane_{k}.{memory}_memory.write_enable"]
                loads = getattr(lane.controls, f"stream_to_{memory}")
                written = self._written(unit, f"to_{memory}", 3) & takes_part
                name = f"lane_{k}_{memory}"
                b.claim(f"{name}_writes", enable, when=b.register(written, f"past_{name}"), after=4)
                both = b.register(written | loads, f"past_{name}_or_loads")
                b.claim(f"{name}_holds", both, when=enable, after=4)

    def claim_root_writes(self) -> None:
        """Claim the same of the root's memory."""
        b, root = self.b, self.opened.component("root")
        written = self._written("root_write", "to_memory", 3)
        for operand in "abc":
            if "memory" not in root.sources[operand]:
                continue
            enable = self.opened[f"root.memory_{operand}.write_enable"]
            name = f"root_{operand}"
            b.claim(f"{name}_writes", enable, when=b.register(written, f"past_{name}"), after=4)
            both = b.register(written | root.load_memory, f"past_{name}_or_loads")
            b.claim(f"{name}_holds", both, when=enable, after=4)

    def claim_words(self) -> None:
        """Claim that the words of all operations of the root reach the bus and the output, also those of updates."""
        b, write = self.b, self.opened.component("root_write_sequencer")
        fields = instruction_fields("root_write", write.instruction)
        for field, signal in (("to_bus", "root.writes_bus"), ("to_output", "root.writes_output")):
            sent = b.past(write.valid & fields[field], 4, f"root_{field}")
            b.claim(f"root_{field}", self.opened[signal] == sent, after=4)

    def claim_updates(self) -> None:
        """Claim that no update is told of in a prediction."""
        b = self.b
        units = [unit for unit in self.image.units if "write" in unit]
        told = reduce(or_, (self._written(unit, "model", 4) for unit in units))
        b.claim("updates_are_written", told, when=self.part.update, after=5)

    def claim_events(self) -> None:
        """Claim that an operation counts, and sends its word into a function, unless it learns in a prediction."""
        b = self.b
        for unit in (unit for unit in self.image.units if "issue" in unit):
            issue = self.opened.component(f"{unit}_sequencer")
            control = self.opened.component(f"{unit}_control")
            fields = instruction_fields(unit, issue.instruction)
            learns = self._copy(unit) & issue.learns
            counts = b.past(issue.valid & issue.last & fields["emit"] & ~learns, MacControl.LATENCY, f"{unit}_counts")
            b.claim(f"{unit}_counts", control.emit == counts, after=MacControl.LATENCY)
            if "function" in fields:
                applied = issue.valid & issue.last & ~(self._copy(unit) & issue.function_learns)
                code = b.past(fields["function"] & applied.replicate(4), MacControl.LATENCY, "function_code")
                b.claim("function_code", control.function_code == code, after=MacControl.LATENCY)


def predictions(*, sequencers: int, guard: int) -> Bench:
    """An array that predicts, with free microcode."""
    proof = PredictionProof(image_of(sequencers, guard))
    proof.claim_command()
    proof.claim_writes()
    proof.claim_root_writes()
    proof.claim_words()
    proof.claim_updates()
    proof.claim_events()
    return proof.b


PREDICTIONS = (
    *mutants(
        "predicting.py",
        ('predict & fields["model"]', 'predict & ~fields["model"]'),
        ("field & ~held if name in _WRITES else field", "field"),
        ("field & ~held if name in _WRITES else field", "field & ~held"),
        ('"to_model", ', ""),
        ('"to_memory", ', ""),
        (', "model")', ")"),
    ),
    *mutants(
        "controller.py",
        ("self.command_predict & is_run", "self.command_predict"),
        ("self.command_predict & is_run", "is_run"),
    ),
    *mutants(
        "control.py",
        ('"emit": self._counted("learns", ', '"emit": self._counted("", '),
        ('self._counted("function_learns", self.valid & self.last)', "self.valid & self.last"),
        ("value & ~(self.predict & getattr(self, mark))", "value & ~self.predict"),
        ("value & ~(self.predict & getattr(self, mark))", "value & ~getattr(self, mark)"),
    ),
)

SUBJECTS = tuple(
    Subject(
        group="array",
        name=f"predictions{suffix}",
        property="While an array predicts, no memory takes a word of an operation that is marked as an update, none is "
        "told of at `update`, and no event counts of an operation that is marked as learning. Every other operation "
        "writes and counts, and in a run that does not predict all do. With the check of every schedule, which finds "
        "each write of a model marked, a prediction leaves every word of the models.",
        bounds=f"2 lanes, {sequencers} sequencers, words of 8 bits, {guard} guard bits; the microcode is free",
        build=partial(predictions, sequencers=sequencers, guard=guard),
        depth=8,
        speed=Speed.TEST if not suffix else Speed.QUICK,
        mutants=() if suffix else PREDICTIONS,
        search=10,
    )
    for suffix, sequencers, guard in (("", 1, 0), (", several sequencers", 2, 0), (", guard bits", 1, 2))
)
