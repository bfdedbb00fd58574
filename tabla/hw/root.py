"""The root: the pipeline of a lane with three operand ports, the tree's word, and the function unit."""

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.banks import Bank
from tabla.hw.block_memories import roots_have_blocks
from tabla.hw.control import MacControl, limit_words, output_of
from tabla.hw.features import Features
from tabla.hw.function_unit import FunctionUnit
from tabla.hw.instruction import instruction_fields, instruction_width
from tabla.hw.mac import Mac
from tabla.hw.memory import WordMemory
from tabla.hw.pipeline import above, delayed, kept, padded, selected
from tabla.hw.predicting import described
from tabla.hw.rounder import Rounder, unlike
from tabla.hw.sharing import numbered, placed, words_expression
from tabla.program.image import Parameters
from tabla.templates.instructions import OPERANDS
from tabla.templates.stages import wanted

ROOT_FIRST = "MEMORY_FIRST"
"""The parameter of a root's module with the first words of its memory, in arrays of several roots."""


def joins_beside(parameters: Parameters, features: Features) -> bool:
    """Return whether the tree's words join beside the sum: in arrays of several roots where nothing but one shift
    follows.
    """
    issue = features["root_issue"]
    several, compares = parameters.roots > 1, bool(issue.values["post"] - {"none"})
    return several and features.tree_alone and len(issue.values["shift"]) == 1 and not compares


_SCATTERING = """
write_scattered : In(1)
    Beside `write_instruction`: the word that the position register shows in this cycle, *c* - 1 of the write, is added
    to `write_address`. The sum wraps.
"""


def _moved(address: Any, position: Any, moves: Any) -> Any:
    """Return an address, with a position added if it `moves`. The sum wraps."""
    return (address + Mux(moves, position, Const(0, signed(len(position)))))[: len(address)]


