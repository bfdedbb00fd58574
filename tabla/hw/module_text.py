"""One module of a netlist as Verilog."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tabla.hw.expressions import Expressions, Uses, literal, span
from tabla.hw.memory import ANY_WORDS, FIRST_WORDS
from tabla.hw.names import Names, identifier, port_names, wire_names
from tabla.hw.netlist import Bits, Cell, Memory, Module, Spec, Wire, part_of
from tabla.hw.operators import OPERATORS, Operation, merged, operation, widest, wired
from tabla.hw.processes import Register, logic_of, registers_of, statements
from tabla.hw.sharing import EXPRESSION

_WIDTH = 116
_TURNS = 1024
"""The most statements of an initial block, and the most turns of a loop there. The time that Yosys takes for a block
grows with their square: 2 seconds for 4,096 words, and 21 for 16,384."""


def wrapped(text: str, indent: str = "  ") -> list[str]:
    """Return a statement as lines of at most 116 characters, if it has spaces to break at."""
    lines = []
    while len(indent) + len(text) > _WIDTH and (cut := text.rfind(" ", 0, _WIDTH - len(indent))) > 0:
        lines.append(indent + text[:cut])
        text = text[cut + 1 :]
        indent = indent if lines[1:] else indent + "  "
    return [*lines, indent + text]


class ModuleText:
    """Writes one module. `order` are the names of its ports in the order of its data sheet, as far as it has one.

    `parameters` are those of the module, vectors that are 0 by default, with their bits.
    """

    def __init__(self, module: Module, order: Iterable[str] = (), parameters: Iterable[tuple[str, int]] = ()) -> None:
        self.module = module
        self.parameters = tuple(parameters)
        names = Names()
        found = port_names(module, names)
        self.ports = _in_order([wire.name for wire in module.wires.values() if wire.direction], order)
        self.port_names = {name: found[name] for name in self.ports}
        # The names of instances come before those of wires: reports and floor plans go by them.
        self._cells = {
            cell.name: names.free(cell.name.partition("$")[0]) for cell in module.cells if not cell.kind.startswith("$")
        }
        self._memories = {name: names.free(name.partition("$")[0]) for name in module.memories}
        found = wire_names(module, names, found)
        self._wires = dict(module.wires)
        self._registers = {register.wire: register for register in registers_of(module)}
        logic: dict[str, Operation] = {}
        for cell in module.cells:
            if cell.kind in OPERATORS:
                target, width = cell.ports["Y"][0], widest(cell)
                logic[target.wire] = operation(cell)
                if width > target.width:
                    whole = f"$whole{len(logic)}"
                    self._wires[whole] = Wire(whole, width, "", {})
                    logic[whole] = logic[target.wire]
                    logic[target.wire] = wired((Bits(whole, 0, target.width),))
        taken = {register.number for register in self._registers.values()}
        for number, items in enumerate(module.processes):
            if number not in taken:
                logic |= logic_of(items, self._wires, f"$process{number}")
        for connection in module.connections:
            logic[connection.target[0].wire] = wired(connection.value)
        self._logic, same = merged(logic, {wire: self._wires[wire].width for wire in logic})
        self._uses = Uses(self._wires, same)
        self._expressions = Expressions(self._wires, found, names, self._logic, self._uses)
        self._reads = {cell.ports["DATA"][0].wire: cell for cell in module.cells if cell.kind == "$memrd_v2"}
        self._count_uses()

    def signals(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the Verilog name and the attributes of each wire and memory that the hardware's source names."""
        for wire, name in self._expressions.names.items():
            yield name, self.module.wires[wire].attributes
        for memory, name in self._memories.items():
            yield name, self.module.memories[memory].attributes

    def _count_uses(self) -> None:
        """Count the uses of what can be seen at an output, by an instance, or in a register that is to be kept."""
        uses = self._uses
        waiting = [name for name in self.ports if self.module.wires[name].direction == "output"]
        waiting += [wire for wire in self._registers if "keep" in self.module.wires[wire].attributes]
        seen = set(waiting)
        seen_memories: set[str] = set()

        def found(specs: Iterable[Spec]) -> None:
            for wire in uses.add_all(specs):
                if wire not in seen:
                    seen.add(wire)
                    waiting.append(wire)

        for cell in self.module.cells:
            if cell.name in self._cells:
                found(cell.ports.values())
        while waiting:
            wire = waiting.pop()
            if register := self._registers.get(wire):
                found(register.specs())
            elif read := self._reads.get(wire):
                found(read.ports[port] for port in ("ADDR", "EN", "CLK"))
                memory = read.parameters["MEMID"]
                if memory not in seen_memories:
                    seen_memories.add(memory)
                    for cell in self._writes(memory):
                        # The enable of a word is one bit, repeated.
                        found(cell.ports[port] for port in ("ADDR", "DATA", "EN", "CLK"))
            elif wire in self._logic:
                found(self._logic[wire].operands)
        self._seen, self._seen_memories = seen, seen_memories

    def _writes(self, memory: str) -> list[Cell]:
        return [cell for cell in self.module.cells if cell.kind == "$memwr_v2" and cell.parameters["MEMID"] == memory]

    def text(self, name: str, port_names: Mapping[str, Mapping[str, str]], modules: Mapping[str, str]) -> str:
        """Return the module as Verilog module `name`.

        `port_names` are the ports of the other modules of the design, and `modules` their names, by the names that they
        have in the netlist. An instance of anything else keeps its names.
        """
        registers = [register for wire, register in self._registers.items() if wire in self._seen]
        for register in registers:
            self._expressions.name(register.wire, "held")
        for cell in self.module.cells:
            if cell.name in self._cells:
                for port, spec in cell.ports.items():
                    if len(spec) == 1 and spec[0].wire:
                        wire = spec[0].wire
                        if wire not in self._logic and wire not in self._registers and wire not in self._reads:
                            self._expressions.name(wire, f"{self._cells[cell.name]}_{port}")
        memories = [line for memory in self.module.memories.values() for line in self._memory(memory)]
        clocked = self._clocked(registers)
        instances = [
            line
            for cell in self.module.cells
            if cell.name in self._cells
            for line in self._instance(cell, port_names.get(cell.kind, {}), modules.get(cell.kind, cell.kind))
        ]
        outputs = self._outputs()
        sections = [
            [*self._declarations(registers), *self._initial(registers)],
            [line for text in self._expressions.declared for line in wrapped(text)],
            memories,
            clocked,
            instances,
            outputs,
        ]
        body = "\n".join("\n".join(section) + "\n" for section in sections if section)
        return f"module {name} {self._parameter_list()}(\n{self._header()}\n);\n{body}endmodule\n"

    def _parameter_list(self) -> str:
        if not self.parameters:
            return ""
        lines = ",\n".join(f"  parameter {span(width)}{name} = {width}'b0" for name, width in self.parameters)
        return f"#(\n{lines}\n) "

    def _header(self) -> str:
        lines = []
        for name in self.ports:
            wire = self.module.wires[name]
            kind = "reg" if name in self._registers or self._clocked_read(name) else "wire"
            keep = "(* keep = 1 *) " if "keep" in wire.attributes else ""
            lines.append(f"  {keep}{wire.direction} {kind} {span(wire.width)}{self.port_names[name]}")
        return ",\n".join(lines)

    def _clocked_read(self, wire: str) -> bool:
        return wire in self._reads and bool(self._reads[wire].number("CLK_ENABLE"))

    def _declarations(self, registers: list[Register]) -> list[str]:
        """Return the declarations of everything that is no expression: registers, outputs of instances, memories."""
        lines = []
        clocked = [register.wire for register in registers] + [wire for wire in self._reads if self._clocked_read(wire)]
        for wire in self._expressions.early:
            lines.append(f"  wire {span(self._wires[wire].width)}{self._expressions.names[wire]};")
        for wire in clocked:
            found = self.module.wires[wire]
            if wire in self._expressions.names and wire in self._seen and not found.direction:
                lines.append(
                    f"  {_attributes(found.attributes)}reg {span(found.width)}{self._expressions.names[wire]};"
                )
        for wire in self._reads:
            found = self.module.wires[wire]
            if not self._clocked_read(wire) and wire in self._seen and not found.direction:
                lines.append(f"  wire {span(found.width)}{self._expressions.names[wire]};")
        for wire, found in self.module.wires.items():
            driven = found.direction or wire in self._logic or wire in self._registers or wire in self._reads
            if not driven and wire in self._expressions.names and wire in self._uses:
                lines.append(f"  wire {span(found.width)}{self._expressions.names[wire]};")
        for memory in self.module.memories.values():
            if f'"\\\\{memory.name}"' in self._seen_memories:
                lines.append(
                    f"  {_attributes(memory.attributes)}reg {span(memory.width)}{self._memories[memory.name]} "
                    f"[0:{memory.depth - 1}];"
                )
        return lines

    def _initial(self, registers: list[Register]) -> list[str]:
        starts = [
            f"{self._expressions.names[register.wire]} = {literal(register.start)};"
            for register in registers
            if register.start
        ]
        if not starts:
            return []
        return ["  initial begin", *_filled(starts, "    "), "  end"]

    def _memory(self, memory: Memory) -> list[str]:
        """Return what a memory starts with, and its ports, as Verilog that every synthesis takes for a memory."""
        key = f'"\\\\{memory.name}"'
        if key not in self._seen_memories:
            return []
        name, expressions = self._memories[memory.name], self._expressions
        started = [c for c in self.module.cells if c.kind == "$meminit_v2" and c.parameters["MEMID"] == key]
        lines = self._contents(memory, started[0] if started else None, name)
        for cell in self._writes(key):
            address = expressions.text(cell.ports["ADDR"], f"{name}_write_address")
            lines.append(f"  always @(posedge {expressions.text(cell.ports['CLK'], 'clk')}) begin")
            for enable, low, width in _enables(cell.ports["EN"]):
                data = expressions.text(part_of(cell.ports["DATA"], low, width), f"{name}_write_data")
                bits = "" if width == memory.width else f"[{low + width - 1}:{low}]"
                condition = expressions.text(enable, f"{name}_write")
                lines += wrapped(f"if ({condition}) {name}[{address}]{bits} <= {data};", "    ")
            lines.append("  end")
        for wire, cell in self._reads.items():
            if cell.parameters["MEMID"] != key or wire not in self._seen:
                continue
            address = expressions.text(cell.ports["ADDR"], f"{name}_address")
            target = expressions.name(wire, f"{name}_word")
            if not cell.number("CLK_ENABLE"):
                lines.append(f"  assign {target} = {name}[{address}];")
                continue
            if cell.number("TRANSPARENCY_MASK"):
                raise ValueError(f"the Verilog writer does not know transparent reading, as of {memory.name}")
            when = expressions.text(cell.ports["EN"], f"{name}_read")
            condition = "" if when == "1'b1" else f"if ({when}) "
            clock = expressions.text(cell.ports["CLK"], "clk")
            lines.append(f"  always @(posedge {clock}) {condition}{target} <= {name}[{address}];")
        return lines

    @staticmethod
    def _contents(memory: Memory, cell: Cell | None, name: str) -> list[str]:
        """Return the initial block of a memory: a loop for zeros, else a statement for each word that is not zero.

        A memory whose first words are a parameter of its module takes them from there, in a second loop.
        """
        if FIRST_WORDS in memory.attributes:
            return _first_words(memory, name)
        if cell is None or ANY_WORDS in memory.attributes:
            return []
        bits = "".join(part.constant for part in cell.ports["DATA"])
        words = [bits[len(bits) - (n + 1) * memory.width : len(bits) - n * memory.width] for n in range(memory.depth)]
        zero = "0" * memory.width
        if not bits:
            return []
        rest = [place for place, word in enumerate(words) if word != zero]
        if memory.depth <= _TURNS:
            if len(rest) > memory.depth // 2:
                return _blocks([[f"{name}[{place}] = {literal(word)};" for place, word in enumerate(words)]])
            texts = [f"{name}[{place}] = {literal(words[place])};" for place in rest]
            (loop,) = _loops(name, 0, memory.depth, literal(zero))
            return [f"  integer {name}_index;", "  initial begin", f"    {loop}", *_filled(texts, "    "), "  end"]
        # Every word has one statement, because nothing says in which order initial blocks run.
        end = rest[-1] + 1 if rest else 0
        texts = [f"{name}[{place}] = {literal(words[place])};" for place in range(end)]
        held = _blocks([texts[low : low + _TURNS] for low in range(0, end, _TURNS)])
        return [*held, *_with_indices(name, _loops(name, end, memory.depth, literal(zero)))]

    def _clocked(self, registers: list[Register]) -> list[str]:
        """Return the registers as one block a clock. What a reset sets stands at the end, where it wins."""
        lines: list[str] = []
        clocks: dict[str, list[Register]] = {}
        for register in registers:
            clocks.setdefault(self._expressions.text(register.clock, "clk"), []).append(register)
        for clock, group in clocks.items():
            resets: dict[str, list[str]] = {}
            lines.append(f"  always @(posedge {clock}) begin")
            for register in group:
                name, wide = self._expressions.names[register.wire], self.module.wires[register.wire].width
                if register.number < 0:
                    found = [f"{name} <= {self._expressions.text(register.next, f'{name}_next')};"]
                else:
                    found = statements(register.items, name, self._expressions, wide)
                lines += [line for text in found for line in wrapped(text.strip(), " " * (4 + _indent(text)))]
                if register.reset:
                    condition = self._expressions.text(register.reset, "reset")
                    resets.setdefault(condition, []).append(f"{name} <= {literal(register.reset_value)};")
            for condition, texts in resets.items():
                lines += [f"    if ({condition}) begin", *_filled(texts, "      "), "    end"]
            lines.append("  end")
        return lines

    def _instance(self, cell: Cell, port_names: Mapping[str, str], kind: str) -> list[str]:
        name = self._cells[cell.name]
        order = {port: place for place, port in enumerate(port_names)}
        ports = sorted(cell.ports, key=lambda port: order.get(port, len(order)))
        parameters = [f".{key}({_parameter(value)})" for key, value in cell.parameters.items()]
        settings = f"#({', '.join(parameters)}) "
        head = f"{kind} {settings if parameters else ''}{name} ("
        texts = [
            f".{port_names.get(port, identifier(port))}({self._expressions.text(cell.ports[port], f'{name}_{port}')})"
            for port in ports
        ]
        texts = [*(f"{text}," for text in texts[:-1]), *texts[-1:]]
        return [*wrapped(_attributes(cell.attributes) + head), *_filled(texts, "    "), "  );"]

    def _outputs(self) -> list[str]:
        lines: list[str] = []
        for name in self.ports:
            if name in self._logic and self.module.wires[name].direction == "output":
                port = self.port_names[name]
                lines += wrapped(f"assign {port} = {self._expressions.operation(self._logic[name], port)};")
        return lines


