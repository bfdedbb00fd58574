"""Processes of a netlist: the next values of registers, and choices between words.

A process gives values to the bits of one wire. Later assignments win over earlier ones, and of the cases of a switch
the first that fits. The process that feeds a register becomes statements of a clocked block; any other becomes
operations, so that every logic without a clock is an expression, which simulators evaluate at time 0.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tabla.hw.expressions import Expressions, literal
from tabla.hw.netlist import Assign, Bits, Case, Cell, Item, Module, Spec, Switch, Wire, constant, part_of, width_of
from tabla.hw.operators import Operation, choice, equal, wired


@dataclass(frozen=True, slots=True)
class Register:
    """A register. `start` is what it holds at first, as bits, or empty.

    It takes `next`; or if `items` are there, what they assign to the wire `process`. Where `reset` is 1, it takes
    `reset_value` instead. `number` is the process among those of the module, or -1.
    """

    wire: str
    clock: Spec
    start: str
    next: Spec
    number: int = -1
    process: str = ""
    items: tuple[Item, ...] = ()
    reset: Spec = ()
    reset_value: str = ""

    def specs(self) -> Iterator[Spec]:
        """Yield everything that the register looks at."""
        yield self.clock
        if self.reset:
            yield self.reset
        if self.number < 0:
            yield self.next
        else:
            yield from _looked_at(self.items)


def _looked_at(items: tuple[Item, ...] | list[Item]) -> Iterator[Spec]:
    for item in items:
        match item:
            case Assign(_, value):
                yield value
            case Switch(value, cases):
                yield value
                for case in cases:
                    yield from _looked_at(case.items)


def simplified(items: list[Item]) -> list[Item]:
    """Return items without switches whose case is known."""
    found: list[Item] = []
    for item in items:
        if isinstance(item, Assign):
            found.append(item)
            continue
        bits = "".join(part.constant for part in item.value)
        if len(bits) == width_of(item.value):
            known = next((case for case in item.cases if _fits(case, bits)), None)
            found += simplified(known.items) if known else []
        else:
            found.append(Switch(item.value, [Case(case.patterns, simplified(case.items)) for case in item.cases]))
    return found


def _fits(case: Case, bits: str) -> bool:
    return not case.patterns or any(
        all(wanted in ("-", bit) for wanted, bit in zip(pattern, bits, strict=True)) for pattern in case.patterns
    )


def registers_of(module: Module) -> Iterator[Register]:
    """Yield the registers of a module, each with the process that only feeds this register."""
    processes = {items[0].target[0].wire: n for n, items in enumerate(module.processes) if isinstance(items[0], Assign)}
    uses = Counter(part.wire for spec in _all_specs(module) for part in spec)
    for cell in module.cells:
        if cell.kind == "$dff":
            yield _register(module, cell, processes, uses)


def _all_specs(module: Module) -> Iterator[Spec]:
    for cell in module.cells:
        yield from cell.ports.values()
    for connection in module.connections:
        yield connection.value
    for items in module.processes:
        yield from _looked_at(items)


def _register(module: Module, cell: Cell, processes: dict[str, int], uses: Counter[str]) -> Register:
    if not cell.number("CLK_POLARITY"):
        raise ValueError("the Verilog writer does not know a register on a falling edge")
    wire, next_value = cell.ports["Q"][0].wire, cell.ports["D"]
    start = module.wires[wire].attributes.get("init", "").partition("'")[2]
    fed = next_value[0].wire
    number = processes.get(fed)
    whole = len(next_value) == 1 and next_value[0].width == module.wires[fed].width if fed else False
    if number is None or not whole or uses[fed] != 1:
        return Register(wire, cell.ports["CLK"], start, next_value)
    items = simplified(module.processes[number])
    reset: Spec = ()
    value = ""
    match items:
        case [*_, Switch(condition, [Case(("1",), [Assign(_, (Bits("", _, width, bits),))])])] if width == len(start):
            reset, value = condition, bits
            items = items[:-1]
    held = (Bits(wire, 0, module.wires[wire].width),)
    if items and isinstance(items[0], Assign) and items[0].value == held:
        # A register keeps its word without being told so.
        items = items[1:]
    return Register(wire, cell.ports["CLK"], start, (), number, fed, tuple(items), reset, value)


Branch = tuple[str, Spec, list[Item]]
"""``if``, or ``not`` for a bit that has to be 0, or ``else`` with any bits; a bit; and what then happens."""


def branches(switch: Switch) -> list[Branch] | None:
    """Return a switch as a row of conditions on single bits, if it is one."""
    found: list[Branch] = []
    for case in switch.cases:
        if not case.patterns:
            found.append(("else", (), case.items))
            break
        pattern = case.patterns[0]
        places = [place for place, wanted in enumerate(reversed(pattern)) if wanted != "-"]
        if len(case.patterns) > 1 or len(places) != 1:
            return None
        bit = part_of(switch.value, places[0], 1)
        found.append(("if" if "1" in pattern else "not", bit, case.items))
        if len(pattern) == 1 and len(found) == 2:
            # The second value of a bit is all that is left.
            found[1] = ("else", (), case.items)
            break
    return found


def statements(items: tuple[Item, ...] | list[Item], target: str, expressions: Expressions, wide: int) -> list[str]:
    """Return items as statements of a clocked block that assign to the register `target` of `wide` bits."""
    lines: list[str] = []
    for item in items:
        match item:
            case Assign((Bits(_, low, width),), value):
                place = "" if width == wide else f"[{low}]" if width == 1 else f"[{low + width - 1}:{low}]"
                lines.append(f"{target}{place} <= {expressions.text(value, f'{target}_next')};")
            case Switch() if (row := branches(item)) is not None:
                lines += _conditions(row, target, expressions, wide)
            case Switch():
                lines += _cases(item, target, expressions, wide)
            case _:
                raise ValueError("the Verilog writer does not know an assignment to several wires")
    return lines


def _block(head: str, items: list[Item], target: str, expressions: Expressions, wide: int) -> list[str]:
    inside = statements(items, target, expressions, wide)
    # A single `if` stays between `begin` and `end`: an `else` behind it would become its own.
    if len(inside) == 1 and len(head) + len(inside[0]) < 100 and inside[0].startswith((f"{target} ", f"{target}[")):
        return [f"{head} {inside[0]}"]
    return [f"{head} begin", *("  " + line for line in inside), "end"]


def _conditions(row: list[Branch], target: str, expressions: Expressions, wide: int) -> list[str]:
    while row and not _does_something(row[-1][2]):
        row = row[:-1]
    lines: list[str] = []
    for number, (kind, bit, items) in enumerate(row):
        head = "else " if number else ""
        if kind != "else":
            condition = expressions.text(bit, f"{target}_if", alone=False)
            head += f"if ({condition})" if kind == "if" else f"if (!({condition}))"
        lines += _block(head.rstrip(), items, target, expressions, wide)
    return lines


def _does_something(items: list[Item]) -> bool:
    return any(isinstance(item, Assign) or any(_does_something(case.items) for case in item.cases) for item in items)


def _cases(switch: Switch, target: str, expressions: Expressions, wide: int) -> list[str]:
    loose = any("-" in pattern for case in switch.cases for pattern in case.patterns)
    lines = [f"{'casez' if loose else 'case'} ({expressions.text(switch.value, f'{target}_case')})"]
    for case in switch.cases:
        patterns = [f"{len(p)}'b{p.replace('-', '?')}" if "-" in p else literal(p) for p in case.patterns]
        head = f"{', '.join(patterns) or 'default'}:"
        lines += ["  " + line for line in _block(head, case.items, target, expressions, wide)]
    if all(case.patterns for case in switch.cases):
        lines.append("  default: ;")
    return [*lines, "endcase"]


def logic_of(items: list[Item], wires: dict[str, Wire], prefix: str) -> dict[str, Operation]:
    """Return a process as operations, by the wire that each drives. New wires get names that begin with `prefix`."""
    return _Logic(simplified(items), wires, prefix).operations()


class _Logic:
    """Turns one process into choices."""

    def __init__(self, items: list[Item], wires: dict[str, Wire], prefix: str) -> None:
        self.items, self.wires, self.prefix = items, wires, prefix
        self.found: dict[str, Operation] = {}

    def operations(self) -> dict[str, Operation]:
        cuts = sorted({edge for low, high in _targets(self.items) for edge in (low, high)})
        parts: list[Bits] = []
        for low, high in pairwise(cuts):
            parts = [*self._value(self.items, low, high - low, ()), *parts]
        first = self.items[0]
        if not isinstance(first, Assign):
            raise ValueError("the Verilog writer does not know a process that begins with a switch")
        self.found[first.target[0].wire] = wired(tuple(parts))
        return self.found

    def _new(self, made: Operation, width: int) -> Spec:
        name = f"{self.prefix}_{len(self.found)}"
        self.found[name] = made
        self.wires[name] = Wire(name, width, "", {})
        return (Bits(name, 0, width),)

    def _value(self, items: list[Item], low: int, width: int, before: Spec) -> Spec:
        """Return what `items` make of the bits from `low` up that were `before`."""
        for item in items:
            match item:
                case Assign((Bits(_, start, wide),), value):
                    if start <= low < start + wide:
                        before = part_of(value, low - start, width)
                case Switch(value, cases):
                    if any(start <= low < end for start, end in _targets([item])):
                        before = self._choice(value, cases, low, width, before)
                case _:
                    raise ValueError("the Verilog writer does not know an assignment to several wires")
        return before

    def _choice(self, tested: Spec, cases: list[Case], low: int, width: int, before: Spec) -> Spec:
        rows: list[tuple[Spec, Spec]] = []
        otherwise = before
        for case in cases:
            value = self._value(case.items, low, width, before)
            if not case.patterns:
                otherwise = value
                break
            rows.append((self._condition(tested, case.patterns), value))
        for condition, value in reversed(rows):
            otherwise = self._new(choice(condition, value, otherwise), width)
        return otherwise

    def _condition(self, tested: Spec, patterns: tuple[str, ...]) -> Spec:
        found: Spec = ()
        for pattern in patterns:
            parts = [part_of(tested, place, 1) for place, bit in enumerate(reversed(pattern)) if bit != "-"]
            wanted = pattern.replace("-", "")
            if "-" not in pattern:
                parts = [tested]
            if wanted == "1":
                fits = parts[0]
            elif wanted:
                fits = self._new(equal(tuple(bit for part in reversed(parts) for bit in part), wanted), 1)
            else:
                fits = constant("1")
            found = self._new(Operation("|", (found, fits), "fits"), 1) if found else fits
        return found


def _targets(items: list[Item]) -> Iterator[tuple[int, int]]:
    """Yield the bits that items assign to, each time as the first and the one behind the last."""
    for item in items:
        match item:
            case Assign((Bits(_, low, width),), _):
                yield low, low + width
            case Switch(_, cases):
                for case in cases:
                    yield from _targets(case.items)