class Root(wiring.Component):
    """Computes scalars and functions, and turns sums of the tree round to the bus. It takes one operation a cycle and
    never stalls.

    An operation of `root_issue` issues in cycle *u*. Its addresses (`a_address`, ...) and its control, as
    ``MacControl`` gives it, are wanted in *u*; the root delays the control as the stage table says. The result register
    shows the result in *u* + ``RESULT``. The function register shows the function's value its latency later.

    `tree` and `tree_inverted` are the tree's word of *u* + 4 and its sense in *u* + 3. In an array of several roots
    where nothing is added to the tree's word, and where all operations have one shift and no comparison (``beside``),
    that word passes the accumulator by and joins it in front of the rounder.

    An operation that gathers adds the word that the position register shows in *u* to its address. The register keeps
    the results of operations that ask for it, from *u* + ``RESULT`` + 1 on.

    An operation of `root_write` in cycle *c* is given in *c* - 1 with `write` high. The memory takes the word at the
    end of *c*. `bus` shows it from *c* + 1 on and keeps it. `output_word` and `output_valid` show it in *c* + 1 only.

    Members
    -------
    control : In(outputs of MacControl), a_address, b_address, c_address : In(address)
    tree : In(signed(accumulator)), tree_inverted : In(1)
    array : In(signed(accumulator)), array_inverted : In(1)
        With several roots: the same of the sum over the whole array; 0 in cycles whose operation does not take it.
    write : In(1), write_instruction : In(Inst), write_address : In(address)
    write_wide : In(1), with wide models
        The guard bits of the word leave, instead of the word.
    load_data, load_memory : In(1), load_address : In(address), load_word : In(width + guard)
        The stream's words; written in the next cycle.
    bus : Out(width), output_word : Out(width), output_valid : Out(1)
    overflow, function_overflow, domain_error : Out(1)
        Each an event of one cycle.
    update : Out(1)
        A model word is written in this cycle.
    """

    RESULT = WordMemory.LATENCY + Mac.LATENCY + Rounder.LATENCY

    def __init__(
        self, *, parameters: Parameters, features: Features, control: MacControl, first: Sequence[int] = ()
    ) -> None:
        self.parameters = parameters
        self.first = tuple(first)
        several = bool(first) and parameters.roots > 1
        self.module_parameters = {ROOT_FIRST: len(first) * parameters.width} if several else {}
        self.settings = {ROOT_FIRST: words_expression(first, parameters.width)} if several else {}
        self.features = features
        used = {int(index) for index in features["root_issue"].values["shift"]}
        self.beside = joins_beside(parameters, features)
        self.shift = min(used, default=0)
        self.guard = parameters.model_guard
        self.places = parameters.shift_places(self.guard)
        self.shifts = (parameters.shifts[self.shift],) if self.beside else self.places
        self.wide_sources = control.wide_sources
        self.sources = {"a": control.a_sources, "b": control.b_sources, "c": control.c_sources}
        self.depths = {"data": parameters.root_data_depth, "memory": parameters.root_memory_depth}
        self.control_wires = {
            name: member.shape for name, member in control.signature.members.items() if member.flow == wiring.Out
        }
        address = parameters.address_bits["root_issue"]
        if parameters.scatters:
            self.data_sheet = described(self, _SCATTERING)
        super().__init__(
            {
                "control": In(wiring.Signature({name: Out(shape) for name, shape in self.control_wires.items()})),
                **{f"{operand}_address": In(address) for operand in "abc"},
                "tree": In(signed(parameters.accumulator)),
                "tree_inverted": In(1),
                **(
                    {"array": In(signed(parameters.accumulator)), "array_inverted": In(1)}
                    if parameters.roots > 1
                    else {}
                ),
                "write": In(1),
                "write_instruction": In(instruction_width("root_write")),
                "write_address": In(parameters.address_bits["root_write"]),
                "load_data": In(1),
                "load_memory": In(1),
                "load_address": In(parameters.address_bits["stream"]),
                **({"write_wide": In(1)} if self.guard else {}),
                "load_word": In(parameters.stored_width),
                "bus": Out(parameters.width),
                "output_word": Out(parameters.width),
                "output_valid": Out(1),
                "overflow": Out(1),
                "function_overflow": Out(1),
                "domain_error": Out(1),
                "update": Out(1),
                **({"write_scattered": In(1)} if parameters.scatters else {}),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        parameters = self.parameters
        width = parameters.width
        m.submodules.mac = mac = Mac(
            width=width,
            accumulator=parameters.accumulator,
            shifts=parameters.shifts,
            addend_shifts=self.features["root_issue"].addend_shifts,
            tree=not self.beside,
            late=any(name.startswith("late_") for name in self.sources["c"]),
            extremes="extreme" in self.control_wires,
            guard=self.guard,
            places=self.places,
        )
        m.submodules.rounder = rounder = Rounder(
            width=width + self.guard,
            fraction=parameters.fraction + self.guard,
            accumulator=parameters.accumulator,
            shifts=self.shifts,
            posts=self.features["root_issue"].values["post"],
            plain=self.beside,
            joins=self.beside,
        )
        m.submodules.functions = functions = FunctionUnit(parameters=parameters)

        at = self._staged(m)
        position: Any = Const(0, signed(width))
        if "holds" in self.control_wires:
            position = Signal(signed(width), name="position", reset_less=True)
        written = self._write(m, at, rounder.result, functions, position)
        # The word of a result is its upper bits.
        result = rounder.result[self.guard :].as_signed() if self.guard else rounder.result
        if "holds" in self.control_wires:
            self._hold(m, at, result, position)
        operands = self._operands(m, written, result, functions.value, position, platform)
        for operand, port in (("a", mac.a), ("b", mac.b), ("c", mac.addend)):
            m.d.comb += port.eq(operands[operand])
        if mac.late:
            m.d.comb += mac.late_addend.eq(above(self._late_addend(m, result, functions.value), self.guard))

        if self.beside:
            self._join_beside(m, at, mac, rounder)
        else:
            self._join(m, at, mac, rounder)
        m.d.comb += [
            rounder.valid.eq(at("issued")),
            rounder.post.eq(at("post")),
            self.overflow.eq(rounder.saturated & at("emit")),
        ]
        if self.features.tree_half:
            m.d.comb += mac.tree_half.eq(self._tree_half(m, at))
        if "extreme" in self.control_wires:
            m.d.comb += [
                mac.extreme.eq(at("extreme")),
                mac.complement.eq(at("complement")),
                mac.take.eq(at("take").any()),
            ]
        late = wanted("root_issue", "divisor") - wanted("root_issue", "b_select")
        m.d.comb += [
            functions.code.eq(at("function_code")),
            functions.operand.eq(result),
            functions.divisor.eq(delayed(m, operands["b"], late, name="divisor") if functions.divides else 0),
            self.function_overflow.eq(functions.overflow),
            self.domain_error.eq(functions.domain_error),
        ]
        return m

    def _join(self, m: Module, at: Any, mac: Mac, rounder: Rounder) -> None:
        """Make the tree's word the start value of a sum."""
        tree, tree_inverted, selected_tree = self.tree, self.tree_inverted, at("tree_select")
        if self.parameters.roots > 1:
            own = delayed(m, self._takes_own(at), 1, name="own_tree")
            tree = ((self.tree.as_unsigned() & own.replicate(len(self.tree))) | self.array.as_unsigned()).as_signed()
            # Nothing is left to select: the other words are 0.
            selected_tree = Const(1, 1)
            tree_inverted = Mux(at("array", of="array_inverted"), self.array_inverted, tree_inverted)
        m.d.comb += [
            # A cycle later than a lane would: the sense of the tree's word is not known before.
            mac.invert.eq(at("invert", of="tree_inverted") ^ (at("tree", of="tree_inverted") & tree_inverted)),
            mac.half.eq(at("half_all")),
            mac.shift.eq(at("start_shift")),
            mac.keep.eq(at("keep")),
            mac.tree_select.eq(selected_tree),
            mac.tree.eq(tree),
            rounder.accumulator.eq(mac.accumulator),
            rounder.inverted.eq(at("inverted")),
            rounder.shift.eq(at("shift")),
        ]

    def _join_beside(self, m: Module, at: Any, mac: Mac, rounder: Rounder) -> None:
        """Join the tree's word beside the accumulator, in front of the rounder. One of the two is 0, so no logic stands
        before the sum.
        """
        own = kept(m, self._takes_own(at), name="own_tree")
        place = self.shifts[0] + self.parameters.width - 1
        # Not kept: the mask can become the register's reset.
        tree_word = Signal(signed(len(self.tree)), name="tree_word", reset_less=True)
        m.d.sync += tree_word.eq(Mux(own, self.tree, 0))
        words = [tree_word, kept(m, self.array, name="array_word")]
        tree_outside = own & unlike(m, self.tree[place:], name="tree_above")
        array_outside = unlike(m, self.array[place:], name="array_above")
        outside = kept(m, tree_outside, name="tree_outside") | kept(m, array_outside, name="array_outside")
        sense = kept(
            m, Mux(at("array", of="array_inverted"), self.array_inverted, self.tree_inverted), name="tree_sense"
        )
        late = 0 if mac.early else 1
        m.d.comb += [
            mac.invert.eq(at("invert", after=late) & ~at("tree", of="invert", after=late)),
            mac.half.eq(at("half_all")),
            mac.shift.eq(self.shift),
            mac.keep.eq(kept(m, at("keep", after=-1), name="own_keep")),
            rounder.accumulator.eq(mac.accumulator),
            rounder.joined.eq((words[0].as_unsigned() | words[1].as_unsigned()).as_signed()),
            rounder.joined_outside.eq(outside),
            rounder.inverted.eq(self._sense(m, at, sense)),
        ]

    def _takes_own(self, at: Any) -> Any:
        """Return whether the operation takes its own group's word, in the cycle before the root wants that word."""
        return at("tree", of="tree", after=-1) & ~at("array", of="tree", after=-1)

    def _sense(self, m: Module, at: Any, tree_sense: Any) -> Any:
        """Return the sense of the word that the rounder takes, the tree's or the accumulator's."""
        from_tree = at("tree", of="inverted", after=-1)
        return kept(m, Mux(from_tree, tree_sense, at("inverted", after=-1)), name="sense")

    def _staged(self, m: Module) -> Any:
        """Return a function that gives a control wire in the cycle of the stage table.

        ``at(wire)`` is the wire in the cycle in which a root wants it. ``at(output, of=wire)`` is an output of the
        control in the cycle in which a root wants `wire`. ``after=n`` gives either n cycles later.
        """
        chains: dict[str, list[Any]] = {}

        def at(wire: str, *, of: str | None = None, after: int = 0) -> Any:
            name, cycle = output_of(wire), wanted("root_issue", of or wire) + after
            chain = chains.setdefault(name, [getattr(self.control, name)])
            while len(chain) <= cycle:
                chain.append(delayed(m, chain[-1], 1, name=f"{name}_{len(chain)}"))
            return chain[cycle]

        return at

    def _tree_half(self, m: Module, at: Any) -> Any:
        """Return half a unit for the tree's word. It is negative when the sum is kept as a complement."""
        half = Signal(signed(self.parameters.accumulator), reset_less=True)
        m.d.sync += half.eq(0)
        for index, shift in enumerate(self.parameters.shifts):
            unit = 1 << shift >> 1
            with m.If(at("tree_half") & (at("start_shift") == index)):
                m.d.sync += half.eq(Mux(at("inverted", of="tree_half"), -unit, unit))
        return half

    def _write(self, m: Module, at: Any, result: Any, functions: FunctionUnit, position: Any) -> dict[str, Any]:
        """Write words back, and return the write port that all copies of `memory` and of `data` share.

        All is decoded a cycle before, in registers of the root's own. A word that may be written is 0 unless it is to
        be written. Below it are its guard bits, which are 0 in a result that is not wide.
        """
        write, places = self.features["root_write"], instruction_fields("root_write", self.write_instruction)

        def register(name: str, value: Any) -> Any:
            # Nothing is written after a reset; words need none.
            return kept(m, value, name=name, reset=len(value) == 1)

        of_function = places["source"] & int(write.uses("source", "function"))
        takes_result = register("takes_result", ~(self.load_memory | of_function))
        loaded = register("loaded_memory_word", Mux(self.load_memory, self.load_word, 0))
        # What is 0 when no value ends needs no more; of several roots a value may not be.
        m.d.comb += functions.writes.eq(of_function & self.write if self.parameters.roots > 1 else of_function)
        guard, own = self.guard, result.as_unsigned()
        word = (own[guard:] & takes_result.replicate(len(own) - guard)) | functions.written | loaded[guard:]
        stored, leaving = word, word
        if guard:
            # Like the result itself, this stays until the next result.
            wide = Signal(name="result_is_wide")
            m.d.comb += wide.eq(Mux(at("issued"), at("wide_result", of="issued"), delayed(m, wide, 1, name="was_wide")))
            takes_guard = register("takes_guard", wide & ~(self.load_memory | of_function))
            low = (own[:guard] & takes_guard.replicate(guard)) | loaded[:guard]
            stored = Cat(low, word)
            leaving = Mux(register("writes_guard", self.write_wide), padded(low, len(word)), word)

        m.d.comb += self.update.eq(register("updates", self.write & places["to_memory"] & places["model"]))
        with m.If(register("writes_bus", self.write & places["to_bus"])):
            m.d.sync += self.bus.eq(word)
        writes_output = register("writes_output", self.write & places["to_output"])
        address = self.write_address
        if self.parameters.scatters:
            address = _moved(address, position, self.write_scattered)
        m.d.sync += [self.output_word.eq(leaving), self.output_valid.eq(writes_output)]
        return {
            "data": (
                delayed(m, self.load_data, 1, name="loads_data"),
                delayed(m, self.load_address, 1, name="load_address"),
                delayed(m, self.load_word[guard:] if guard else self.load_word, 1, name="load_word"),
            ),
            "memory": (
                register("writes_memory", (self.write & places["to_memory"]) | self.load_memory),
                register("memory_write_address", Mux(self.load_memory, self.load_address, address)),
                stored,
            ),
        }

    def _hold(self, m: Module, at: Any, result: Any, position: Any) -> None:
        """Keep the last result of an operation that asked for it in the position register."""
        with m.If(at("holds")):
            m.d.sync += position.eq(result)

    def _late_addend(self, m: Module, result: Any, value: Any) -> Any:
        """Return what the registers show in cycle *u* + 3 for an operation that adds it, otherwise 0."""
        words = {"late_result": result.as_unsigned(), "late_function": value.as_unsigned()}
        late = wanted("root_issue", "late_select")
        select = delayed(m, getattr(self.control, output_of("late_select")), late, name="late_select")
        names = self.sources["c"]
        return selected([(words[n], select[i]) for i, n in enumerate(names) if n in words], self.parameters.width)

    def _address(self, operand: str, position: Any) -> Any:
        """Return a port's address. Where the port gathers, the word of the position register is added."""
        address, names = getattr(self, f"{operand}_address"), self.sources[operand]
        gathers = [index for index, name in enumerate(names) if name.startswith("gathered_")]
        if not gathers:
            return address
        chosen = Cat(getattr(self.control, f"{operand}_select")[index] for index in gathers).any()
        return _moved(address, position, chosen)

    def _select(self, m: Module, operand: str) -> Any:
        """Return an operand's select. Each of several roots has the last register to itself, and synthesis must not
        share it.
        """
        wires, name = getattr(self.control, f"{operand}_select"), f"{operand}_select"
        cycle = wanted("root_issue", name)
        if self.parameters.roots == 1:
            return delayed(m, wires, cycle, name=name)
        return kept(m, delayed(m, wires, cycle - 1, name=f"{name}_before"), name=name)

    def _operands(
        self, m: Module, written: Mapping[str, Any], result: Any, value: Any, position: Any, platform: Any
    ) -> dict[str, Any]:
        """Return the three operands in cycle *u* + 2. Each has its own copies of the memories that it reads."""
        operands, kinds = {}, dict[tuple[Bank, ...], str]()
        block = roots_have_blocks(self.parameters)
        for operand, names in self.sources.items():
            select, whole = self._select(m, operand), list[tuple[Any, Any]]()
            one = Const(1 << self.parameters.fraction, self.parameters.width)
            words: dict[str, Any] = {
                "one": one,
                "position": one,
                "result": result.as_unsigned(),
                "function": value.as_unsigned(),
            }
            for name in ("data", "memory"):
                wide = operand == "c" and name in self.wide_sources
                if name in names or f"gathered_{name}" in names or wide:
                    extra = self.guard if wide else 0
                    own = ROOT_FIRST if self.module_parameters and name == "memory" else ""
                    needed = self.parameters.needed.get(f"root {name}")
                    memory = WordMemory(
                        width=self.parameters.width + extra,
                        depth=self.depths[name],
                        block=block,
                        init=self.first if name == "memory" else (),
                        own=own,
                        needed=needed[OPERANDS.index(operand)] if needed else None,
                    )
                    alone = memory
                    if own:
                        kinds.setdefault(memory.banks, numbered("root_memory", len(kinds)))
                        alone = placed(platform, kinds[memory.banks], memory)
                    m.submodules[f"{name}_{operand}"] = alone
                    enable, address, word = written[name]
                    if name == "memory" and not wide and self.guard:
                        word = word[self.guard :]
                    m.d.comb += [
                        memory.read_address.eq(self._address(operand, position)),
                        memory.write_enable.eq(enable),
                        memory.write_address.eq(address),
                        memory.write_data.eq(word),
                    ]
                    read = memory.read_data
                    words[name] = words[f"gathered_{name}"] = read[extra:] if extra else read
                    if wide:
                        whole.append((read, self._select(m, "wide")))
            guard = self.guard if operand == "c" else 0
            choices = [
                (above(words[name], guard), select[i]) for i, name in enumerate(names) if not name.startswith("late_")
            ]
            choices += whole
            if operand == "c" and "extreme" in self.control_wires:
                lowest, highest = (
                    delayed(m, getattr(self.control, name), wanted("root_issue", name), name=name)
                    for name in ("lowest", "highest")
                )
                choices += limit_words(self.parameters.width, lowest, highest, guard)
            operands[operand] = selected(choices, self.parameters.width + guard)
        return operands
