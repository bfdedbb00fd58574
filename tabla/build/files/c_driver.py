"""The C files of ``gen --bus``, and of ``gen --onto`` an overlay with a wrapper: the header of one accelerator or
program, and the driver, which is the same for all of them.

The header has the positions of ``<name>.layout.npz`` as tables, for the driver in ``driver/tabla.c``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from tabla.build.files.names import legal_names
from tabla.build.files.registers import register_macros
from tabla.graph.format import Format
from tabla.graph.rate import RATE, RuntimeRate
from tabla.program.bus import BusShape
from tabla.program.overlay_registers import registers_for_images
from tabla.program.prediction import HostPrediction

Positions = Mapping[str, NDArray[np.int32]]

UNITS = ("load", "sample", "result", "dump")
_WIDTH = 100
# Names that are macros of the registers, or that the header itself uses.
_TAKEN = ("tensors", "units_offset", "units_reset")


def driver_files() -> dict[str, str]:
    """Return ``tabla.h`` and ``tabla.c`` by their names. The header gets the registers of the one table."""
    folder = files("tabla.build.files").joinpath("driver")
    header, source = (folder.joinpath(name).read_text(encoding="utf-8") for name in ("tabla.h", "tabla.c"))
    macros = [*register_macros("TABLA", {}), "", "/* Only an overlay has these. */"]
    macros += register_macros("TABLA", {}, registers_for_images())
    registers = "\n".join(["/* The registers, in bytes from the base address. */", *macros])
    return {"tabla.h": header.replace("/* Registers: @registers@ */", f"{registers}\n"), "tabla.c": source}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageWords:
    """The words of an image, and the fingerprint of the overlay that it is for."""

    overlay: int
    words: Sequence[int]


def tensors_of(layout: Positions, kind: str) -> dict[str, NDArray[np.int32]]:
    """Return the places of the tensors of a unit, by name, each of shape (copies, *shape of the tensor).

    A dump has the order of a load, so that the arrays of a dump can be loaded again.
    """
    found = {name.removeprefix(f"{kind}/"): places for name, places in layout.items() if name.startswith(f"{kind}/")}
    if kind in ("result", "dump"):
        found = {name: places[None] for name, places in found.items()}
    if kind in ("load", "dump"):
        order = list(dict.fromkeys(name for side in ("load/", "dump/") for name in layout if name.startswith(side)))
        shared = [name.removeprefix("load/") for name in order if f"dump/{name.removeprefix('load/')}" in layout]
        first = [name for name in shared if name in found]
        found = {name: found[name] for name in (*first, *sorted(set(found) - set(first)))}
    return found


def program_header(
    name: str,
    module: str,
    fingerprint: int,
    shape: BusShape,
    number_format: Format,
    layout: Positions,
    rate: RuntimeRate | None = None,
    image: ImageWords | None = None,
    prediction: HostPrediction | None = None,
) -> str:
    """Return ``<name>.h``, the header of the accelerator with the Verilog module `module`.

    `rate` is a learning rate that hosts load. `image` is that of a program for an overlay, for which `module` is
    another legal name. `prediction` says how a host predicts, if it can.
    """
    prefix, beat = module.upper(), shape.bus_bits // 8
    sizes = {kind: len(layout[f"{kind}.template"]) * shape.container // 8 for kind in UNITS}
    beats = {kind: max(1, -(-size // beat)) * beat for kind, size in sizes.items()}
    lines = [
        f"/* {module}: the layout of its units, for the driver tabla.c. Made by tabla.",
        " *",
        " * Include this file in one source file: each inclusion has its own tables. Buffers",
        f" * of {prefix}_SEND_BYTES and {prefix}_RECEIVE_BYTES hold one unit; larger ones are",
        " * faster. Arrays are in row-major order, in the order of the enumerations below.",
        " */",
        f"#ifndef {prefix}_H",
        f"#define {prefix}_H",
        "",
        '#include "tabla.h"',
        *([f'#include "{name}_registers.h"'] if image is None else []),
        "",
        f"#define {prefix}_WIDTH {shape.width}",
        f"#define {prefix}_FRACTION {number_format.fraction}",
        "/* The word of the number 1. Integers are words as they are. */",
        f"#define {prefix}_ONE {number_format.one}",
        *(() if rate is None else _rate(prefix, rate, number_format)),
        f"#define {prefix}_SEND_BYTES {max(beats['load'], beats['sample'])}u",
        f"#define {prefix}_RECEIVE_BYTES {max(beats['result'], beats['dump'])}u",
    ]
    for kind in UNITS:
        ignored = prediction.ignored if prediction is not None and kind == "sample" else ()
        lines += ["", *_unit(module, kind, layout, ignored)]
    sizes_of = (f"{shape.width}u", f"{shape.container // 8}u", f"{beat}u")
    members = (f'"{module}"', f"0x{fingerprint:08X}u", *sizes_of, f"{prediction.code if prediction else 0}u")
    if image is not None:
        lines += ["", *_image(module, image)]
    units = (
        f"{{{len(layout[f'{kind}.template'])}u, {_template(module, kind, layout)}, {prefix}_{kind.upper()}_TENSORS, "
        f"{f'{module}_{kind}_tensors' if tensors_of(layout, kind) else 'NULL'}}}"
        for kind in UNITS
    )
    lines += ["", f"static const struct tabla_program {module}_program = {{", f"    {', '.join(members)},"]
    lines += [f"    {unit}," for unit in units]
    lines.append("    NULL," if image is None else f"    &{module}_image,")
    return "\n".join([*lines, "};", "", f"#endif /* {prefix}_H */"]) + "\n"


def _image(module: str, image: ImageWords) -> Iterator[str]:
    """Yield the lines of the image of a program for an overlay."""
    yield f"static const uint32_t {module}_image_words[] = {{"
    for begin in range(0, len(image.words), 8):
        yield f"    {' '.join(f'0x{word:08X}u,' for word in image.words[begin : begin + 8])}"
    yield "};"
    held = f"{{0x{image.overlay:08X}u, {len(image.words)}u, {module}_image_words}}"
    yield f"static const struct tabla_image {module}_image = {held};"


def _rate(prefix: str, rate: RuntimeRate, number_format: Format) -> Iterator[str]:
    """Yield the lines about a learning rate that is loaded."""
    one = float(rate.sign * number_format.one * Fraction(2) ** rate.shift)
    yield f"/* The learning rate is the tensor {RATE} of a load; a new one takes effect with the next load."
    yield f" * RATE is the word of {float(rate.built):.6g}, with which the program was compiled, and RATE_WORD(r)"
    yield f" * that of the rate r. It must fit {number_format.width} bits, and must not be 0 unless r is. */"
    yield f"#define {prefix}_RATE {rate.word(rate.built, number_format)}"
    # The sum is positive, so that the conversion, which drops the fraction, rounds halves up.
    yield f"#define {prefix}_RATE_WORD(r) ((int32_t)((int64_t)((r) * {one!r} + 2147483648.5) - INT64_C(2147483648)))"


def _template(module: str, kind: str, layout: Positions) -> str:
    return f"{module}_{kind}_words" if layout[f"{kind}.template"].any() else "NULL"


def _unit(module: str, kind: str, layout: Positions, ignored: Collection[str]) -> Iterator[str]:
    """Yield the lines that define a unit: the numbers and the sizes of its tensors, and their places.

    `ignored` are the names of tensors that a prediction does without.
    """
    tensors = tensors_of(layout, kind)
    names = legal_names(tensors, _TAKEN)
    prefix = module.upper()
    yield f"enum {module}_{kind} {{"
    for name, places in tensors.items():
        shape = "".join(f"[{size}]" for size in places.shape[1:]) or " (one word)"
        yield f"    {prefix}_{kind.upper()}_{names[name].upper()}, /* {_remark(name)}{shape} */"
    yield f"    {prefix}_{kind.upper()}_TENSORS"
    yield "};"
    for name, places in tensors.items():
        yield f"#define {prefix}_SIZE_OF_{kind.upper()}_{names[name].upper()} {places[0].size}u"
    for name, places in tensors.items():
        yield from _table("uint32_t", f"{module}_{kind}_places_{names[name]}", places)
    if _template(module, kind, layout) != "NULL":
        yield from _table("int32_t", f"{module}_{kind}_words", layout[f"{kind}.template"])
    if tensors:
        yield f"static const struct tabla_tensor {module}_{kind}_tensors[] = {{"
        for name, places in tensors.items():
            size, copies = places[0].size, len(places)
            values = f"{size}u, {copies}u, {module}_{kind}_places_{names[name]}, {int(name in ignored)}u"
            yield f"    {{{_literal(name)}, {values}}},"
        yield "};"


def _remark(name: str) -> str:
    """Return a name for a comment of C. It neither ends the comment nor begins another one."""
    plain = name.encode("unicode_escape").decode("ascii")
    return plain.replace("*/", "*\\/").replace("/*", "/\\*")


def _literal(name: str) -> str:
    """Return a name as a string of C: whatever is not plain ASCII as the octal numbers of its bytes in UTF-8."""
    # A question mark may begin a trigraph.
    plain = {ord(letter) for letter in map(chr, range(32, 127)) if letter not in '"\\?'}
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in name.encode()) + '"'


def _table(kind: str, name: str, numbers: NDArray[np.int32]) -> Iterator[str]:
    """Yield the lines of a table of numbers."""
    yield f"static const {kind} {name}[] = {{"
    line = "   "
    for number in numbers.reshape(-1).tolist():
        # The least number of 32 bits has no literal of its own type.
        text = f" {number}," if number > -(1 << 31) else " (-2147483647 - 1),"
        if len(line) + len(text) > _WIDTH:
            yield line
            line = "   "
        line += text
    yield line
    yield "};"