def _first_words(memory: Memory, name: str) -> list[str]:
    """Return the initial block of a memory that starts with the words of a parameter, followed by zeros."""
    parameter, *numbers = memory.attributes[FIRST_WORDS].strip('"').split()
    width, lowest, count = map(int, numbers)
    index = f"{name}_index"
    place = f"{index} * {width}" + (f" + {lowest}" if lowest else "")
    loops = _loops(name, 0, count, f"{parameter}[{place} +: {memory.width}]")
    loops += _loops(name, count, memory.depth, literal("0" * memory.width))
    if memory.depth <= _TURNS:
        return [f"  integer {index};", "  initial begin", *(f"    {loop}" for loop in loops), "  end"]
    return _with_indices(name, loops)


def _loops(name: str, begin: int, end: int, word: str) -> list[str]:
    """Return loops that give the words from `begin` up to `end` of a memory a value, of at most ``_TURNS`` turns."""
    index = f"{name}_index"
    bounds = [(low, min(low + _TURNS, end)) for low in range(begin, end, _TURNS)]
    return [f"for ({index} = {a}; {index} < {b}; {index} = {index} + 1) {name}[{index}] = {word};" for a, b in bounds]


def _blocks(parts: Sequence[list[str]]) -> list[str]:
    """Return an initial block for each list of statements."""
    return [line for texts in parts for line in ("  initial begin", *_filled(texts, "    "), "  end")]


