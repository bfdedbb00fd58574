"""Modules of RTLIL, the text form in which Amaranth hands over a netlist, as plain data.

RTLIL is the intermediate language of Yosys; its grammar is in the Yosys manual, appendix "RTLIL text representation".
This reader takes the part that Amaranth's back end writes: wires, memories, cells, processes without their own
registers, and connections.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Bits:
    """Bits `low` to ``low + width - 1`` of a wire; or, with the empty name, the constant `constant`.

    A constant is written as RTLIL writes it: a character a bit, the highest first, each of them 0, 1 or x.
    """

    wire: str
    low: int
    width: int
    constant: str = ""


Spec = tuple[Bits, ...]
"""Bits in a row, the highest first."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A wire. `direction` is input, output, inout or empty; the attributes are texts as RTLIL writes them."""

    name: str
    width: int
    direction: str
    attributes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory of `depth` words of `width` bits."""

    name: str
    width: int
    depth: int
    attributes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Cell:
    """An operator, a register, a port of a memory, or an instance of another module."""

    kind: str
    name: str
    parameters: dict[str, str]
    ports: dict[str, Spec]
    attributes: dict[str, str]

    def number(self, parameter: str) -> int:
        """Return a parameter that is a number: decimal, or a width and bits."""
        text = self.parameters[parameter]
        return int(text.partition("'")[2], 2) if "'" in text else int(text)


@dataclass(frozen=True, slots=True)
class Assign:
    """A connection: the wires of `target` carry the value of `value`."""

    target: Spec
    value: Spec


@dataclass(frozen=True, slots=True)
class Case:
    """What happens for the first pattern that fits: 0, 1, or - for any bit. No pattern at all fits everything."""

    patterns: tuple[str, ...]
    items: "list[Item]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Switch:
    """The first case that fits `value`."""

    value: Spec
    cases: list[Case] = field(default_factory=list)


Item = Assign | Switch


@dataclass(frozen=True, slots=True)
class Module:
    """A module as RTLIL has it. Names are without the backslash of RTLIL; names that begin with $ are nobody's."""

    name: str
    wires: dict[str, Wire] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    processes: list[list[Item]] = field(default_factory=list)
    connections: list[Assign] = field(default_factory=list)


def constant(bits: str) -> Spec:
    """Return a constant, without any `Bits` if it has no bits."""
    return (Bits("", 0, len(bits), bits),) if bits else ()


def width_of(spec: Spec) -> int:
    """Return the bits of `spec`."""
    return sum(part.width for part in spec)


def part_of(spec: Spec, low: int, width: int) -> Spec:
    """Return the bits `low` to ``low + width - 1``."""
    kept: list[Bits] = []
    for part in reversed(spec):
        if width <= 0:
            break
        if low >= part.width:
            low -= part.width
            continue
        taken = min(width, part.width - low)
        end = part.width - low
        first = part.low + low if part.wire else 0
        kept.append(Bits(part.wire, first, taken, part.constant[end - taken : end]))
        low, width = 0, width - taken
    return tuple(reversed(kept))


def replaced(spec: Spec, same: Mapping[str, str]) -> Spec:
    """Return `spec` with other wires in place of some, and with constants that lie side by side as one."""
    parts: list[Bits] = []
    for part in spec:
        if part.wire in same:
            part = Bits(same[part.wire], part.low, part.width)
        if not part.wire and parts and not parts[-1].wire:
            part = Bits("", 0, parts[-1].width + part.width, parts.pop().constant + part.constant)
        parts.append(part)
    return tuple(parts)


def _plain(name: str) -> str:
    return name[1:] if name.startswith("\\") else name


