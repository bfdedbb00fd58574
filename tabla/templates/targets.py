"""The Python view of ``targets.td``: FPGA families, devices, limits of their primitives, boards.

Every number here comes from the records; nothing is repeated in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache

from tabla.base.source import Label, TablaError
from tabla.templates import tablegen
from tabla.templates.records import TARGETS, bit, integer, integers, record_of, records, records_of, string, strings

KINDS = ("LUT", "FF", "DSP", "RAM")
"""The kinds of resources, as in the records; each family has its own names for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a cell takes: cells whose type matches `pattern` take `units` of the resource `kind`."""

    kind: str
    pattern: str
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The highest clock rate that cells of a type stand in a speed grade.

    It holds for cells whose `parameter`, if one is named, matches `value`.
    """

    cell: str
    parameter: str
    value: str
    grade: int
    megahertz: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sites:
    """Where a device's blocks lie, in tiles: one in each row at each of `columns` plus each offset. Names are
    nextpnr's.
    """

    columns: tuple[int, ...]
    ram_rows: tuple[int, ...]
    dsp_rows: tuple[int, ...]
    rams: tuple[tuple[int, str], ...]
    dsps: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A part: what nextpnr is told of it, and what it holds, in the order of `KINDS`."""

    name: str
    part: str
    arguments: tuple[str, ...]
    packages: tuple[str, ...]
    grades: tuple[int, ...]
    capacities: tuple[int, ...]
    die: str = ""
    sites: Sites | None = None

    def called(self, name: str) -> bool:
        """Return whether a user's name means this part: that of its record, or of its maker, in any case."""
        return name.lower() in (self.name, self.part.lower())

    def capacity(self, kind: str) -> int:
        """Return how many of a kind of resource the part has."""
        return self.capacities[KINDS.index(kind)]

    def command(self, package: str, grade: int) -> list[str]:
        """The arguments that name the part to nextpnr."""
        return [argument.replace("{package}", package).replace("{speed}", str(grade)) for argument in self.arguments]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """How a family gets from pins to a bitstream: files, nextpnr's arguments, and the packer's module, package, entry
    and arguments.
    """

    synthesis: str
    pins: str
    pin_arguments: tuple[str, ...]
    routed: str
    module: str
    package: str
    entry: str
    arguments: tuple[str, ...]
    bitstream: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pll:
    """What a PLL can do: lowest and highest rates in Hz, and the greatest value of its dividers. `goal` is the rate
    tried first.
    """

    source: tuple[int, int]
    detector: tuple[int, int]
    oscillator: tuple[int, int]
    output: tuple[int, int]
    dividers: int
    goal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A family of FPGAs with its devices. The comment of class ``Target`` in the records explains the fields."""

    name: str
    title: str
    yosys: str
    flat: str
    narrow: str
    abc: str
    abc_for: str
    place: str
    package: str
    ports: tuple[str, ...]
    clocks: bool
    absorbs: bool
    note: str
    names: tuple[str, ...]
    ram_bits: int
    lut_bits: int
    lut_every: int
    costs: tuple[Cost, ...]
    limits: tuple[Limit, ...]
    devices: tuple[Device, ...]
    packing: Packing | None = None
    pll: Pll | None = None

    @property
    def narrowed(self) -> Target:
        """The family for a design that shall be small, at the price of more ranks of logic."""
        return replace(self, flat=" ".join(filter(None, (self.flat, self.narrow))))

    def title_of(self, kind: str) -> str:
        """Return what the family calls a kind of resource."""
        return self.names[KINDS.index(kind)]

    def taken(self, cells: dict[str, int]) -> dict[str, int]:
        """Return the resources by kind that so many cells of each type take."""
        taken = dict.fromkeys(KINDS, 0)
        for cell, count in cells.items():
            for cost in self.costs:
                if fnmatchcase(cell, cost.pattern):
                    taken[cost.kind] += cost.units * count
                    break
        return taken

    def memory_bits(self, device: Device) -> int | None:
        """Return the most bits that a part holds: in all RAMs, and in all LUTs that can be memory.

        No design reaches this number, because it needs LUTs for something else. None stands for a family whose records
        do not say how many bits a RAM has.
        """
        if not self.ram_bits:
            return None
        return device.capacity("RAM") * self.ram_bits + self.lut_memory_bits(device)

    def lut_memory_bits(self, device: Device) -> int:
        """Return the bits that the LUTs of a part hold that can be memory."""
        return device.capacity("LUT") // self.lut_every * self.lut_bits if self.lut_every else 0

    def device(self, name: str | None = None) -> Device:
        """Return a device by name, or the family's largest without a name. An unknown name is a `TablaError`."""
        if name is None:
            return max(self.devices, key=lambda device: (device.capacity("LUT"), "LFE5U-" in device.part))
        for device in self.devices:
            if device.called(name):
                return device
        raise TablaError(
            f"{self.title} has no device '{name}' here",
            hint=f"the devices are {', '.join(device.name for device in self.devices)}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A board: its chip, and the pins of clock, host link, lights and reset button, seen from the FPGA."""

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
    io_type: str
    led_io_type: str
    reset_io_type: str
    leds_low: bool
    high: tuple[str, ...]


def _device(record: tablegen.Record) -> Device:
    return Device(
        name=string(record, "Name"),
        part=string(record, "Part"),
        arguments=strings(record, "Arguments"),
        packages=strings(record, "Packages"),
        grades=integers(record, "Grades"),
        capacities=tuple(integer(record, f"{kind.capitalize()}s") for kind in KINDS),
        die=string(record, "Die"),
        sites=_sites(record),
    )


def _sites(record: tablegen.Record) -> Sites | None:
    def offsets(kind: str) -> tuple[tuple[int, str], ...]:
        return tuple(zip(integers(record, f"{kind}Offsets"), strings(record, f"{kind}Sites"), strict=True))

    columns = integers(record, "BlockColumns")
    if not columns:
        return None
    return Sites(
        columns=columns,
        ram_rows=integers(record, "RamRows"),
        dsp_rows=integers(record, "DspRows"),
        rams=offsets("Ram"),
        dsps=offsets("Dsp"),
    )


def _limit(record: tablegen.Record) -> Limit:
    return Limit(
        cell=string(record, "Cell"),
        parameter=string(record, "Parameter"),
        value=string(record, "Value"),
        grade=integer(record, "Grade"),
        megahertz=integer(record, "Megahertz"),
        reason=string(record, "Reason"),
    )


def _costs(record: tablegen.Record) -> tuple[Cost, ...]:
    return tuple(
        Cost(kind=string(cell, "Kind"), pattern=string(cell, "Pattern"), units=integer(cell, "Units"))
        for cell in records_of(record, "Cells")
    )


def _packing(record: tablegen.Record) -> Packing:
    return Packing(
        synthesis=string(record, "Padded") or string(record, "Yosys"),
        pins=string(record, "Pins"),
        pin_arguments=strings(record, "PinArguments"),
        routed=string(record, "Routed"),
        module=string(record, "Packer"),
        package=string(record, "PackerPackage"),
        entry=string(record, "PackerEntry"),
        arguments=strings(record, "PackerArguments"),
        bitstream=string(record, "Bitstream"),
    )


def _pll(record: tablegen.Record) -> Pll:
    def between(name: str) -> tuple[int, int]:
        return 1000 * integer(record, f"{name}Low"), 1000 * integer(record, f"{name}High")

    return Pll(
        source=between("Input"),
        detector=between("Detector"),
        oscillator=between("Oscillator"),
        output=between("Output"),
        dividers=integer(record, "Dividers"),
        goal=1000 * integer(record, "Goal"),
    )


def _target(record: tablegen.Record, found: tablegen.Records) -> Target:
    def members(name: str) -> list[tablegen.Record]:
        return [member for member in found.of_class(name) if record_of(member, "Family") == record]

    return Target(
        name=string(record, "Name"),
        title=string(record, "Title"),
        yosys=string(record, "Yosys"),
        flat=string(record, "Flat"),
        narrow=string(record, "Narrow"),
        abc=string(record, "Abc"),
        abc_for=string(record, "AbcFor"),
        place=string(record, "Place"),
        package=string(record, "Package"),
        ports=strings(record, "Ports"),
        clocks=bit(record, "Clocks"),
        absorbs=bit(record, "Absorbs"),
        note=string(record, "Note"),
        names=tuple(string(record, kind.capitalize()) for kind in KINDS),
        ram_bits=integer(record, "RamBits"),
        lut_bits=integer(record, "LutBits"),
        lut_every=integer(record, "LutEvery"),
        costs=_costs(record),
        limits=tuple(_limit(limit) for limit in members("Limit")),
        devices=tuple(_device(device) for device in members("Device")),
        packing=_packing(record) if string(record, "Bitstream") else None,
        pll=next((_pll(pll) for pll in members("Pll")), None),
    )


def _named(found: list[tablegen.Record]) -> dict[str, tablegen.Record]:
    """Return records by their field ``Name``, which options take. Two records of one name are a `TablaError`."""
    by_name: dict[str, tablegen.Record] = {}
    for record in found:
        name = string(record, "Name")
        if name in by_name:
            raise TablaError(
                f"two records are called '{name}'",
                Label(record.span),
                Label(by_name[name].span, "the other"),
                hint="give one of them another name",
            )
        by_name[name] = record
    return by_name


@lru_cache(maxsize=8)
def _targets(found: tablegen.Records) -> dict[str, Target]:
    return {name: _target(record, found) for name, record in _named(found.of_class("Target")).items()}


def targets(own: str | None = None) -> dict[str, Target]:
    """Return all families by the name that ``--target`` takes: ours, and those of a user's own file."""
    return _targets(records(TARGETS, own))


def target(name: str, own: str | None = None) -> Target:
    """Return a family by name. An unknown name is a `TablaError`."""
    known = targets(own)
    if name not in known:
        raise TablaError(f"there is no target '{name}'", hint=f"the targets are {', '.join(known)}")
    return known[name]


def _board(record: tablegen.Record) -> Board:
    chip = record_of(record, "Chip")
    return Board(
        name=string(record, "Name"),
        title=string(record, "Title"),
        target=string(record_of(chip, "Family"), "Name"),
        device=string(chip, "Name"),
        package=string(record, "Package"),
        grade=integer(record, "Grade"),
        clock_pin=string(record, "ClockPin"),
        clock_hertz=integer(record, "ClockHertz"),
        host_transmit=string(record, "HostTransmit"),
        host_receive=string(record, "HostReceive"),
        leds=strings(record, "Leds"),
        reset_pin=string(record, "ResetPin"),
        reset_low=bit(record, "ResetLow"),
        constraints=strings(record, "Constraints"),
        io_type=string(record, "IoType"),
        led_io_type=string(record, "LedIoType") or string(record, "IoType"),
        reset_io_type=string(record, "ResetIoType") or string(record, "IoType"),
        leds_low=bit(record, "LedsLow"),
        high=strings(record, "High"),
    )


def boards(own: str | None = None) -> dict[str, Board]:
    """Return all boards by the name that ``--board`` takes: ours, and those of a user's own file."""
    return {name: _board(record) for name, record in _named(records(TARGETS, own).of_class("Board")).items()}


def board(name: str, own: str | None = None) -> Board:
    """Return a board by name. An unknown name is a `TablaError`."""
    known = boards(own)
    if name not in known:
        raise TablaError(f"there is no board '{name}'", hint=f"the boards are {', '.join(known)}")
    return known[name]
