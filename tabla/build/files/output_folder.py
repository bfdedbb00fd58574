"""The content of the output folders that ``tabla gen`` and ``tabla build`` write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabla.base import progress
from tabla.base.arrays import npz_bytes
from tabla.base.folder import BOARD_SCHEMA, check_replaceable, replaced_folder
from tabla.build.bench.bench_files import bench_files
from tabla.build.bench.vectors import GivenWords, golden
from tabla.build.files.bus import wrapper_ports
from tabla.build.files.c_driver import ImageWords, driver_files, program_header
from tabla.build.files.fusesoc import bus_bench, core
from tabla.build.files.graph_picture import dot, svg
from tabla.build.files.ipxact import component
from tabla.build.files.litex import litex_module
from tabla.build.files.manifest import OF_HARDWARE, manifest
from tabla.build.files.names import legal
from tabla.build.files.registers import register_header, register_page, register_systemrdl
from tabla.build.files.schedule_page import schedule_json, schedule_page
from tabla.build.files.vivado import vivado_script
from tabla.build.stages import Stages, format_entry
from tabla.program.bus import BusShape
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.program.image_file import image_record
from tabla.program.overlay import Overlay
from tabla.program.overlay_file import NAME
from tabla.program.overlay_image import ImageFile, read_image
from tabla.program.positions import positions
from tabla.program.prediction import HostPrediction
from tabla.program.protocol import fingerprint
from tabla.templates.bus import registers

if TYPE_CHECKING:
    from tabla.build.synth.board import Bitstream


def write(build: Stages, folder: Path, given: GivenWords | None = None) -> Path:
    """Write the output folder of ``tabla gen`` and return its path. After an error the old folder is unchanged.

    `given` is that of :func:`tabla.build.bench.vectors.golden`.
    """
    check_replaceable(folder)
    files = artifacts(build, given)
    with replaced_folder(folder) as fresh:
        for place in sorted({(fresh / name).parent for name in files} - {fresh}):
            place.mkdir(parents=True)
        for name, content in files.items():
            (fresh / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def artifacts(build: Stages, given: GivenWords | None = None) -> dict[str, str | bytes]:
    """Return the content of every file of ``tabla gen``, by its path in the folder.

    There is no test bench if :func:`tabla.build.bench.vectors.golden` finds no inputs that are valid for the program. A
    program for an overlay has its image in the place of Verilog.
    """
    if build.overlay is not None:
        return _on_overlay(build, build.overlay)
    name, schedule, bus = build.name, build.schedule, build.bus_shape
    verilog = build.verilog if bus is None else build.bus_verilog[".v"]
    progress.step("manifest, pictures and test bench")
    content = manifest(
        schedule,
        build.bound,
        build.image,
        build.module,
        build.reading.text.original,
        bus,
        build.integers,
        build.lowered.rate,
    )
    mark = fingerprint(build.image)
    layout = npz_bytes(positions(Host(schedule)), deflate=True)
    vectors = golden(build, given)
    bench = {} if vectors is None else bench_files(name, build.module, vectors)
    return {
        f"{name}.v": verilog,
        f"{name}.json": _json(
            {
                **content,
                # A host tells by these whether the files of a folder belong together.
                "fingerprint": mark,
                "sha256": {f"{name}.v": _sha256(verilog.encode()), f"{name}.layout.npz": _sha256(layout)},
                **format_entry(build.format_choice),
            }
        ),
        f"{name}.layout.npz": layout,
        **_shown(build),
        **{f"tb/{file}": data for file, data in bench.items()},
        **({} if bus is None else _bus_files(build, bus, mark, vectors)),
    }


def _on_overlay(build: Stages, overlay: Overlay) -> dict[str, str | bytes]:
    """Return the files of a program for an overlay: its image, what a host needs of it, and what is predicted."""
    name, content = build.name, build.image_file
    held = read_image(content, f"{name}.image")
    whole = manifest(
        build.schedule,
        build.bound,
        build.image,
        build.module,
        build.reading.text.original,
        None,
        build.integers,
        build.lowered.rate,
    )
    entry = {
        **{key: value for key, value in whole.items() if key not in OF_HARDWARE},
        "overlay": {"fingerprint": overlay.fingerprint, "image": f"{name}.image", "words": len(held.words)},
        "fingerprint": fingerprint(build.image),
        "sha256": {f"{name}.image": _sha256(content), f"{name}.layout.npz": _sha256(held.layout)},
        **format_entry(build.format_choice),
    }
    return {
        f"{name}.image": content,
        f"{name}.json": _json(entry),
        f"{name}.layout.npz": held.layout,
        **_shown(build),
        **_driver_onto(build, overlay, held),
    }


def _driver_onto(build: Stages, overlay: Overlay, held: ImageFile) -> dict[str, str | bytes]:
    """Return the C driver of a program for an overlay that has a wrapper for a bus."""
    if overlay.bus is None:
        return {}
    build.refuse_header_name()
    header = program_header(
        build.name,
        legal(build.name),
        fingerprint(build.image),
        BusShape.of_overlay(overlay, overlay.bus),
        build.format,
        positions(Host(build.schedule)),
        build.lowered.rate,
        ImageWords(overlay=overlay.fingerprint, words=held.words),
        HostPrediction.of(build.schedule, build.image),
    )
    return {f"{build.name}.h": header, **driver_files()}


def _shown(build: Stages) -> dict[str, str | bytes]:
    """Return the files that show a program and its schedule, its weights and its microcode."""
    name, schedule, models = build.name, build.schedule, build.reading.models
    return {
        f"{name}.schedule.json": _json(schedule_json(schedule)),
        f"{name}.schedule.html": schedule_page(schedule, build.bound, build.reading.text.locate),
        f"{name}.graph.dot": dot(build.graph),
        f"{name}.graph.svg": svg(build.graph),
        **({f"{name}.weights.npz": npz_bytes(models, deflate=True)} if models else {}),
        **_images(build.image),
        "program/image.json": json.dumps(image_record(build.image), separators=(",", ":")) + "\n",
    }


def _bus_files(build: Stages, shape: BusShape, mark: int, vectors: Mapping[str, Any] | None) -> dict[str, str | bytes]:
    """Return the content of the files that ``--bus`` adds, by their paths.

    `mark` is the fingerprint of the image. `vectors` are those of :func:`tabla.build.bench.vectors.golden`; without
    them there is no test bench.
    """
    name, module = build.name, build.module
    resets, table = {"FINGERPRINT": mark}, registers(shape.predicts)
    driver = {
        f"{name}.h": program_header(
            name,
            module,
            mark,
            shape,
            build.format,
            positions(Host(build.schedule)),
            build.lowered.rate,
            prediction=HostPrediction.of(build.schedule, build.image),
        ),
        f"{name}_registers.h": register_header(module, resets, table),
        **driver_files(),
    }
    rtl = (f"{name}.v", f"{name}_axi.v")
    bench = {} if vectors is None else bus_bench(module, shape, vectors)
    return {
        f"{name}_axi.v": build.bus_verilog["_axi.v"],
        f"{name}_registers.md": register_page(module, resets, table, loads_rate=build.lowered.rate is not None),
        f"{name}_registers.rdl": register_systemrdl(module, resets, table),
        f"{name}_litex.py": litex_module(name, module, mark, shape),
        f"{name}_vivado.tcl": vivado_script(name, module),
        f"{name}.core": core(module, rtl, driver, bench=bool(bench)),
        "component.xml": component(module, shape, wrapper_ports(shape), rtl, resets, table),
        **{f"tb/{file}": data for file, data in bench.items()},
        **driver,
    }


def write_bitstream(build: Stages, made: Bitstream, folder: Path) -> dict[str, Any]:
    """Write the folder of ``tabla build``: sources, constraints, bitstream and figures. Returns the figures.

    After an error the old folder is unchanged.
    """
    cycles = {"cycles": build.schedule.cycles, "latency": build.schedule.latency}
    return _bitstream(
        build.name, build.module, build.verilog, {**cycles, "program": fingerprint(build.image)}, made, folder
    )


def write_overlay_bitstream(overlay: Overlay, verilog: str, made: Bitstream, folder: Path) -> dict[str, Any]:
    """Write the folder of ``tabla build`` for an overlay, as `write_bitstream` does."""
    return _bitstream(NAME, NAME, verilog, {"overlay": overlay.fingerprint}, made, folder)


def _bitstream(
    name: str, module: str, verilog: str, about: Mapping[str, Any], made: Bitstream, folder: Path
) -> dict[str, Any]:
    """Write a folder of ``tabla build``. `about` are the figures of what is on the board."""
    content = {"schema": BOARD_SCHEMA, "name": name, "module": module, "top": made.top, **about, **made.data()}
    files = {
        f"{name}.v": verilog,
        f"{name}_board.v": made.verilog,
        f"{name}{made.constraint_suffix}": made.constraints,
        f"{name}.json": _json(content),
    }
    with replaced_folder(folder) as fresh:
        for path, text in files.items():
            (fresh / path).write_text(text, encoding="utf-8", newline="\n")
        (fresh / f"{name}{made.suffix}").write_bytes(made.content)
    return content


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1) + "\n"


def _hex(words: tuple[int, ...], bits: int) -> str:
    """Return the words as a text with a hexadecimal word of `bits` bits a line, as Verilog's ``$readmemh`` reads it.

    Negative words are written in two's complement.
    """
    digits = -(-bits // 4)
    return "".join(f"{word & ((1 << bits) - 1):0{digits}x}\n" for word in words)


def _images(image: Image) -> dict[str, str]:
    files = {}
    for unit, kind in image.memories:
        words = image.strands[unit] if kind == "strands" else image.operations[unit]
        files[f"program/{unit}.{kind}.hex"] = _hex(words, max(1, *(w.bit_length() for w in (*words, 0, 0))))
    for function in image.parameters.functions:
        for part in ("base", "slope", "curve", "exponent"):
            words = getattr(function, part)
            if words:
                bits = max(w.bit_length() for w in words) + 1
                files[f"program/{function.name}.{part}.hex"] = _hex(words, bits)
    return files
