"""Wrappers of several widths, each compiled into a program with the host of driver.cc, and what the host has seen."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tabla
from benchmarks.bus.case import case_of, shape_of, wrapped_verilog
from tabla.driver import Build
from tabla.host.engines import cxxrtl_run
from tabla.hw.bus.axi import axi_members
from tabla.program.bus import BusShape

FOLDER = Path(__file__).resolve().parent
PROGRAM = FOLDER.parent / "learning" / "linear.t"
PIECE = 32
"""The bits of the pieces into which the shell cuts data and TKEEP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A wrapper: the bits of its bus, its number format, the words of a beat of the array, and the program's size.

    The size makes a unit take two to four beats of the bus, so that beats and faults are balanced.
    """

    bus_bits: int
    format: str
    stream_words: int
    features: int
    results: tuple[str, ...] = ("h",)

    @property
    def name(self) -> str:
        """The name in the table."""
        words = f"{self.stream_words} word{'s' * (self.stream_words != 1)}"
        return f"{self.bus_bits} bits, {self.format}, {words} a beat"


WRAPPERS = (
    Wrapper(bus_bits=32, format="q4.4", stream_words=1, features=6),
    Wrapper(bus_bits=32, format="q5.7", stream_words=4, features=6),
    Wrapper(bus_bits=64, format="q6.12", stream_words=1, features=6),
    Wrapper(bus_bits=64, format="q5.7", stream_words=8, features=14, results=()),
    Wrapper(bus_bits=128, format="q6.10", stream_words=2, features=16),
    Wrapper(bus_bits=512, format="q5.7", stream_words=4, features=70),
)


def built(wrapper: Wrapper) -> Build:
    """Return the build of a small program, whose units are a few beats of the bus."""
    return tabla.compile(
        PROGRAM,
        pes=4,
        defines={"features": wrapper.features},
        format=wrapper.format,
        stream_words=wrapper.stream_words,
        results=wrapper.results,
        effort=0,
    )


def shell(shape: BusShape, module: str) -> str:
    """Return the Verilog module ``shell`` around a wrapper: ports of at most ``PIECE`` bits, and the clock `clk`."""
    ports, connected = [], []
    for name, member in axi_members(shape).items():
        stream, _, part = name.partition("_axis_t")
        outside = f"{'in' if stream == 's' else 'out'}_{part}" if part else name.removeprefix("s_axil_")
        flow = "input" if member.flow.name == "In" else "output"
        if part not in ("data", "keep"):
            outside = "clk" if name == "aclk" else outside
            ports.append(f"{flow} [{member.shape - 1}:0] {outside}")
            connected.append(f".{name}({outside})")
            continue
        pieces = list(enumerate(range(0, member.shape, PIECE)))
        ports += [f"{flow} [{min(PIECE, member.shape - low) - 1}:0] {outside}_{n}" for n, low in pieces]
        connected.append(f".{name}({{{', '.join(f'{outside}_{n}' for n, _ in reversed(pieces))}}})")
    return f"module shell ({', '.join(ports)});\n{module} wrapper ({', '.join(connected)});\nendmodule\n"


def host(shape: BusShape) -> str:
    """Return the C++ of the host for a wrapper."""
    size = shape.bus_bits // 8
    pieces = {"data": range(0, shape.bus_bits, PIECE), "keep": range(0, size, PIECE)}
    bits = {"data": PIECE, "keep": min(PIECE, size)}
    arrays = {"data": "piece", "keep": "kept"}
    lines = [
        f"#define BUS_BYTES {size}",
        f"#define CONTAINER_BYTES {shape.container // 8}",
        f"#define WIDTH {shape.width}",
    ]
    for part, lows in pieces.items():
        array = arrays[part]
        put = [f"SET(p_in__{part}__{n}, {bits[part]}, {array}[{n}]);" for n, _ in enumerate(lows)]
        got = [f"{array}[{n}] = uint32_t(number(top.p_out__{part}__{n}));" for n, _ in enumerate(lows)]
        lines += [f"#define SET_{part.upper()} {' '.join(put)}", f"#define GET_{part.upper()} {' '.join(got)}"]
    driver = (FOLDER / "driver.cc").read_text(encoding="utf-8")
    commands = (FOLDER / "host.h").read_text(encoding="utf-8")
    return "\n".join(lines) + "\n" + driver.replace('#include "host.h"', commands)


def case_text(case: dict[str, Any]) -> str:
    """Return a case as the numbers that the host reads."""

    def lists(of: Iterable[Iterable[int]]) -> Iterator[str]:
        rows = [list(row) for row in of]
        yield str(len(rows))
        for row in rows:
            yield " ".join(map(str, [len(row), *row]))

    registers = case["registers"]
    lines = [str(len(registers)), *(f"{each['name']} {each['offset']}" for each in registers)]
    lines += [" ".join(map(str, [len(case["load"]), *case["load"]]))]
    lines += [*lists(case["units"]), *lists(case["results"]), f"{case['dump_words']} {len(case['dumps'])}"]
    for dump in case["dumps"]:
        lines.append(" ".join([str(len(dump)), *(f"{at} {word}" for at, word in dump)]))
    return "\n".join(lines) + "\n"


def measured(wrapper: Wrapper, *, seed: int, beats: int) -> dict[str, Any]:
    """Play so many beats at a wrapper. A word, a bit or a cycle that is wrong is a `RuntimeError`."""
    build = built(wrapper)
    shape = shape_of(build, wrapper.bus_bits)
    size = shape.run_beats * shape.stream_words
    # Enough units for faults at every place of a beat.
    units = max(8, -(-2 * shape.containers // size))
    case = case_of(build, bus_bits=wrapper.bus_bits, units=units, seed=seed)
    verilog = wrapped_verilog(build, wrapper.bus_bits) + shell(shape, f"{build.module}_axi")
    program = cxxrtl_run.build(verilog, "shell", host(shape))
    with tempfile.TemporaryDirectory(prefix="tabla-bus-") as folder:
        file = Path(folder) / "case"
        file.write_text(case_text(case), encoding="utf-8")
        done = subprocess.run([program, file, str(seed), str(beats)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{wrapper.name}, seed {seed}: {done.stderr.strip()}")
    sizes = {"RUN": units * size, "LOAD": len(case["load"])}
    words = {"unit": size, "containers": sizes, "width": shape.width, "container": shape.container}
    return {"wrapper": wrapper.name, **words, **json.loads(done.stdout)}


def possible(row: dict[str, Any], kind: str, command: str) -> set[int]:
    """Return the places of a beat at which such a fault can be, in one of the packets that the host sends."""
    places, count = row["places"], row["containers"][command]
    unit = count if command == "LOAD" else row["unit"]
    match kind:
        case "SHORT":
            # TLAST stands inside a unit.
            return {at % places for at in range(count - 1) if (at + 1) % unit}
        case "KEEP, a hole":
            # Another container stands behind it.
            return {at % places for at in range(count - 1)}
        case "KEEP, part of a container":
            return {at % places for at in range(count)} if row["container"] > 8 else set()
        case "KEEP, absent before the last beat":
            return set(range(1, places)) if count > places else set()
        case "RANGE":
            return {at % places for at in range(count)} if row["container"] > row["width"] else set()
        case _:
            return set(range(places))


def markdown(found: list[dict[str, Any]]) -> str:
    """Return the tables of the page: the wrappers, and the faults of all of them together."""
    lines = ["| wrapper | seed | beats | commands | cycles of LOAD, RUN and DUMP |", "|" + "---|" * 5]
    for row in found:
        lines.append(
            f"| {row['wrapper']} | {row['seed']} | {row['beats']:,} | {row['commands']:,} | {row['clean']:,} |"
        )
    lines += ["", "| fault | command | times | places of a beat | at rest after | recovered within |", "|" + "---|" * 6]
    kinds = {(kind["kind"], kind["command"]): kind["placed"] for row in found for kind in row["kinds"]}
    for (name, command), placed in kinds.items():
        rows = [
            (row, kind) for row in found for kind in row["kinds"] if (kind["kind"], kind["command"]) == (name, command)
        ]
        times = sum(kind["times"] for _, kind in rows)
        every = sum(len(possible(row, name, command)) for row, _ in rows)
        covered = f"{sum(len(kind['places']) for _, kind in rows)} of {every}"
        rest = max(kind["rest"] for _, kind in rows)
        longer = max(kind["recovery"] - row["clean"] for row, kind in rows)
        lines.append(f"| {name} | {command} | {times:,} | {covered if placed else ''} | {rest:,} | {longer:+,} |")
    return "\n".join(lines) + "\n"
