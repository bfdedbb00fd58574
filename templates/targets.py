"""The Python view of ``targets.td``: FPGA families, devices, limits of their primitives, boards.

Every number here comes from the records; nothing is repeated in Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from tabla.lang import tablegen
from tabla.source import TablaError

TARGETS = Path(__file__).resolve().parent / "targets.td"
KINDS = ("LUT", "FF", "DSP", "RAM")
"""The kinds of resources, as in the records; each family has its own names for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Cells whose type matches `pattern` take `units` of `kind`."""

    kind: str
    pattern: str
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A clock rate that cells of a type stand in a speed grade; those whose `parameter`, if named, fits `value`."""

    cell: str
    parameter: str
    value: str
    grade: int
    megahertz: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A part: how nextpnr is told of it, and what it holds, in the order of `KINDS`."""

    name: str
    part: str
    arguments: tuple[str, ...]
    packages: tuple[str, ...]
    grades: tuple[int, ...]
    capacities: tuple[int, ...]

    def capacity(self, kind: str) -> int:
        """How many of a kind of resource there are."""
        return self.capacities[KINDS.index(kind)]

    def command(self, package: str, grade: int) -> list[str]:
        """The arguments that name the part to nextpnr."""
        return [argument.replace("{package}", package).replace("{speed}", str(grade)) for argument in self.arguments]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A family, with its devices; see the comment of class ``Target`` in the records."""

    name: str
    title: str
    yosys: str
    flat: str
    abc: str
    abc_for: str
    place: str
    package: str
    ports: tuple[str, ...]
    clocks: bool
    absorbs: bool
    note: str
    names: tuple[str, ...]
    costs: tuple[Cost, ...]
    limits: tuple[Limit, ...]
    devices: tuple[Device, ...]

    def title_of(self, kind: str) -> str:
        """What the family calls a kind of resource."""
        return self.names[KINDS.index(kind)]

    def taken(self, cells: dict[str, int]) -> dict[str, int]:
        """Resources by kind that so many cells of each type take."""
        taken = dict.fromkeys(KINDS, 0)
        for cell, count in cells.items():
            for cost in self.costs:
                if fnmatchcase(cell, cost.pattern):
                    taken[cost.kind] += cost.units * count
                    break
        return taken

    def device(self, name: str | None = None) -> Device:
        """A device by name; without a name the family's largest. An unknown name is a `TablaError`."""
        if name is None:
            return max(self.devices, key=lambda device: (device.capacity("LUT"), "LFE5U-" in device.part))
        for device in self.devices:
            if name.lower() in (device.name, device.part.lower()):
                return device
        raise TablaError(
            f"{self.title} has no device '{name}' here",
            hint=f"the devices are {', '.join(device.name for device in self.devices)}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A board: its chip, and the pins of clock, host link, lights and reset button (seen from the FPGA)."""

    name: str
    title: str
    target: str
    device: str
    package: str
    grade: int
    clock_pin: str
    clock_hertz: int
    host_transmit: str
    host_receive: str
    leds: tuple[str, ...]
    reset_pin: str
    reset_low: bool
    constraints: tuple[str, ...]


@cache
def _records() -> tablegen.Records:
    return tablegen.load(TARGETS)


def _int(record: tablegen.Record, field: str) -> int:
    value = record[field]
    if not isinstance(value, int):
        raise TablaError(f"field '{field}' of record '{record.name}' is not set to an integer")
    return value


def _bit(record: tablegen.Record, field: str) -> bool:
    value = record[field]
    return bool(value.to_int() if isinstance(value, tablegen.Bits) else value)


def _str(record: tablegen.Record, field: str) -> str:
    value = record[field]
    if not isinstance(value, str):
        raise TablaError(f"field '{field}' of record '{record.name}' is not set to a string")
    return value


def _record(record: tablegen.Record, field: str) -> tablegen.Record:
    value = record[field]
    if not isinstance(value, tablegen.Record):
        raise TablaError(f"field '{field}' of record '{record.name}' is not set to a record")
    return value


def _strings(record: tablegen.Record, field: str) -> tuple[str, ...]:
    value = record[field]
    assert isinstance(value, list)
    return tuple(str(item) for item in value)


def _device(record: tablegen.Record) -> Device:
    grades = record["Grades"]
    assert isinstance(grades, list)
    return Device(
        name=_str(record, "Name"),
        part=_str(record, "Part"),
        arguments=_strings(record, "Arguments"),
        packages=_strings(record, "Packages"),
        grades=tuple(grade for grade in grades if isinstance(grade, int)),
        capacities=tuple(_int(record, f"{kind.capitalize()}s") for kind in KINDS),
    )


def _limit(record: tablegen.Record) -> Limit:
    return Limit(
        cell=_str(record, "Cell"),
        parameter=_str(record, "Parameter"),
        value=_str(record, "Value"),
        grade=_int(record, "Grade"),
        megahertz=_int(record, "Megahertz"),
        reason=_str(record, "Reason"),
    )


def _costs(record: tablegen.Record) -> tuple[Cost, ...]:
    cells = record["Cells"]
    assert isinstance(cells, list)
    return tuple(
        Cost(kind=_str(cell, "Kind"), pattern=_str(cell, "Pattern"), units=_int(cell, "Units"))
        for cell in cells
        if isinstance(cell, tablegen.Record)
    )


def _of_family(name: str, family: tablegen.Record) -> list[tablegen.Record]:
    return [record for record in _records().of_class(name) if _record(record, "Family") == family]


def _target(record: tablegen.Record) -> Target:
    return Target(
        name=_str(record, "Name"),
        title=_str(record, "Title"),
        yosys=_str(record, "Yosys"),
        flat=_str(record, "Flat"),
        abc=_str(record, "Abc"),
        abc_for=_str(record, "AbcFor"),
        place=_str(record, "Place"),
        package=_str(record, "Package"),
        ports=_strings(record, "Ports"),
        clocks=_bit(record, "Clocks"),
        absorbs=_bit(record, "Absorbs"),
        note=_str(record, "Note"),
        names=tuple(_str(record, kind.capitalize()) for kind in KINDS),
        costs=_costs(record),
        limits=tuple(_limit(limit) for limit in _of_family("Limit", record)),
        devices=tuple(_device(device) for device in _of_family("Device", record)),
    )


@cache
def targets() -> dict[str, Target]:
    """All families, by the name that ``--target`` takes."""
    return {_str(record, "Name"): _target(record) for record in _records().of_class("Target")}


def target(name: str) -> Target:
    """A family by name; an unknown name is a `TablaError`."""
    if name not in targets():
        raise TablaError(f"there is no target '{name}'", hint=f"the targets are {', '.join(targets())}")
    return targets()[name]


def _board(record: tablegen.Record) -> Board:
    chip = _record(record, "Chip")
    return Board(
        name=_str(record, "Name"),
        title=_str(record, "Title"),
        target=_str(_record(chip, "Family"), "Name"),
        device=_str(chip, "Name"),
        package=_str(record, "Package"),
        grade=_int(record, "Grade"),
        clock_pin=_str(record, "ClockPin"),
        clock_hertz=_int(record, "ClockHertz"),
        host_transmit=_str(record, "HostTransmit"),
        host_receive=_str(record, "HostReceive"),
        leds=_strings(record, "Leds"),
        reset_pin=_str(record, "ResetPin"),
        reset_low=_bit(record, "ResetLow"),
        constraints=_strings(record, "Constraints"),
    )


@cache
def boards() -> dict[str, Board]:
    """All boards, by the name that ``--board`` takes."""
    return {_str(record, "Name"): _board(record) for record in _records().of_class("Board")}


def board(name: str) -> Board:
    """A board by name; an unknown name is a `TablaError`."""
    if name not in boards():
        raise TablaError(f"there is no board '{name}'", hint=f"the boards are {', '.join(boards())}")
    return boards()[name]
