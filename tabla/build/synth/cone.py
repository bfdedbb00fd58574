"""Cones of logic: the LUTs that feed one wire, as a function of few inputs, and the ways to split such a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from tabla.build.synth.wires import Wires

Function = Callable[..., int]
"""A function of levels, which are 0 or 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cone:
    """The LUTs, and the multiplexers between pairs of LUTs, that feed one wire and nothing else.

    `cells` are the names of the cells, the one next to the wire first. `values` are the levels of the wire for all
    levels of the `inputs`, with the last input changing fastest.
    """

    cells: tuple[str, ...]
    inputs: tuple[int, ...]
    values: tuple[int, ...]

    MOST = 6

    def __call__(self, *levels: int) -> int:
        return self.values[sum(level << place for place, level in enumerate(reversed(levels)))]

    @staticmethod
    def growing(wires: Wires, bit: Any) -> Iterator[Cone]:
        """Yield the cones that feed a wire: the last LUT alone, then larger and larger ones, up to `MOST` inputs."""
        cells = _unshared(wires, bit)
        while cells:
            inputs = _inputs(wires, cells)
            if len(inputs) > Cone.MOST:
                return
            values = (
                _value(wires, bit, dict(zip(inputs, levels, strict=True)))
                for levels in product((0, 1), repeat=len(inputs))
            )
            yield Cone(cells=cells, inputs=inputs, values=tuple(values))
            more = ((*cells, *_unshared(wires, before)) for before in inputs)
            cells = min(
                (grown for grown in more if len(grown) > len(cells)),
                key=lambda grown: len(_inputs(wires, grown)),
                default=(),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The function g of a `Split`: its inputs, and its values in the order of those of a `Cone`."""

    inputs: tuple[int, ...]
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The function of a cone, written as ``h(u, v, g(the other inputs))``. `outer` are the wires u and v."""

    outer: tuple[int, int]
    part: Part
    h: Mapping[tuple[int, int, int], int]


def splits(cone: Cone) -> Iterator[Split]:
    """Yield all ways to split the function of a cone with four or more inputs, with g of two to four inputs."""
    places = range(len(cone.inputs))
    for outer in combinations(places, 2):
        rest = [place for place in places if place not in outer]
        if not 2 <= len(rest) <= 4:
            continue
        columns = []
        for inner in product((0, 1), repeat=len(rest)):
            levels = dict(zip(rest, inner, strict=True))
            columns.append(
                tuple(
                    cone(*({**levels, outer[0]: u, outer[1]: v}[place] for place in places))
                    for u, v in product((0, 1), repeat=2)
                )
            )
        kinds = list(dict.fromkeys(columns))
        if len(kinds) != 2:
            continue
        # A split is possible with g and with the complement of g. One of them may fit where the other does not.
        for first, second in (kinds, reversed(kinds)):
            yield Split(
                outer=(cone.inputs[outer[0]], cone.inputs[outer[1]]),
                part=Part(
                    inputs=tuple(cone.inputs[place] for place in rest),
                    values=tuple(int(column == second) for column in columns),
                ),
                h={(u, v, g): (first, second)[g][2 * u + v] for u, v, g in product((0, 1), repeat=3)},
            )


def implies(wires: Wires, first: Any, second: Any) -> bool:
    """Return whether the LUTs in front of two wires show that the second one is 1 whenever the first one is 1.

    The answer is False where the LUTs alone do not show it: the cone of both wires has at most `Cone.MOST` inputs.
    """
    if "1" in (second, first) or first == "0":
        return bool(second == "1" or first == "0")
    inside: set[str] = set()
    inputs = {bit for bit in (first, second) if isinstance(bit, int)}
    while True:
        shown = not any(
            _value(wires, first, levels) and not _value(wires, second, levels)
            for levels in (dict(zip(inputs, each, strict=True)) for each in product((0, 1), repeat=len(inputs)))
        )
        driven = {wires.driver[bit] for bit in inputs if _is_logic(wires, bit)}
        if shown or not driven:
            return shown
        inside |= driven
        inputs = set(_inputs(wires, tuple(inside)))
        if len(inputs) > Cone.MOST:
            return False


def _is_logic(wires: Wires, bit: int) -> bool:
    return bit in wires.driver and wires.cells[wires.driver[bit]]["type"] in ("LUT4", "PFUMX")


def _unshared(wires: Wires, bit: Any) -> tuple[str, ...]:
    """Return the LUT that drives a wire with only one reader, or the multiplexer that does with its two LUTs.

    The answer is empty if anything else drives the wire, or if it has several readers.
    """
    driver = wires.driver.get(bit) if isinstance(bit, int) else None
    if driver is None or len(wires.readers.get(bit, ())) != 1 or wires.kept[bit]:
        return ()
    match wires.cells[driver]["type"]:
        case "LUT4":
            return (driver,)
        case "PFUMX":
            legs = [_unshared(wires, wires.cells[driver]["connections"][pin][0]) for pin in ("ALUT", "BLUT")]
            return (driver, *legs[0], *legs[1]) if all(legs) else ()
    return ()


def _inputs(wires: Wires, cells: tuple[str, ...]) -> tuple[int, ...]:
    """Return, in order, the wires that the cells read and that none of the cells drives."""
    inside = {wires.cells[name]["connections"]["Z"][0] for name in cells}
    read = {
        bits[0]
        for name in cells
        for pin, bits in wires.cells[name]["connections"].items()
        if pin != "Z" and isinstance(bits[0], int)
    }
    return tuple(sorted(read - inside))


def _value(wires: Wires, bit: Any, levels: Mapping[int, int]) -> int:
    """Return the level of a wire of a cone, given the levels of the cone's inputs."""
    if not isinstance(bit, int):
        return int(bit == "1")
    if bit in levels:
        return levels[bit]
    cell = wires.cells[wires.driver[bit]]
    pins = {pin: bits[0] for pin, bits in cell["connections"].items()}
    if cell["type"] == "PFUMX":
        return _value(wires, pins["ALUT" if _value(wires, pins["C0"], levels) else "BLUT"], levels)
    entry = sum(_value(wires, pins.get(pin, "0"), levels) << place for place, pin in enumerate("ABCD"))
    return (int(cell["parameters"]["INIT"], 2) >> entry) & 1
