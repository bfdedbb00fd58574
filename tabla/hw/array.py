"""The whole machine, without a program."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.control import MacControl
from tabla.hw.controller import Controller
from tabla.hw.counters import EventCounter
from tabla.hw.drive import Drive
from tabla.hw.features import Features
from tabla.hw.group import Group
from tabla.hw.groups import Groups
from tabla.hw.lane import lane_shape
from tabla.hw.pipeline import delayed
from tabla.hw.predicting import without_updates
from tabla.hw.root import Root
from tabla.hw.routing import Routing
from tabla.hw.sequencer import Sequencer
from tabla.hw.serial_out import output_of
from tabla.hw.sharing import placed
from tabla.hw.stream import Stream
from tabla.hw.timing import Timing
from tabla.hw.tokens import TokenDelay
from tabla.hw.window import Window
from tabla.program.image import FirstWords, Parameters
from tabla.templates.instructions import LANE_KINDS, kind_of, units_of
from tabla.templates.stages import wanted


class Array(wiring.Component):
    """The machine of ``docs/decisions/0003-machine.md``, without what a program gives it.

    ``Accelerator`` builds in one program, and ``OverlayAccelerator`` takes one after the other. Both say where the
    programs of the units come from. `shape` are the sizes of the array, `features` what its units can do, and `timing`
    the numbers of the program. `program` are the ports for programs, and `first` is what the memories start with.
    """

    FRONT = TokenDelay.LATENCY + Sequencer.VALUES + Group.FANOUT

    def __init__(
        self,
        *,
        parameters: Parameters,
        features: Features,
        timing: Timing,
        program: Mapping[str, Any],
        stoppable: bool = False,
        first: FirstWords | None = None,
    ) -> None:
        self.parameters, self.features, self.timing = parameters, features, timing
        self.first = first
        self.units = units_of(parameters.sequencers)
        self.stoppable = stoppable
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
                "out_data": Out(parameters.port_words * parameters.width),
                "busy": Out(1),
                "sample_start": Out(1),
                "update": Out(1),
                "lane_overflows": Out(32),
                "root_overflows": Out(32),
                "domain_errors": Out(32),
                **program,
                **({"stop": In(1)} if stoppable else {}),
                **({"command_predict": In(1)} if parameters.predicts else {}),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        controller = self._controller(m)
        stream = self._stream(m, controller)
        sequencers = {unit: self._sequencer(m, unit, controller) for unit in self.units}
        roots = self._roots(m, sequencers, stream, controller, platform)
        self._lanes(m, sequencers, stream, roots, controller, platform)
        return m

    def _controller(self, m: Module) -> Controller:
        m.submodules.controller = controller = Controller(
            parameters=self.parameters, timing=self.timing, stoppable=self.stoppable
        )
        if self.stoppable:
            m.d.comb += controller.stop.eq(self.stop)
        if self.parameters.predicts:
            m.d.comb += controller.command_predict.eq(self.command_predict)
        m.d.comb += [
            controller.command_valid.eq(self.command_valid),
            controller.command_code.eq(self.command_code),
            controller.command_count.eq(self.command_count),
            self.command_ready.eq(controller.command_ready),
            self.busy.eq(~controller.command_ready),
            self.sample_start.eq(controller.live if self.parameters.stages > 1 else controller.token),
        ]
        return controller

    @abstractmethod
    def _program_of(self, unit: str) -> Sequencer:
        """Return what runs a unit's program."""

    @abstractmethod
    def _program_port(self, m: Module, unit: str, target: Any) -> None:
        """Connect a unit's microcode to the ports for programs."""

    def _shifts(self) -> Sequence[Any]:
        """Return the numbers of a program's shifts in the table of the hardware, if they are not the same."""
        return ()

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

    def _predict(self, m: Module, unit: str, controller: Controller) -> Any:
        """Return `predict` in a register of the unit's own, as `_mode` does; 0 in an array that does not predict."""
        if not self.parameters.predicts:
            return Const(0, 1)
        copy = Signal(name=f"{unit}_predict", attrs={"keep": 1})
        m.d.sync += copy.eq(controller.predict)
        return copy

    def _writing(self, m: Module, write: Sequencer, controller: Controller) -> Any:
        """Return the operation that a unit writes with: while the array predicts, an update touches no memory."""
        if not self.parameters.predicts:
            return write.instruction
        instruction = Signal(len(write.instruction), name=f"{write.unit}_held")
        predict = self._predict(m, write.unit, controller)
        m.d.comb += instruction.eq(without_updates(write.unit, write.instruction, predict))
        return instruction

    def _stream(self, m: Module, controller: Controller) -> Stream:
        restart, load_mode, dump = self._mode(m, "stream", controller)
        m.submodules.stream = stream = Stream(
            parameters=self.parameters, timing=self.timing, sequencer=self._program_of("stream")
        )
        numbers = self.timing
        m.d.comb += [
            stream.restart.eq(restart),
            stream.enable.eq(Mux(load_mode, numbers["stream.load.enable"], numbers["stream.run.enable"]) & ~dump),
            stream.first_strand.eq(Mux(load_mode, numbers["stream.load.first"], numbers["stream.run.first"])),
            stream.last_strand.eq(Mux(load_mode, numbers["stream.load.last"], numbers["stream.run.last"])),
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
        restart, load, dump = self._mode(m, unit, controller)
        sequencer = self._program_of(unit)
        m.submodules[f"{unit}_sequencer"] = sequencer
        tokens = self.timing.token_delay(f"{unit}.run.wait", f"{unit}.dump.wait")
        m.submodules[f"{unit}_tokens"] = tokens
        window = Window(
            width=sequencer.offset_width,
            words=self.timing["data.window" if unit.startswith("lane") else "root_data.window"],
            slots=self.parameters.ring_slots,
            last=self.timing["ring.last"],
            stages=self.parameters.stages,
        )
        m.submodules[f"{unit}_window"] = window
        if self.parameters.stages > 1:
            m.d.comb += [
                tokens.live.eq(controller.live),
                sequencer.live.eq(tokens.delayed_live),
                window.live.eq(delayed(m, tokens.delayed_live, Sequencer.FIELDS, name=f"{unit}_live")),
                window.stage.eq(sequencer.stage),
            ]

        def of_command(name: str) -> Any:
            return Mux(dump, self.timing[f"{unit}.dump.{name}"], self.timing[f"{unit}.run.{name}"])

        m.d.comb += [
            tokens.restart.eq(restart),
            tokens.dump.eq(dump),
            tokens.token.eq(controller.token),
            window.restart.eq(restart),
            window.dump.eq(dump),
            window.turn.eq(sequencer.turn),
            sequencer.offset.eq(window.offset),
            sequencer.restart.eq(restart),
            sequencer.enable.eq(of_command("enable") & ~load),
            sequencer.first_strand.eq(of_command("first")),
            sequencer.last_strand.eq(of_command("last")),
            sequencer.token.eq(tokens.delayed),
        ]
        self._program_port(m, unit, sequencer)
        return sequencer

    def _control(self, m: Module, unit: str, sequencer: Sequencer, controller: Controller) -> MacControl:
        control = MacControl(unit=unit, parameters=self.parameters, features=self.features[unit], shifts=self._shifts())
        m.submodules[f"{unit}_control"] = control
        m.d.comb += [
            getattr(control, name).eq(getattr(sequencer, name))
            for name in (
                *("valid", "first", "last", "open", "instruction"),
                *(("wide",) if control.guard else ()),
                *control.marks,
            )
        ]
        if control.marks:
            m.d.comb += control.predict.eq(self._predict(m, unit, controller))
        return control

    def _roots(
        self, m: Module, sequencers: dict[str, Sequencer], stream: Stream, controller: Controller, platform: Any
    ) -> list[Root]:
        parameters = self.parameters
        issue, write = sequencers["root_issue"], sequencers["root_write"]
        control = self._control(m, "root_issue", issue, controller)
        # The lanes are Group.FANOUT registers further away than the root; the same cycle must reach both.
        late = Sequencer.VALUES - Sequencer.FIELDS + Group.FANOUT
        held = ((),) * parameters.roots if self.first is None else self.first.roots
        roots = [Root(parameters=parameters, features=self.features, control=control, first=words) for words in held]
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
            "write_instruction": delayed(m, self._writing(m, write, controller), writes, name="root_write_instruction"),
            "load_address": stream.root_address,
        }
        if parameters.model_guard:
            inputs["write_wide"] = delayed(m, write.wide, writes, name="root_write_wide")
        if parameters.scatters:
            scattered = late + wanted("root_write", "write_scattered")
            inputs["write_scattered"] = delayed(m, write.scattered, scattered, name="root_write_scattered")
        if write.generators:
            addresses = Group.FANOUT + wanted("root_write", "write_address")
            inputs["write_address"] = delayed(m, write.values.address, addresses, name="root_write_address")
        routing = Routing(stream=stream, words=tuple(stream.words), lanes=parameters.lanes)
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
        parameters = self.parameters
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
        return [unit for unit in self.units if kind_of(unit) == kind]

    def _lanes(
        self,
        m: Module,
        sequencers: dict[str, Sequencer],
        stream: Stream,
        roots: list[Root],
        controller: Controller,
        platform: Any,
    ) -> None:
        shape = lane_shape(self.parameters, self.features)
        drives = []
        for units in zip(*(self._units(kind) for kind in LANE_KINDS), strict=True):
            issue, write = (sequencers[unit] for unit in units)
            control = self._control(m, issue.unit, issue, controller)
            writing = self._writing(m, write, controller)
            bus, load = roots[0].bus, controller.load
            drives.append(Drive.of(m, shape, control, issue, write, writing, stream=stream, bus=bus, load=load))
        m.d.comb += self.update.eq(reduce(or_, (drive.updates for drive in drives)) | roots[0].update)
        groups = Groups(shape=shape, drives=drives, stream=stream, roots=roots, first=self.first)
        overflows = groups.join(m, platform)
        m.submodules.lane_overflow_counter = counter = EventCounter()
        m.d.comb += [counter.events.eq(overflows.any()), self.lane_overflows.eq(counter.count)]