class _Reader:
    """Reads the lines of one text after another."""

    def __init__(self, text: str) -> None:
        self.lines = iter(text.splitlines())
        self.attributes: dict[str, str] = {}
        self.specs: dict[str, Spec] = {}

    def modules(self) -> Iterator[Module]:
        for line in self.lines:
            if line.startswith("module "):
                self.attributes = {}
                yield self._module(Module(_plain(line.split()[1])))

    def _taken(self) -> dict[str, str]:
        attributes, self.attributes = self.attributes, {}
        return attributes

    def _module(self, module: Module) -> Module:
        self.specs = {}
        for raw in self.lines:
            line = raw.strip()
            if not line:
                continue
            word, _, rest = line.partition(" ")
            match word:
                case "attribute":
                    key, _, value = rest.partition(" ")
                    self.attributes[_plain(key)] = value
                case "wire":
                    self._wire(module, rest.split())
                case "cell":
                    module.cells.append(self._cell(module, *rest.split()))
                case "process":
                    self._taken()
                    items: list[Item] = []
                    self._items(module, items)
                    module.processes.append(items)
                case "connect":
                    module.connections.append(self._assign(module, rest))
                case "memory":
                    _, width, _, depth, name = rest.split()
                    module.memories[_plain(name)] = Memory(_plain(name), int(width), int(depth), self._taken())
                case "end":
                    return module
                case _:
                    raise ValueError(f"RTLIL that this reader does not know: {line}")
        raise ValueError("RTLIL ends inside a module")

    def _wire(self, module: Module, words: list[str]) -> None:
        name = _plain(words[-1])
        direction = next((word for word in words if word in ("input", "output", "inout")), "")
        module.wires[name] = Wire(name, int(words[1]), direction, self._taken())

    def _cell(self, module: Module, kind: str, name: str) -> Cell:
        cell = Cell(_plain(kind), _plain(name), {}, {}, self._taken())
        for raw in self.lines:
            line = raw.strip()
            if line == "end":
                return cell
            word, _, rest = line.partition(" ")
            key, _, value = rest.partition(" ")
            if word == "connect":
                cell.ports[_plain(key)] = self.spec(module, value)
            elif key in ("signed", "real"):
                key, _, value = value.partition(" ")
                cell.parameters[_plain(key)] = value
            else:
                cell.parameters[_plain(key)] = value
        raise ValueError("RTLIL ends inside a cell")

    def _assign(self, module: Module, text: str) -> Assign:
        """Split two bit lists: the first ends at its brace, or after its name and its index."""
        if text.startswith("{"):
            cut = text.index("}") + 1
        else:
            cut = text.index(" ")
            if text[cut + 1] == "[":
                cut = text.index("]", cut) + 1
        return Assign(self.spec(module, text[:cut]), self.spec(module, text[cut + 1 :]))

    def _items(self, module: Module, items: list[Item]) -> str:
        """Read items up to the line that ends them, and return that line: ``end``, or a ``case``."""
        for raw in self.lines:
            line = raw.strip()
            word, _, rest = line.partition(" ")
            match word:
                case "assign":
                    items.append(self._assign(module, rest))
                case "switch":
                    switch = Switch(self.spec(module, rest))
                    line = self._items(module, [])
                    while line != "end":
                        patterns = tuple(word.partition("'")[2].rstrip(",") for word in line.split()[1:])
                        case = Case(patterns)
                        switch.cases.append(case)
                        line = self._items(module, case.items)
                    items.append(switch)
                case "attribute":
                    pass
                case _:
                    return line
        raise ValueError("RTLIL ends inside a process")

    def spec(self, module: Module, text: str) -> Spec:
        found = self.specs.get(text)
        if found is None:
            found = self.specs[text] = self._spec(module, text)
        return found

    def _spec(self, module: Module, text: str) -> Spec:
        parts: list[Bits] = []
        for word in text.split():
            if word in ("{", "}"):
                continue
            if word.startswith("["):
                high, _, low = word[1:-1].partition(":")
                first = int(low or high)
                parts[-1] = Bits(parts[-1].wire, first, int(high) - first + 1)
            elif word[0] in "\\$":
                name = _plain(word)
                parts.append(Bits(name, 0, module.wires[name].width))
            else:
                parts += constant(word.partition("'")[2])
        return tuple(parts)


def modules_of(text: str) -> list[Module]:
    """Return the modules of RTLIL as Amaranth writes it. Other RTLIL is a `ValueError`."""
    return list(_Reader(text).modules())
