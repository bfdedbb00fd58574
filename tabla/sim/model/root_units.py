"""The two root units of the cycle model, which issue and which write.

Operations become closures over the datapath as those of lanes do. All roots do the same in the same cycle.

The function unit is ``docs/decisions/0004-functions.md`` in plain integers. It was written from that page alone and
shares nothing with the function unit of the graph's evaluator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

from tabla.program.image import FunctionTable, Ranges
from tabla.sim.model.datapath import Datapath, Root, Sample
from tabla.sim.model.faults import MachineFault
from tabla.sim.model.lane_units import COMPARISONS, Run, address_with_window
from tabla.sim.model.trace import Issue
from tabla.templates import template
from tabla.templates.stages import wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """The word that a function gives, and whether it counts as an overflow or as a domain error."""

    word: int
    overflow: bool = False
    domain_error: bool = False


Function = Callable[[int, int], Value]
"""Takes operand and divisor and returns the value; only kinds that divide read the divisor."""


def _clamp(value: int, lowest: int, highest: int) -> int:
    return max(lowest, min(highest, value))


def _interpolate(table: FunctionTable, segment: int, inside: int, offset: int = 0) -> int:
    """Interpolate at `inside` of `segment`, add `offset` (in units of the table's base), and round half up.

    A table with a third column has a parabola in each segment: its chord is bent by what is left of the segment.
    """
    cut = table.shift + table.guard
    slope = table.slope[segment]
    if table.curve:
        lost = max(table.shift - 17, 0)
        left = ((1 << table.shift) - 1 - inside) >> lost
        slope += table.curve[segment] * left >> (table.shift - lost)
    total = ((table.base[segment] + offset) << table.shift) + slope * inside
    return (total + (1 << cut >> 1)) >> cut


def _direct(table: FunctionTable, width: int, fraction: int) -> Function:
    radius = 1 << table.reach
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1

    def evaluate(operand: int, divisor: int) -> Value:
        place = _clamp(operand, -radius, radius - 1) + radius
        value = _interpolate(table, place >> table.shift, place & ((1 << table.shift) - 1))
        return Value(word=_clamp(value, lowest, highest))

    return evaluate


def _exp(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1
    bits = table.fraction_bits
    inside_bits = bits - table.index_bits
    mantissa_fraction = width + 1
    point = fraction + (24 if fraction > 16 else 16)

    def evaluate(operand: int, divisor: int) -> Value:
        scaled = operand * table.constant
        power = scaled >> point
        if power >= width - fraction - 1:
            return Value(word=highest, overflow=True)
        rest = (scaled >> (point - bits)) & ((1 << bits) - 1)
        mantissa = _interpolate(table, rest >> inside_bits, rest & ((1 << inside_bits) - 1))
        drop = mantissa_fraction - fraction - power
        if drop > mantissa_fraction + 1:
            return Value(word=0)
        value = (mantissa + (1 << (drop - 1))) >> drop
        word = _clamp(value, lowest, highest)
        return Value(word=word, overflow=word != value)

    return evaluate


def _log(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1
    inside_bits = width - 2 - table.index_bits

    def evaluate(operand: int, divisor: int) -> Value:
        if operand <= 0:
            return Value(word=lowest, domain_error=True)
        top = operand.bit_length() - 1
        below = (operand << (width - 2 - top)) & ((1 << (width - 2)) - 1)
        segment, inside = below >> inside_bits, below & ((1 << inside_bits) - 1)
        value = _interpolate(table, segment, inside, table.exponent[top])
        word = _clamp(value, lowest, highest)
        return Value(word=word, overflow=word != value)

    return evaluate


def _circular(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1
    bits = table.fraction_bits
    inside_bits = bits - table.index_bits
    point = fraction + min(width + 3, 33)

    def evaluate(operand: int, divisor: int) -> Value:
        turn = ((operand * table.constant) >> (point - bits)) & ((1 << bits) - 1)
        value = _interpolate(table, turn >> inside_bits, turn & ((1 << inside_bits) - 1))
        return Value(word=_clamp(value, lowest, highest))

    return evaluate


def _sqrt(table: FunctionTable, width: int, fraction: int) -> Function:
    def evaluate(operand: int, divisor: int) -> Value:
        if operand < 0:
            return Value(word=0, domain_error=True)
        return Value(word=(isqrt(operand << (fraction + 2)) + 1) >> 1)

    return evaluate


def _divide(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1

    def evaluate(operand: int, divisor: int) -> Value:
        if divisor == 0:
            return Value(word=highest if operand >= 0 else lowest, domain_error=True)
        # floor(x / y + 1/2) with one floor division, sign of the divisor and all.
        value = ((operand << (fraction + 1)) + divisor) // (2 * divisor)
        word = _clamp(value, lowest, highest)
        return Value(word=word, overflow=word != value)

    return evaluate


def _quotient(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1

    def evaluate(operand: int, divisor: int) -> Value:
        if divisor == 0:
            return Value(word=highest if operand >= 0 else lowest, domain_error=True)
        value = abs(operand) // abs(divisor)
        value = value if (operand < 0) == (divisor < 0) else -value
        word = _clamp(value, lowest, highest)
        return Value(word=word, overflow=word != value)

    return evaluate


KINDS: dict[str, Callable[[FunctionTable, int, int], Function]] = {
    "direct": _direct,
    "exp": _exp,
    "log": _log,
    "circular": _circular,
    "sqrt": _sqrt,
    "divide": _divide,
    "quotient": _quotient,
}


def function_of(table: FunctionTable, width: int, fraction: int) -> Function:
    """Return the function of a table of the image, on words of `width` bits of which `fraction` are fraction bits."""
    return KINDS[table.kind](table, width, fraction)


Fetch = Callable[[int, Sample, tuple[int, ...]], int]
PORTS = ("a", "b", "c")


def _fetch(path: Datapath, root: Root, issue: Issue, port: str, wide: bool = False) -> Fetch:
    source = issue.operation.symbols[port]
    operand = path.law.late_operand if source.startswith("late_") else path.law.operand
    source = source.removeprefix("late_")
    if source == "zero":
        return lambda cycle, sample, at: 0
    if source in ("one", "position"):
        return lambda cycle, sample, at: path.one
    if source == "result":
        return lambda cycle, sample, at: _upper(path, *root.result_at(cycle + operand, sample))
    if source == "function":
        return lambda cycle, sample, at: root.function_at(cycle + operand, sample)
    gathers = source.startswith("gathered_")
    source = source.removeprefix("gathered_")
    words, place = root.memories[source], PORTS.index(port)
    window, mask = address_with_window(issue, port)
    depth, drop = len(words), path.fetched(f"root {source}", wide)
    needed = path.parameters.needed.get(f"root {source}")
    own = None if needed is None else _addresses(needed[place])

    def fetch(cycle: int, sample: Sample, at: tuple[int, ...]) -> int:
        address = (at[place] + sample.root_window) & mask if window else at[place]
        if gathers:
            address = (address + root.position_at(cycle, sample)) & mask
        if address >= depth:
            return path.beyond(f"root {source} address {address} of {depth}, cycle {cycle}")
        if own is not None and address not in own:
            return path.beyond(f"root {source} address {address}, which operand {port} does not have, cycle {cycle}")
        return words[address] >> drop

    return fetch


def _addresses(ranges: Ranges) -> frozenset[int]:
    return frozenset(address for begin, end in ranges for address in range(begin, end))


def _upper(path: Datapath, word: int, wide: bool) -> int:
    """Return the word that a result is for everybody but a memory of wide models: its upper bits."""
    return word >> path.guard if wide else word


def _function(path: Datapath, code: int) -> tuple[Function, int]:
    """Return the function of a code and its latency in cycles.

    A code that the build does not have, or a latency other than that of the records, is a MachineFault.
    """
    parameters = path.parameters
    table = next((t for t in parameters.functions if t.code == code), None)
    if table is None:
        raise MachineFault(f"the root uses function code {code}, which this build does not have")
    cycles = template.functions()[table.name].cycles(parameters.width, parameters.fraction)
    if cycles != table.latency or template.functions()[table.name].code != code:
        raise MachineFault(f"function '{table.name}' has another code or latency in the image than in the records")
    return function_of(table, parameters.width, parameters.fraction), cycles


def root_issue(path: Datapath, issue: Issue) -> Run:
    """Return the closure of a root issue; it takes the addresses in the order a, b, c."""
    runs = [_root_issue(path, root, issue) for root in path.roots]
    if len(runs) == 1:
        return runs[0]

    def run(cycle: int, sample: Sample, at: tuple[int, ...]) -> None:
        for each in runs:
            each(cycle, sample, at)

    return run


def _root_issue(path: Datapath, root: Root, issue: Issue) -> Run:
    operation = issue.operation
    symbols, numbers = operation.symbols, operation.numbers
    shift = path.parameters.shifts[numbers["shift"]]
    base = symbols["base"] if issue.first else "accumulator"
    half = 1 << (shift - 1) if shift and symbols["half"] == "all" else 0
    code = numbers["function"] if issue.last else 0
    multiplies = issue.gate_open and symbols["a"] != "zero"
    wide = bool(numbers.get("wide", 0))
    left, right = (_fetch(path, root, issue, port) for port in ("a", "b"))
    addend = _fetch(path, root, issue, "c", wide and base == "addend")
    sign = -1 if numbers["negate"] else 1
    compare, extreme = COMPARISONS.get(symbols["post"]), symbols["post"] == "extreme"
    emits = bool(numbers["emit"]) and issue.last and compare is None
    learns, function_learns = (bool(numbers.get(name, 0)) for name in ("learns", "function_learns"))
    holds, held_after = symbols["b"] == "position" and issue.last, path.law.held
    (lowest, highest), one = path.limits[wide], path.one
    due_after, tree_after = path.law.result, wanted("root_issue", "tree")
    function, latency = _function(path, code) if code else (None, 0)
    divides = any(t.code == code and template.function_kinds()[t.kind].divides for t in path.parameters.functions)

    def run(cycle: int, sample: Sample, at: tuple[int, ...]) -> None:
        if base == "accumulator":
            if root.owner is not sample:
                raise MachineFault(f"cycle {cycle}: the root adds to the accumulator of another sample")
            value = root.accumulator
        elif base == "addend":
            value = (addend(cycle, sample, at) << shift) + half
        elif base == "tree":
            value = path.tree_at(cycle + tree_after, sample, root.number) + half
        elif base == "array":
            value = path.array_at(cycle + tree_after, sample) + half
        elif extreme:
            value = ((highest if numbers["negate"] else lowest) << shift) + half
        else:
            value = half
        if multiplies:
            product = left(cycle, sample, at) * right(cycle, sample, at)
            if extreme:
                value = min(value, product) if numbers["negate"] else max(value, product)
            else:
                value += sign * product
        root.accumulator = value
        root.owner = sample
        if compare is not None:
            word = one if compare(value, 0) else 0
        else:
            exact = value >> shift
            word = max(lowest, min(highest, exact))
            if emits and word != exact and not (learns and path.predicting):
                path.root_overflows += 1
        root.results.append((cycle + due_after, word, sample, wide and compare is None))
        if holds:
            root.positions.append((cycle + held_after, word, sample))
        if function is not None:
            if wide:
                raise MachineFault(f"cycle {cycle}: a function takes a word with guard bits")
            found = function(word, right(cycle, sample, at) if divides else 0)
            if not (function_learns and path.predicting):
                path.root_overflows += found.overflow
                path.domain_errors += found.domain_error
            root.put_function(cycle + due_after + latency, found.word, sample)

    return run


def root_write(path: Datapath, issue: Issue) -> Run:
    """Return the closure of a root write; it takes one address.

    A scattered write adds the word of the position register to the address. Each root has a position of its own.
    """
    operation = issue.operation
    numbers = operation.numbers
    window, mask = address_with_window(issue, "address")
    from_function = operation.symbols["source"] == "function"
    to_memory, to_bus, to_output = (bool(numbers[name]) for name in ("to_memory", "to_bus", "to_output"))
    updates, lower = to_memory and bool(numbers["model"]), bool(numbers.get("wide", 0))
    mask_of_guard, half = (1 << path.guard) - 1, 1 << (path.parameters.width - 1)
    scattered, decoded = bool(numbers.get("scattered", 0)), wanted("root_write", "position")
    broadcast = path.law.broadcast

    def run(cycle: int, sample: Sample, at: tuple[int, ...]) -> None:
        held = [
            (r.function_at(cycle, sample), False) if from_function else r.result_at(cycle, sample) for r in path.roots
        ]
        words = [_upper(path, word, wide) for word, wide in held]
        holds = updates and path.predicting
        if to_memory and not holds:
            base = (at[0] + sample.root_window) & mask if window else at[0]
            for root, (word, wide) in zip(path.roots, held, strict=True):
                memory, address = root.memories["memory"], base
                if scattered:
                    address = (base + root.position_at(cycle + decoded, sample)) & mask
                if address < len(memory):
                    memory[address] = word << path.put("root memory", wide)
                elif scattered:
                    path.beyond(f"root memory address {address} of {len(memory)}, cycle {cycle}", does="writes")
                else:
                    raise MachineFault(f"cycle {cycle}: the root writes address {address} of {len(memory)} words")
        if to_bus:
            path.broadcast(cycle + broadcast, words, sample)
        if lower:
            # The guard bits, as a pattern of a word's bits; words without have zeros there.
            patterns = [word & mask_of_guard if wide else 0 for word, wide in held]
            words = [word - 2 * half if word & half else word for word in patterns]
        if to_output:
            # A dump gives the words of all roots. Results are the same in all, unless each group has a part of them.
            path.outputs += words if path.dumping or path.parameters.split_results else words[:1]
        if updates and not holds:
            path.updates.append(cycle)

    return run
