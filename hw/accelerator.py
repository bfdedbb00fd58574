"""The whole machine."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tabla.hw.control import MacControl
from tabla.hw.controller import Controller
from tabla.hw.counters import EventCounter
from tabla.hw.drive import Drive
from tabla.hw.features import features_of
from tabla.hw.group import Group
from tabla.hw.lane import LaneShape, lane_shape
from tabla.hw.pipeline import delayed
from tabla.hw.root import Root
from tabla.hw.routing import Routing
from tabla.hw.sequencer import Sequencer
from tabla.hw.serial_out import output_of
from tabla.hw.sharing import placed
from tabla.hw.stream import Stream
from tabla.hw.tokens import TokenDelay
from tabla.hw.tree import Tree, levels
from tabla.hw.window import Window
from tabla.templates.stages import wanted
from tabla.templates.template import LANE_KINDS, kind_of

from tabla.program.image import Entry, Image
from tabla.program.layout import operation_layout, strand_layout


def program_width(image: Image) -> int:
    """Return the bits of the widest microcode word of an image."""
    parameters = image.parameters
    units = ("stream", *image.units)
    return max(layout(unit, parameters).width for unit in units for layout in (strand_layout, operation_layout))


class Accelerator(wiring.Component):
    """The machine of ``docs/decisions/0003-machine.md`` for one image: samples stream in, results stream out.

    The clock is `clk`, and the synchronous reset is `rst`. No command is under way in the cycle after a reset. A reset
    that is held for ``reset_cycles`` also leaves the counters at 0, and no pipeline with an operation. Memories keep
    their words.

    Cycle c of a sample whose token fires in cycle T is cycle T + ``FRONT`` + c of the clock.

    Members
    -------
    command_valid : In(1), command_ready : Out(1), command_code : In(2), command_count : In(32)
        0 load, 1 run `command_count` samples, 2 dump `command_count` words of each memory.
    in_valid : In(1), in_ready : Out(1), in_data : In(stream_words * width)
        Word l of a beat in bits l * width and up.
    out_valid : Out(1), out_ready : In(1), out_data : Out(width)
    busy : Out(1)
        A command is under way.
    sample_start : Out(1)
        A token fires in this cycle.
    update : Out(1)
        A model word is written in this cycle.
    lane_overflows, root_overflows, domain_errors : Out(32)
        Since reset; they stay at their greatest value.
    program_valid : In(1), program_memory : In(4 or more), program_address : In(16), program_data : In(widest word)
        Writes a microcode word (see ``Image.memories``); only while no command is under way.
    stop : In(1)
        Only with `stoppable`: as ``Controller``.
    """

    FRONT = TokenDelay.LATENCY + Sequencer.VALUES + Group.FANOUT

    def __init__(self, image: Image, *, stoppable: bool = False) -> None:
        self.image, self.stoppable = image, stoppable
        self.features = features_of(image)
        parameters = image.parameters
        super().__init__(
            {
                "command_valid": In(1),
                "command_ready": Out(1),
                "command_code": In(2),
                "command_count": In(32),
                "in_valid": In(1),
                "in_ready": Out(1),
                "in_data": In(parameters.stream_words * parameters.width),
                "out_valid": Out(1),
                "out_ready": In(1),
                "out_data": Out(parameters.width),
                "busy": Out(1),
                "sample_start": Out(1),
                "update": Out(1),
                "lane_overflows": Out(32),
                "root_overflows": Out(32),
                "domain_errors": Out(32),
                "program_valid": In(1),
                "program_memory": In(image.memory_bits),
                "program_address": In(16),
                "program_data": In(program_width(image)),
                **({"stop": In(1)} if stoppable else {}),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        controller = self._controller(m)
        stream = self._stream(m, controller)
        sequencers = {unit: self._sequencer(m, unit, controller) for unit in self.image.units}
        roots = self._roots(m, sequencers, stream, controller, platform)
        self._lanes(m, sequencers, stream, roots, controller, platform)
        return m

    def _controller(self, m: Module) -> Controller:
        m.submodules.controller = controller = Controller(image=self.image, stoppable=self.stoppable)
        if self.stoppable:
            m.d.comb += controller.stop.eq(self.stop)
        m.d.comb += [
            controller.command_valid.eq(self.command_valid),
            controller.command_code.eq(self.command_code),
            controller.command_count.eq(self.command_count),
            self.command_ready.eq(controller.command_ready),
            self.busy.eq(~controller.command_ready),
            self.sample_start.eq(controller.token),
        ]
        return controller

    def _program_port(self, m: Module, unit: str, target: Any) -> None:
        """Write microcode words a cycle after they were given, which is soon enough for a machine at rest."""
        for kind, enable in (("strands", target.strand_write), ("operations", target.operation_write)):
            number = self.image.memories.index((unit, kind))
            m.d.sync += enable.eq(self.program_valid & (self.program_memory == number))
        data = delayed(m, self.program_data, 1, name=f"{unit}_program_data")
        address = delayed(m, self.program_address, 1, name=f"{unit}_program_address")
        m.d.comb += [target.write_address.eq(address), target.write_data.eq(data)]

    def _mode(self, m: Module, unit: str, controller: Controller) -> tuple[Any, Any, Any]:
        """Return `restart`, `load` and `dump` in registers of the unit's own, so that the unit may lie anywhere on the
        chip.

        They come a cycle late. Units are at rest then, and have nothing to do until the first beat or token.
        """
        copies = []
        for name in ("restart", "load", "dump"):
            copy = Signal(name=f"{unit}_{name}", attrs={"keep": 1})
            m.d.sync += copy.eq(getattr(controller, name))
            copies.append(copy)
        return copies[0], copies[1], copies[2]

    def _stream(self, m: Module, controller: Controller) -> Stream:
        image = self.image
        restart, load_mode, dump = self._mode(m, "stream", controller)
        m.submodules.stream = stream = Stream(
            parameters=image.parameters,
            features=self.features["stream"],
            data_window=image.data_window,
            root_data_window=image.root_data_window,
            strands=image.strands["stream"],
            operations=image.operations["stream"],
        )
        run, load = image.stream_run, image.stream_load
        m.d.comb += [
            stream.restart.eq(restart),
            stream.enable.eq(Mux(load_mode, int(load.beats > 0), int(run.beats > 0)) & ~dump),
            stream.first_strand.eq(Mux(load_mode, load.begin, run.begin)),
            stream.last_strand.eq(
                Mux(load_mode, load.begin + max(1, load.strands) - 1, run.begin + max(1, run.strands) - 1)
            ),
            stream.admit.eq(controller.in_ready),
            controller.prepared.eq(stream.prepared),
            stream.begins.eq(controller.begins),
            controller.taken.eq(stream.taken),
            stream.in_valid.eq(self.in_valid),
            stream.in_data.eq(self.in_data),
            self.in_ready.eq(stream.in_ready),
        ]
        self._program_port(m, "stream", stream)
        return stream

    def _sequencer(self, m: Module, unit: str, controller: Controller) -> Sequencer:
        image = self.image
        restart, load, dump = self._mode(m, unit, controller)
        entries = (image.run, image.dump)
        sequencer = Sequencer(
            unit=unit,
            parameters=image.parameters,
            features=self.features[unit],
            strands=image.strands[unit],
            operations=image.operations[unit],
        )
        m.submodules[f"{unit}_sequencer"] = sequencer
        tokens = TokenDelay(
            delays=(self._delay(unit, image.run), self._delay(unit, image.dump)),
            periods=(image.run.period, image.dump.period),
        )
        m.submodules[f"{unit}_tokens"] = tokens
        window = Window(
            width=sequencer.offset_width,
            words=image.data_window if unit.startswith("lane") else image.root_data_window,
            slots=image.parameters.ring_slots,
        )
        m.submodules[f"{unit}_window"] = window
        begins = [entry.begin[unit] for entry in entries]
        counts = [entry.strands[unit] for entry in entries]
        m.d.comb += [
            tokens.restart.eq(restart),
            tokens.dump.eq(dump),
            tokens.token.eq(controller.token),
            window.restart.eq(restart),
            window.dump.eq(dump),
            window.turn.eq(sequencer.turn),
            sequencer.offset.eq(window.offset),
            sequencer.restart.eq(restart),
            sequencer.enable.eq(Mux(dump, int(counts[1] > 0), int(counts[0] > 0)) & ~load),
            sequencer.first_strand.eq(Mux(dump, begins[1], begins[0])),
            sequencer.last_strand.eq(Mux(dump, begins[1] + max(1, counts[1]) - 1, begins[0] + max(1, counts[0]) - 1)),
            sequencer.token.eq(tokens.delayed),
        ]
        self._program_port(m, unit, sequencer)
        return sequencer

    def _delay(self, unit: str, entry: Entry) -> int:
        """Return the cycles from a token to the unit's first strand. That is the skew, because the first start is
        stored as 0.
        """
        if not entry.strands[unit]:
            return 0
        start = strand_layout(unit, self.image.parameters).fields["start"]
        return entry.skew[unit] + start.extract(self.image.strands[unit][entry.begin[unit]])

    def _control(self, m: Module, unit: str, sequencer: Sequencer) -> MacControl:
        control = MacControl(unit=unit, parameters=self.image.parameters, features=self.features[unit])
        m.submodules[f"{unit}_control"] = control
        m.d.comb += [
            getattr(control, name).eq(getattr(sequencer, name))
            for name in ("valid", "first", "last", "open", "instruction", *(("wide",) if control.guard else ()))
        ]
        return control

    def _routing(self, stream: Stream, words: list[Any]) -> Routing:
        return Routing(stream=stream, words=tuple(words), lanes=self.image.parameters.lanes)

    def _roots(
        self, m: Module, sequencers: dict[str, Sequencer], stream: Stream, controller: Controller, platform: Any
    ) -> list[Root]:
        parameters = self.image.parameters
        issue, write = sequencers["root_issue"], sequencers["root_write"]
        control = self._control(m, "root_issue", issue)
        # The lanes are Group.FANOUT registers further away than the root; the same cycle must reach both.
        late = Sequencer.VALUES - Sequencer.FIELDS + Group.FANOUT
        roots = [Root(parameters=parameters, features=self.features, control=control) for _ in range(parameters.roots)]
        wires = {
            name: delayed(m, getattr(control, name), Group.FANOUT, name=f"root_{name}")
            for name in roots[0].control_wires
        }
        inputs = {
            f"{operand}_address": delayed(
                m, getattr(issue.values, operand), Group.FANOUT, name=f"root_{operand}_address"
            )
            for operand in issue.generators
        }
        writes = late + wanted("root_write", "write")
        inputs |= {
            "write": delayed(m, write.valid, writes, name="root_write"),
            "write_instruction": delayed(m, write.instruction, writes, name="root_write_instruction"),
            "load_address": stream.root_address,
        }
        if parameters.model_guard:
            inputs["write_wide"] = delayed(m, write.wide, writes, name="root_write_wide")
        if write.generators:
            addresses = Group.FANOUT + wanted("root_write", "write_address")
            inputs["write_address"] = delayed(m, write.values.address, addresses, name="root_write_address")
        routing = self._routing(stream, list(stream.words))
        for number, root in enumerate(roots):
            several = len(roots) > 1
            m.submodules["root" if not several else f"root_{number}"] = (
                placed(platform, "root", root) if several else root
            )
            m.d.comb += [getattr(root.control, name).eq(wire) for name, wire in wires.items()]
            m.d.comb += [getattr(root, name).eq(wire) for name, wire in inputs.items()]
            here = routing.root_enable(number) if several else 1
            m.d.comb += [
                root.load_data.eq(stream.to_root_data & here),
                root.load_memory.eq(stream.to_root_memory & here),
                root.load_word.eq(routing.root_word(number) if several else stream.words[0]),
            ]
        self._outputs(m, roots, controller)
        return roots

    def _outputs(self, m: Module, roots: list[Root], controller: Controller) -> None:
        """Send the words of the roots to the output, and their events to the counters."""
        parameters = self.image.parameters
        output = output_of(m, roots, parameters, every=controller.dump)
        m.submodules.root_overflow_counter = overflows = EventCounter(sources=2 * len(roots))
        m.d.comb += [
            output.out_ready.eq(self.out_ready),
            self.out_valid.eq(output.out_valid),
            self.out_data.eq(output.out_data),
            controller.output_taken.eq(output.taken),
            controller.output_waits.eq(output.waits),
            overflows.events.eq(Cat(Cat(root.overflow, root.function_overflow) for root in roots)),
            self.root_overflows.eq(overflows.count),
        ]
        if parameters.functions:
            m.submodules.domain_error_counter = domain_errors = EventCounter(sources=len(roots))
            m.d.comb += [
                domain_errors.events.eq(Cat(root.domain_error for root in roots)),
                self.domain_errors.eq(domain_errors.count),
            ]

    def _units(self, kind: str) -> list[str]:
        return [unit for unit in self.image.units if kind_of(unit) == kind]

    def _drive(
        self,
        m: Module,
        shape: LaneShape,
        issue: Sequencer,
        write: Sequencer,
        stream: Stream,
        bus: Any,
        controller: Controller,
    ) -> Drive:
        """Return the wires that one sequencer's lanes share."""
        control = self._control(m, issue.unit, issue)
        return Drive.of(m, shape, control, issue, write, stream=stream, bus=bus, load=controller.load)

    def _join(self, m: Module, drives: list[Drive], tree: Tree, sums: list[Any], roots: list[Root], below: int) -> None:
        """Give the trees' words to the roots, each with its sense, which a root needs a cycle earlier than the word.

        `below` is the number of ranks of registers in each group. Groups of several sequencers have undone the
        complement already.
        """
        if len(drives) > 1:
            m.d.comb += roots[0].tree.eq(tree.sum)
            return
        shown = wanted("lane_issue", "inverted") + Group.FANOUT
        before = delayed(m, drives[0].inverted, shown - 1, name="sense_before")
        # Entry n: the sense of words that are n registers behind the accumulators, from one register before them.
        chain = [before, drives[0].sense]
        for cycle in range(below + levels(tree.leaves)):
            chain.append(delayed(m, chain[-1], 1, name=f"sense_{cycle}"))
        m.d.comb += tree.inverted.eq(chain[below + 1].replicate(len(tree.inverted)))
        if len(roots) == 1:
            m.d.comb += [roots[0].tree.eq(tree.sum), roots[0].tree_inverted.eq(chain[-2])]
            return
        # The tree takes the clear in the cycle before its word.
        cleared = wanted("root_issue", "array") - 1
        m.d.comb += tree.clear.eq(~delayed(m, roots[0].control.array, cleared, name="array_wanted"))
        for root, own in zip(roots, sums, strict=True):
            m.d.comb += [
                root.tree.eq(own),
                root.tree_inverted.eq(chain[below]),
                root.array.eq(tree.sum),
                root.array_inverted.eq(chain[-2]),
            ]

    def _lanes(
        self,
        m: Module,
        sequencers: dict[str, Sequencer],
        stream: Stream,
        roots: list[Root],
        controller: Controller,
        platform: Any,
    ) -> None:
        parameters = self.image.parameters
        shape = lane_shape(parameters, self.features)
        drives = [
            self._drive(m, shape, sequencers[issue], sequencers[write], stream, roots[0].bus, controller)
            for issue, write in zip(*(self._units(kind) for kind in LANE_KINDS), strict=True)
        ]
        m.d.comb += self.update.eq(reduce(or_, (drive.updates for drive in drives)) | roots[0].update)

        size, words_in_beat = parameters.pes_per_pu, parameters.stream_words
        groups = parameters.pes // size
        # Where lanes and words of a beat divide each other, a group gets each of its words once.
        aligned = size % words_in_beat == 0 or words_in_beat % size == 0
        words = min(size, words_in_beat) if aligned else size
        # The stream gives words and enables in one cycle.
        later = wanted("lane_write", "stream_word") - wanted("lane_write", "stream_enable")
        # Lanes without wide models take the words alone.
        own_bits = slice(parameters.model_guard - shape.guard, None)
        from_stream = [word[own_bits] if parameters.model_guard > shape.guard else word for word in stream.words]
        stream_words = [delayed(m, word, later, name=f"stream_word_{k}") for k, word in enumerate(from_stream)]
        extremes = shape.extremes and len(drives) == 1
        m.submodules.tree = tree = Tree(
            leaves=groups, width=parameters.accumulator, extremes=extremes, clears=len(roots) > 1
        )
        if extremes:
            m.d.comb += tree.extreme.eq(delayed(m, drives[0].extreme, levels(size), name="extreme_above"))
        overflows, sums = Signal(groups), []
        kinds: dict[tuple[int, ...], str] = {}
        for g in range(groups):
            lanes = range(g * size, (g + 1) * size)
            own = [lane * len(drives) // parameters.pes for lane in lanes]
            drivers = tuple(number - own[0] for number in own) if len(drives) > 1 else ()
            group = Group(shape, words=words, drivers=drivers)
            kinds.setdefault(drivers, f"pu_{len(kinds)}" if kinds else "pu")
            sums.append(group.sum)
            m.submodules[f"group_{g}"] = placed(platform, kinds[drivers], group)
            mine = drives[own[0] : own[-1] + 1]
            for place, drive in zip(group.sets, mine, strict=True):
                m.d.comb += [getattr(getattr(group, place), name).eq(value) for name, value in drive.controls.items()]
            if len(roots) > 1:
                m.d.comb += group.controls.bus.eq(roots[g].bus)
                if g == 0:
                    m.d.comb += [getattr(group.controls, name).eq(value) for name, value in drives[0].first.items()]
            if drivers:
                m.d.comb += group.up.eq(Cat(drive.up for drive in mine))
            m.d.comb += [
                group.first_lane.eq(g * size % parameters.lanes),
                group.sense.eq(Cat(drive.sense for drive in mine) if drivers else mine[0].sense),
                *([group.extreme.eq(mine[0].extreme)] if group.extremes else []),
                tree.words[g].eq(group.sum),
                overflows[g].eq(group.overflow),
            ]
            if len(roots) > 1:
                routing = self._routing(stream, from_stream)
                m.d.comb += [group.stream_enable[k].eq(routing.enable(g, k)) for k in range(size)]
                for k in range(words):
                    word = delayed(m, routing.word(g, k), later, name=f"stream_word_{g}_{k}")
                    m.d.comb += group.stream_words[k].eq(word)
                continue
            m.d.comb += [group.stream_enable[k].eq(stream.block[lane // words_in_beat]) for k, lane in enumerate(lanes)]
            m.d.comb += [group.stream_words[k].eq(stream_words[(g * size + k) % words_in_beat]) for k in range(words)]

        self._join(m, drives, tree, sums, roots, levels(size))
        m.submodules.lane_overflow_counter = counter = EventCounter()
        m.d.comb += [counter.events.eq(overflows.any()), self.lane_overflows.eq(counter.count)]
