"""One processing element: three memories, one multiply-accumulate path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any, ClassVar

from amaranth.hdl import Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.banks import Bank, banks_of
from tabla.hw.block_memories import asks_for_luts, lane_blocks
from tabla.hw.control import limit_words, sources
from tabla.hw.features import Features
from tabla.hw.mac import Mac
from tabla.hw.memory import WordMemory
from tabla.hw.pipeline import above, bits_for, delayed, selected
from tabla.hw.rounder import Rounder
from tabla.hw.sharing import numbered, placed
from tabla.program.image import Parameters, Ranges
from tabla.templates.instructions import operation_format
from tabla.templates.stages import stage_cycle, wanted


@dataclass(frozen=True, kw_only=True)
class LaneShape:
    """What the lanes of a build have in common: their sizes, and which of their parts the program uses."""

    parameters: Parameters
    a_sources: tuple[str, ...]
    b_sources: tuple[str, ...]
    c_sources: tuple[str, ...]
    wide_sources: tuple[str, ...]
    posts: frozenset[str]
    addend_shifts: frozenset[int]
    result_shifts: frozenset[int]
    guarded: bool
    writes_guarded: bool
    writes_windowed: bool
    writes_bus: bool
    writes_result: bool
    model_written: bool
    interim_written: bool
    model_loaded: bool
    interim_loaded: bool

    BOUNDS: ClassVar[tuple[str, ...]] = ("low", "high", "write_low", "write_high")
    """Controls that a lane gets compared with its number, as `active` and `write_active`."""

    @property
    def extremes(self) -> bool:
        """Whether operations keep the larger or smaller word."""
        return "extreme" in self.posts

    @property
    def through(self) -> bool:
        """Whether loaded words pass the result register, which is cheaper than a choice in front of each memory's write
        port.
        """
        both = (self.model_written and self.model_loaded) or (self.interim_written and self.interim_loaded)
        return both and self.writes_result

    @property
    def plain(self) -> bool:
        """Whether results are neither compared nor shifted in two ways. Only lanes of several roots are built so."""
        return self.parameters.roots > 1 and self.posts <= {"none"} and len(self.result_shifts) <= 1

    @property
    def guard(self) -> int:
        """The bits that results, and the words that are loaded, have beside those of a word."""
        return self.parameters.lane_guard

    def extra(self, memory: str) -> int:
        """Return by how many bits the words of a memory are wider than others."""
        return self.guard if memory in self.parameters.wide_memories else 0

    @property
    def shifts(self) -> tuple[int, ...]:
        """The places of the lowest bits of results in the accumulator."""
        shifts = self.parameters.shift_places(self.guard)
        return (shifts[min(self.result_shifts, default=0)],) if self.plain else shifts

    @property
    def bus_through(self) -> bool:
        """Whether words of the bus pass the result register too, which then holds no word for longer than a cycle."""
        return self.plain and self.through and self.writes_bus

    @property
    def memories(self) -> tuple[str, ...]:
        """The memories that some operation reads."""
        used = {*self.a_sources, *self.b_sources, *self.c_sources, *self.wide_sources}
        return tuple(name for name in ("model", "data", "interim") if name in used)

    @cached_property
    def blocks(self) -> frozenset[str]:
        """The memories that are block RAMs, however small they are."""
        return lane_blocks(self.parameters)

    def depth(self, memory: str) -> int:
        """Return the words of a lane's memory."""
        return self.parameters.lane_depths[memory]

    def needed(self, memory: str, lane: int) -> Ranges | None:
        """Return the addresses that a lane needs of a memory; None stands for all."""
        needed = self.parameters.needed.get(memory)
        return None if needed is None else needed[lane]

    def banks(self, memory: str, lane: int) -> tuple[Bank, ...]:
        """Return the banks of a lane's memory."""
        return banks_of(self.parameters.width + self.extra(memory), self.depth(memory), self.needed(memory, lane))

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """The kind of each lane: a number that lanes with the same banks have in common, from 0 on."""
        banks = [tuple(self.banks(memory, lane) for memory in self.memories) for lane in range(self.parameters.pes)]
        numbers = {own: number for number, own in enumerate(dict.fromkeys(banks))}
        return tuple(numbers[own] for own in banks)

    @property
    def controls(self) -> dict[str, int]:
        """Names and widths of the wires that all lanes share.

        ``Lane`` says when each is wanted. A bound is wanted in the cycle of `active`, which is made of it.
        """
        guard = self.parameters.guard_bits
        wires = {f"{name}_address": bits_for(self.depth(name)) for name in self.memories}
        wires |= {f"{name}_write_address": bits_for(self.depth(name)) for name in self.memories}
        if self.guarded:
            wires |= {"low": guard, "high": guard}
        if self.writes_guarded:
            wires |= {"write_low": guard, "write_high": guard}
        wires |= {
            "a_select": max(1, len(self.a_sources)),
            "b_select": max(1, len(self.b_sources)),
            "c_select": max(1, len(self.c_sources)),
            "invert": 1,
            "half_all": 1,
            "half_lane0": 1,
            "start_shift": self.parameters.shift_bits,
            "keep": 1,
            "inverted": 1,
            "shift": self.parameters.shift_bits,
            "issued": 1,
            "post": 3,
            "emit": 1,
            "bus": self.parameters.width,
            "write_bus": 1,
            "to_model": 1,
            "to_interim": 1,
            "load": 1,
            "stream_to_data": 1,
            "stream_to_model": 1,
            "stream_to_interim": 1,
        }
        if self.extremes:
            wires |= {"extreme": 1, "complement": 1, "lowest": 1, "highest": 1}
        if self.bus_through:
            wires |= {"through": 1}
        if self.wide_sources:
            wires |= {"wide_select": len(self.wide_sources)}
        return {name: width for name, width in wires.items() if name not in self._idle}

    @property
    def _idle(self) -> frozenset[str]:
        """The controls that lanes of this shape do not look at."""
        idle = {"shift", "post"} if self.plain else set()
        return frozenset(idle | ({"issued", "write_bus"} if self.bus_through else set()))

    @property
    def lane_controls(self) -> dict[str, int]:
        """Names and widths of the wires that a single lane takes: bounds are compared already."""
        own = {name: width for name, width in self.controls.items() if name not in self.BOUNDS}
        if self.bus_through:
            # The group joins the bus and the stream's words.
            del own["load"]
            if "bus" not in (*self.b_sources, *self.c_sources):
                del own["bus"]
        own |= {"active": 1} if self.guarded else {}
        return own | ({"write_active": 1} if self.writes_guarded else {})