def _with_indices(name: str, loops: Sequence[str]) -> list[str]:
    """Return an initial block for each loop over the words of a memory, with an index of its own."""
    lines: list[str] = []
    for number, loop in enumerate(loops):
        index = f"{name}_index" + (f"_{number + 1}" if number else "")
        lines += [f"  integer {index};", *_blocks([[loop.replace(f"{name}_index", index)]])]
    return lines


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _filled(texts: list[str], indent: str) -> list[str]:
    """Return short statements as lines of at most 116 characters."""
    lines: list[str] = []
    for text in texts:
        if lines and len(lines[-1]) + 1 + len(text) <= _WIDTH:
            lines[-1] += " " + text
        else:
            lines.append(indent + text)
    return lines


def _attributes(found: Mapping[str, str]) -> str:
    """Return the attributes of a wire, a memory or an instance in Verilog, but for what the text itself says."""
    kept = [
        f"{key} = {_parameter(value)}"
        for key, value in found.items()
        if key not in (FIRST_WORDS, ANY_WORDS, "init", "src", "generator")
    ]
    return f"(* {', '.join(kept)} *) " if kept else ""


def _parameter(value: str) -> str:
    """Return a parameter or an attribute: a text, a decimal number, or a constant."""
    if value.startswith(f'"{EXPRESSION}'):
        return value[len(EXPRESSION) + 1 : -1]
    if value.startswith('"') or "'" not in value:
        return value
    return literal(value.partition("'")[2])


def _in_order(ports: list[str], order: Iterable[str]) -> list[str]:
    """Return the ports in the order of the data sheet: the clock and the reset first."""
    places = {name: place for place, name in enumerate(["clk", "rst", *order])}
    return sorted(ports, key=lambda port: places.get(port.partition("$")[0], len(places)))


def _enables(enable: Spec) -> list[tuple[Spec, int, int]]:
    """Return the parts of a word that are written together: their enable, the lowest bit, and the bits."""
    found: list[tuple[Spec, int, int]] = []
    place = 0
    for part in reversed(enable):
        for bit in range(part.width):
            one = part_of((part,), bit, 1)
            if found and found[-1][0] == one:
                found[-1] = (one, found[-1][1], found[-1][2] + 1)
            else:
                found.append((one, place, 1))
            place += 1
    return found
