"""Sizes of the hardware that follow from others: widths of accumulators and addresses, and the tables of functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tabla.graph.format import Format
from tabla.graph.functions import table
from tabla.program.image import FunctionTable
from tabla.templates.instructions import kind_of
from tabla.templates.template import functions


def accumulator_bits(width: int, places: Collection[int], terms: int) -> int:
    """Return the bits of an accumulator that never wraps (decision 3, section 3.9).

    The largest value is that of the largest product or addend, times the most terms of a sum and one more for the half
    unit of rounding. `places` are the shifts of addends.
    """
    largest = 1 << max(2 * (width - 1), width - 1 + max(places))
    return ((terms + 1) * largest).bit_length() + 1


def sum_bits(width: int, *, products: int, addends: int, place: int) -> int:
    """Return the bits of an accumulator that never wraps while it takes one sum, whose result lies at a place.

    The sum is `products` products of words of `width` bits, `addends` words that are moved up to `place`, and half a
    unit of the result. There is room for one product more, because extremes compare two.
    """
    largest = (products + 1 << 2 * (width - 1)) + (addends << width - 1 + place) + (1 << place >> 1)
    return largest.bit_length() + 1


def address_widths(units: Iterable[str], depth: Mapping[str, int], dumps: int = 0) -> dict[str, int]:
    """Return the bits of the address generators of some units.

    `depth` has the words of the memories of a lane and of the root. A dump has `dumps` tokens.
    """
    lanes = max(depth["model"], depth["data"], depth["interim"], dumps)
    root = max(depth["root_data"], depth["root_memory"], dumps)
    reach = {
        "lane_issue": lanes,
        "lane_write": max(depth["model"], depth["interim"]),
        "root_issue": root,
        "root_write": depth["root_memory"],
        "stream": max(lanes, root),
    }
    return {unit: max(1, (reach[kind_of(unit)] - 1).bit_length()) for unit in units}


def function_table(name: str, format: Format) -> FunctionTable:
    """Return the integers of a function's pipeline in a number format."""
    unit, made = functions()[name], table(name, format)
    return FunctionTable(
        name=name,
        code=unit.code,
        kind=unit.kind,
        latency=unit.cycles(format.width, format.fraction),
        shift=made.shift,
        guard=made.guard,
        reach=made.reach,
        index_bits=made.index_bits,
        fraction_bits=made.fraction_bits,
        constant=made.constant,
        base=tuple(int(v) for v in made.base),
        slope=tuple(int(v) for v in made.slope),
        curve=tuple(int(v) for v in made.curve),
        exponent=tuple(int(v) for v in made.exponent),
    )
