"""The logic of a module as Verilog expressions, and names for the wires between them.

An operator whose result nobody named is written where the result is used, if that is in one place and the line stays
short. Otherwise the result gets a wire, named after what it is for: ``<register>_sum``, ``<instance>_<port>_equal``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from tabla.hw.names import Names
from tabla.hw.netlist import Bits, Spec, Wire, replaced
from tabla.hw.operators import Operation

# The longest expression that is written inside another one, in characters.
_LONGEST = 72
_INVERSE = re.compile(r"~\w+(?:\[[\d:]+\])?")
_SIMPLE = re.compile(r"\w+(?:\[[\d:]+\])?|\d+'\w+")


def literal(bits: str) -> str:
    """Return a constant in Verilog: binary up to four bits, or where a bit is unknown, else hexadecimal."""
    if len(bits) <= 4 or "x" in bits:
        return f"{len(bits)}'b{bits}"
    return f"{len(bits)}'h{int(bits, 2):0{-(-len(bits) // 4)}x}"


def span(width: int) -> str:
    """Return the range in a declaration of `width` bits, with a space behind it; one bit has none."""
    return f"[{width - 1}:0] " if width > 1 else ""


class Uses:
    """How often each wire is used, and whether any use takes only some of its bits.

    `same` gives another wire for each wire in whose place the other one is used.
    """

    def __init__(self, wires: dict[str, Wire], same: Mapping[str, str]) -> None:
        self.same = same
        self._wires = wires
        self._times: Counter[str] = Counter()
        self._partly: set[str] = set()

    def add(self, spec: Spec) -> Iterator[str]:
        """Count one use, and yield the wires that are used here for the first time."""
        last: Bits | None = None
        for part in replaced(spec, self.same):
            if not part.wire or part == last:
                # A repeated part is written once.
                continue
            last = part
            self._times[part.wire] += 1
            if part.width < self._wires[part.wire].width:
                self._partly.add(part.wire)
            if self._times[part.wire] == 1:
                yield part.wire

    def add_all(self, specs: Iterable[Spec]) -> list[str]:
        """Count the uses in all of `specs`, and return the wires that are used here for the first time."""
        return [wire for spec in specs for wire in self.add(spec)]

    def __contains__(self, wire: str) -> bool:
        return wire in self._times

    def inlined(self, wire: str, operation: Operation) -> bool:
        """Return whether what drives a wire without a name is written where the wire is used."""
        if wire in self._partly:
            return False
        return self._times[wire] == 1 or (operation.symbol == "~" and _is_simple(operation.operands[0]))


def _is_simple(spec: Spec) -> bool:
    return len(spec) == 1 and not spec[0].wire.startswith("$")


class Expressions:
    """Writes the expressions of one module, and declares their wires in `declared`, each before its use.

    `wires` are all wires of the module, `names` the Verilog names of those that have one, and `logic` what drives a
    wire. A wire that is neither in `logic` nor named is a register or an output of an instance.
    """

    def __init__(
        self, wires: dict[str, Wire], names: dict[str, str], free: Names, logic: dict[str, Operation], uses: Uses
    ) -> None:
        self.wires, self.names, self.free, self.logic, self.uses = wires, names, free, logic, uses
        self.declared: list[str] = []
        # Wires that were needed while their own expression was written: the bits of one wire may depend on each other.
        self.early: list[str] = []
        self._done: set[str] = set()
        self._busy: set[str] = set()

    def name(self, wire: str, sink: str) -> str:
        """Return the Verilog name of a wire that exists in its own right; without a name it is called `sink`."""
        if wire not in self.names:
            self.names[wire] = self.free.free(sink)
        return self.names[wire]

    def text(self, spec: Spec, sink: str, *, alone: bool = True) -> str:
        """Return `spec` in Verilog. `sink` is the name of what it is for.

        With `alone` nothing stands around the text, but it may stand between braces or commas.
        """
        spec = replaced(spec, self.uses.same)
        parts = [(self._part(part, sink, alone and len(spec) == 1), part) for part in spec]
        if len(parts) == 1:
            return parts[0][0]
        texts, position = [], 0
        while position < len(parts):
            count = 1
            while position + count < len(parts) and parts[position + count][1] == parts[position][1]:
                count += 1
            text = parts[position][0]
            texts.append(f"{{{count}{{{text}}}}}" if count > 1 else text)
            position += count
        return texts[0] if len(texts) == 1 else f"{{{', '.join(texts)}}}"

    def _part(self, part: Bits, sink: str, alone: bool) -> str:
        if not part.wire:
            return literal(part.constant)
        wire = self.wires[part.wire]
        if (operation := self.logic.get(part.wire)) and not wire.direction:
            if part.wire not in self.names and self.uses.inlined(part.wire, operation):
                if not operation.symbol:
                    return self.text(operation.operands[0], sink, alone=alone)
                text = self.operation(operation, sink)
                if (alone or not operation.alone) and len(text) <= _LONGEST:
                    return text
                return self._declared(part.wire, sink, text)
            name = self._wire(part.wire, sink)
        else:
            name = self.name(part.wire, f"{sink}_source")
        if part.width == wire.width:
            return name
        return f"{name}[{part.low}]" if part.width == 1 else f"{name}[{part.low + part.width - 1}:{part.low}]"

    def operation(self, operation: Operation, sink: str) -> str:
        """Return an operation in Verilog. `sink` is the name of what it is for."""
        if not operation.symbol:
            return self.text(operation.operands[0], sink)
        operands = []
        for place, spec in enumerate(operation.operands):
            # The arguments of $signed() and what is between the signs of a choice stand alone.
            text = self.text(spec, sink, alone=False)
            operands.append(text if operation.signed or self._bare(text, operation, place) else f"({text})")
        return operation.text(operands)

    @staticmethod
    def _bare(text: str, operation: Operation, place: int) -> bool:
        """Return whether operand `place` of an operator needs no brackets: where they would only be in the way."""
        symbol = operation.symbol
        if _SIMPLE.fullmatch(text) or _enclosed(text):
            return True
        if symbol == "?" and place > 0:
            return place == 2 or " ? " not in text
        if place == 0 and symbol in ("&", "|", "^", "+") and _row(text, f" {symbol} "):
            return True
        # Two operators without a space between them could be read as one.
        return len(operation.operands) > 1 and _INVERSE.fullmatch(text) is not None

    def _wire(self, wire: str, sink: str) -> str:
        """Return the name of a wire of its own, which is declared with its expression now, if it is not yet."""
        if wire in self._done:
            return self.names[wire]
        if wire in self._busy:
            self.early.append(wire)
            return self.names[wire]
        operation = self.logic[wire]
        own = wire in self.names
        name = self.name(wire, f"{sink}_{operation.meaning}")
        self._busy.add(wire)
        text = self.operation(operation, name if own else sink)
        self._busy.remove(wire)
        return self._declared(wire, sink, text, name)

    def _declared(self, wire: str, sink: str, text: str, name: str = "") -> str:
        name = name or self.name(wire, f"{sink}_{self.logic[wire].meaning}")
        self._done.add(wire)
        if wire in self.early:
            self.declared.append(f"assign {name} = {text};")
        else:
            self.declared.append(f"wire {span(self.wires[wire].width)}{name} = {text};")
        return name


def _outside(text: str) -> str:
    """Return the text without what is in brackets and braces."""
    depth, outside = 0, []
    for character in text:
        depth += character in "({"
        if depth == 0:
            outside.append(character)
        depth -= character in ")}"
    return "".join(outside)


def _row(text: str, between: str) -> bool:
    """Return whether `text` is a row of operands with `between` between them, and no other operator beside them."""
    return all(re.fullmatch(r"~?[\w\[\]:']*", word) for word in _outside(text).split(between))


def _enclosed(text: str) -> bool:
    """Return whether one pair of braces encloses the whole text."""
    return text.startswith("{") and not _outside(text)