def lane_shape(parameters: Parameters, features: Features) -> LaneShape:
    """Return the lanes that a program needs."""
    issue, write, stream = features["lane_issue"], features["lane_write"], features["stream"]
    form = operation_format("lane_issue")
    return LaneShape(
        parameters=parameters,
        a_sources=sources(form, "a", issue),
        b_sources=sources(form, "b", issue),
        c_sources=sources(form, "c", issue),
        wide_sources=tuple(sorted(issue.wide_sources)),
        posts=issue.values["post"],
        addend_shifts=issue.addend_shifts,
        result_shifts=issue.result_shifts,
        guarded=issue.guarded,
        writes_guarded=write.guarded,
        writes_windowed=not write.windowed.isdisjoint(("low", "high")),
        writes_bus=write.uses("source", "bus"),
        writes_result=write.uses("source", "result"),
        model_written=write.uses("to_model", "1"),
        interim_written=write.uses("to_interim", "1"),
        model_loaded=stream.uses("to_model", "1"),
        interim_loaded=stream.uses("to_interim", "1"),
    )


def first_parameter(memory: str) -> str:
    """Return the name of the parameter of a module that has the first words of a memory of its lanes."""
    return f"{memory.upper()}_FIRST"


class Lane(wiring.Component):
    """A processing element. It works one operation a cycle and never stalls. It has no reset and no program of its own.

    An operation issues in cycle *t*. Each of its wires is wanted in its own cycle, as the stage table of ``machine.td``
    says:

    =========  ================================================================================================
    *t*        `model_address`, `data_address`, `interim_address`; `active`: ``low <= lane < high``, if there are guards
    *t* + 1    `a_select` (one-hot over the sources in use); `wide_select`: the memory of an addend with guard bits
    *t* + 2    `b_select`, `c_select`, `bus`: the operands, with the words that the memories show now; `invert`;
               `lowest`, `highest`
    *t* + 3    `half_all`, `half_lane0`, `start_shift`: the start value (see ``Mac``)
    *t* + 4    `keep`; `extreme`, `complement`
    *t* + 5    `inverted`, `shift`; **`accumulator`** holds the new sum
    *t* + 6    `issued`, `post`, `emit`
    *t* + 7    the result register; **`overflow`** if it was saturated, emitted, and the lane active
    =========  ================================================================================================

    A write happens in cycle *c* (an operation that issues in *c* + 1 reads it):

    =========  ================================================================================================
    *c* - 1    `write_active`, the guard; `to_model`, `to_interim`; from the stream `stream_enable` and `stream_to_...`
    *c*        `model_write_address`, `data_write_address`, `interim_write_address`;
               `write_bus`: the bus word instead of the result; `load`: the stream's word instead of both;
               `stream_word`, `bus`
    =========  ================================================================================================

    Where loaded words pass the result register (``LaneShape.through``), `load` is high for as long as words are
    loaded. A word `loaded` in cycle *c* - 1, with `issued`, is the result in *c*. `stream_enable` then counts a cycle
    later for `model` and `interim`, and `stream_to_model` and `stream_to_interim` come a cycle later.

    In lanes of several roots (``LaneShape.plain``) results are right only for operations that count them, which all
    have one shift. Where words of the bus pass the result register too (``LaneShape.bus_through``), a result is there
    for its own cycle only, because no write asks for it later. `through` in *c* - 2 lets `loaded` of *c* - 1 take its
    place, and the lane does not look at `write_bus`, `load` and `issued`.

    Members
    -------
    lane : In(8), a constant
    controls : In(signature of the wires above)
    stream_enable : In(1), stream_word : In(width + guard)
    loaded : In(width + guard), if loaded words pass the result register
        The stream's word while `load` is high, the bus's word in the cycle after `through`, and otherwise 0.
    accumulator : Out(signed(accumulator))
    overflow : Out(1)
    """

    ACCUMULATED = WordMemory.LATENCY + Mac.LATENCY
    RESULT = ACCUMULATED + Rounder.LATENCY

    def __init__(
        self, shape: LaneShape, first: Mapping[str, Sequence[int]] | None = None, own: str = "", number: int = 0
    ) -> None:
        self.shape = shape
        # Its number in the array, by which it has the words that it needs.
        self.number = number
        parameters = shape.parameters
        held = [name for name in shape.memories if shape.banks(name, number)]
        self.first = {name: tuple(words) for name, words in (first or {}).items() if name in held}
        bits = parameters.width
        self.module_parameters = {first_parameter(name): len(words) * bits for name, words in self.first.items()}
        self.settings = {name: own.format(name, width) for name, width in self.module_parameters.items()}
        super().__init__(
            {
                "lane": In(8),
                "controls": In(wiring.Signature({name: Out(width) for name, width in shape.lane_controls.items()})),
                "stream_enable": In(1),
                "stream_word": In(parameters.width + shape.guard),
                **({"loaded": In(parameters.width + shape.guard)} if shape.through else {}),
                "accumulator": Out(signed(parameters.accumulator)),
                "overflow": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        shape, parameters, controls = self.shape, self.shape.parameters, self.controls
        m.submodules.mac = mac = Mac(
            width=parameters.width,
            accumulator=parameters.accumulator,
            shifts=parameters.shifts,
            addend_shifts=shape.addend_shifts,
            extremes=shape.extremes,
            guard=shape.guard,
            places=parameters.shift_places(shape.guard),
        )
        m.submodules.rounder = rounder = Rounder(
            width=parameters.width + shape.guard,
            fraction=parameters.fraction + shape.guard,
            accumulator=parameters.accumulator,
            shifts=shape.shifts,
            posts=shape.posts,
            loads=shape.through,
            plain=shape.plain,
        )
        if shape.through:
            load = controls.through if shape.bus_through else controls.load
            m.d.comb += [rounder.load.eq(load), rounder.loaded.eq(self.loaded)]
        stored = self._memories(m, rounder.result, platform)

        # Words are the upper bits of what a memory of wide models holds.
        operands: dict[str, Any] = {
            name: word[extra:] if (extra := shape.extra(name)) else word for name, word in stored.items()
        }
        operands["one"] = Const(1 << parameters.fraction, parameters.width)
        if "bus" in shape.lane_controls:
            operands["bus"] = controls.bus
        active = self._active(m)
        a_mask = Signal(len(controls.a_select), reset_less=True)
        m.d.sync += a_mask.eq(controls.a_select & active[wanted("lane_issue", "a_select")].replicate(len(a_mask)))
        limits = []
        if shape.extremes:
            taken = wanted("lane_issue", "take") - stage_cycle("issue", "operand")
            limits = limit_words(parameters.width, controls.lowest, controls.highest, shape.guard)
            m.d.comb += [
                mac.extreme.eq(controls.extreme),
                mac.complement.eq(controls.complement),
                mac.take.eq(delayed(m, a_mask.any(), taken, name="take")),
            ]
        if shape.wide_sources:
            # Only active lanes have such an addend.
            wide_mask = Signal(len(controls.wide_select), reset_less=True)
            takes_part = active[wanted("lane_issue", "wide_select")].replicate(len(wide_mask))
            m.d.sync += wide_mask.eq(controls.wide_select & takes_part)
            limits += [(stored[name], wide_mask[i]) for i, name in enumerate(shape.wide_sources)]
        for port, names, select, more, guard in (
            (mac.a, shape.a_sources, a_mask, [], 0),
            (mac.b, shape.b_sources, controls.b_select, [], 0),
            (mac.addend, shape.c_sources, controls.c_select, limits, shape.guard),
        ):
            choices = [(above(operands[name], guard), select[i]) for i, name in enumerate(names)]
            m.d.comb += port.eq(selected([*choices, *more], parameters.width + guard))
        m.d.comb += [
            mac.invert.eq(controls.invert if mac.early else delayed(m, controls.invert, 1, name="invert")),
            mac.half.eq(controls.half_all | (controls.half_lane0 & self._leads())),
            mac.shift.eq(controls.start_shift),
            mac.keep.eq(controls.keep),
            rounder.accumulator.eq(mac.accumulator),
            rounder.inverted.eq(controls.inverted),
            rounder.valid.eq(1 if shape.bus_through else controls.issued),
            *([] if shape.plain else [rounder.shift.eq(controls.shift), rounder.post.eq(controls.post)]),
            self.accumulator.eq(mac.accumulator),
        ]
        emit = wanted("lane_issue", "emit")
        counts = delayed(m, controls.emit & active[emit], Lane.RESULT - emit, name="counts")
        m.d.comb += self.overflow.eq(rounder.saturated & counts)
        return m

    def _leads(self) -> Any:
        """Return whether the lane is the first one of its sequencer."""
        parameters = self.shape.parameters
        each = parameters.lanes // parameters.sequencers
        firsts = range(0, parameters.lanes, each)
        return reduce(or_, (self.lane == first for first in firsts))

    def _active(self, m: Module) -> list[Any]:
        """Return whether the lane takes part in the operation, by cycles since the operation's issue."""
        last = wanted("lane_issue", "emit")
        if not self.shape.guarded:
            return [Const(1, 1)] * (last + 1)
        stages = [self.controls.active]
        for cycle in range(1, last + 1):
            stages.append(delayed(m, stages[-1], 1, name=f"active_{cycle}"))
        return stages

    def _memories(self, m: Module, result: Any, platform: Any) -> dict[str, Any]:
        """Add the memories of which the lane needs words, and return what each shows: 0 for the others."""
        shape, controls = self.shape, self.controls
        takes_part: Any = controls.write_active if shape.writes_guarded else Const(1, 1)
        written = {"model": shape.model_written, "data": False, "interim": shape.interim_written}
        loaded = {"model": shape.model_loaded, "data": True, "interim": shape.interim_loaded}
        commands = {"model": controls.to_model, "data": Const(0, 1), "interim": controls.to_interim}
        word = result
        if shape.writes_bus and not shape.bus_through:
            word = above(controls.bus, shape.guard)
            if shape.writes_result:
                word = Mux(controls.write_bus, word, result.as_unsigned())

        later = delayed(m, self.stream_enable, 1, name="stream_enable") if shape.through else self.stream_enable
        stored: dict[str, Any] = {}
        kind = shape.kinds[self.number]
        for name in shape.memories:
            extra = shape.extra(name)
            if not shape.banks(name, self.number):
                stored[name] = Const(0, shape.parameters.width + extra)
                continue
            memory = WordMemory(
                width=shape.parameters.width + extra,
                depth=shape.depth(name),
                block=name in shape.blocks,
                distributed=asks_for_luts(shape.depth(name), block=name in shape.blocks),
                init=self.first.get(name, ()),
                own=first_parameter(name) if name in self.first else "",
                needed=shape.needed(name, self.number),
            )
            alone = placed(platform, numbered(f"pe_{name}", kind), memory) if name in self.first else memory
            m.submodules[f"{name}_memory"] = alone
            stored[name] = memory.read_data
            enable = Signal(name=f"{name}_write", reset_less=True)
            load = (
                getattr(controls, f"stream_to_{name}")
                & (self.stream_enable if name == "data" else later)
                & int(loaded[name])
            )
            m.d.sync += enable.eq(load | (commands[name] & takes_part & int(written[name])))
            data = word if written[name] or (shape.through and name != "data") else self.stream_word
            if written[name] and loaded[name] and not shape.through:
                data = Mux(controls.load, self.stream_word, word)
            m.d.comb += [
                memory.read_address.eq(getattr(controls, f"{name}_address")),
                memory.write_enable.eq(enable),
                memory.write_address.eq(getattr(controls, f"{name}_write_address")),
                memory.write_data.eq(data if extra == shape.guard else data[shape.guard :]),
            ]
        return stored
