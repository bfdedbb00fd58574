"""``tabla overlay`` writes an array without a program, which takes one image after the other."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tabla.base.folder import OVERLAY, check_replaceable, replaced_folder
from tabla.base.kinds import Names
from tabla.base.source import TablaError
from tabla.build.files.overlay import overlay_files, overlay_manifest, overlay_text
from tabla.build.options import ArrayOptions, Options, unknown_template
from tabla.commands.arguments import add_json, add_options, add_quiet, group_of, record_of, wrong_argument
from tabla.commands.console import Console
from tabla.commands.output import write_json
from tabla.driver import build
from tabla.graph.format import Format
from tabla.program.bus import BUS_WIDTHS
from tabla.program.encode import least_image
from tabla.program.fit import refuse_features, refuse_misfit, refuse_numbers
from tabla.program.image import Image
from tabla.program.least_overlay import least_room
from tabla.program.overlay import LEAST_CONSTANT, Overlay, OverlayBus, overlay_of, usual_places
from tabla.program.overlay_file import NAME
from tabla.templates.overlays import ROOM_NUMBERS, OverlayRoom, default_room, overlay_rooms
from tabla.templates.template import Template, default_preset, presets

FOLDER = "overlay"
STEP_WORDS = 1024
_DEPTHS = ("model_words", "data_words", "interim_words")
_MEANINGS = {
    "model_words": "depth of the model memory of each PE",
    "data_words": "depth of the data memory of each PE",
    "interim_words": "depth of the interim memory of each PE",
    "root_data_words": "depth of the root's memory of samples",
    "root_memory_words": "depth of the root's other memory",
    "output_words": "words of results that wait for the host",
    "stream_words": "words of the input port per cycle, a power of two",
    "levels": "the most loops of a strand",
    "body": "the most operations in a loop",
    "cycles": "bits of a cycle of a sample",
    "intervals": "bits of the cycles from one operation of a strand to the next",
    "counts": "bits of the iterations of a loop",
    "guards": "bits of the bounds of lanes",
    "strands": "strands of each unit",
    "operations": "operations of each unit",
    "tokens": "the most samples on their way to a unit",
    "terms": "the most products of a sum",
}


def places(text: str) -> tuple[int, ...]:
    """Read ``0,5,7`` as whole numbers."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ArgumentTypeError(f"'{text}' is not a list of whole numbers") from None


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("-o", "--output", metavar="FOLDER", help=f"the output folder (default {FOLDER})")
    add_options(parser, ArrayOptions)
    limits = parser.add_argument_group("what it has room for")
    limits.add_argument(
        "--for",
        dest="programs",
        action="append",
        default=[],
        metavar="FILE",
        help="a program that it has to hold; may be repeated. Limits that are not given are the least that hold all",
    )
    room = default_room()
    limits.add_argument(
        "--functions", type=_names, metavar="A,B", help=f"functions (default {','.join(room.functions)})"
    )
    limits.add_argument(
        "--features",
        type=_names,
        metavar="A,B",
        help=f"what else the lanes can do (default {','.join(room.features)})",
    )
    limits.add_argument(
        "--shifts",
        type=places,
        metavar="S,S",
        help="places of sums in bits beyond the fraction; a learning rate from 2^-(s+1) to 2^-s needs place s (default"
        f" {_usual()})",
    )
    for name in ROOM_NUMBERS:
        text = f"{_MEANINGS[name]} (default {getattr(room, name)})"
        limits.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="N", help=text)
    host = group_of(parser, "the host")
    host.add_argument(
        "--step-words",
        type=int,
        metavar="N",
        help=f"the most words of a step on the bus (default {STEP_WORDS}, or what the programs of --for need)",
    )
    add_json(parser)
    add_quiet(parser)


def _usual() -> str:
    """Return the places that an overlay of the usual format has where none are named."""
    array = default_preset()
    format = Format(integer=array.integer_bits, fraction=array.fraction_bits)
    places = usual_places(format)
    return f"{places[0]} to {places[-1]} in {format}, those of constants from 2^-{LEAST_CONSTANT} on"


def _names(text: str) -> tuple[str, ...]:
    try:
        return tuple(Names().read(text)) if text else ()
    except TablaError as fault:
        raise wrong_argument(fault) from None


def overlay_from_options(arguments: Namespace) -> Overlay:
    """Return the overlay that the options describe. A value that it cannot have is a `TablaError`."""
    rooms = overlay_rooms(arguments.templates)
    named = rooms.get(arguments.template or "")
    if arguments.template is not None and named is None:
        known = presets(arguments.templates)
        if arguments.template not in known:
            raise unknown_template(arguments.template, (*known, *rooms))
    room: OverlayRoom = named or default_room()
    _refuse_bus_options(arguments)
    options = record_of(arguments, Options)
    options = replace(options, bus=None, bus_width=None, template=None if named else arguments.template)
    options.refuse_unused_records(arguments.template, arguments.format)
    array = options.chosen_template()
    if array.roots > 1:
        raise TablaError("an overlay has one root", hint="leave --pes-per-pu out, or use a template with one root")
    images: list[Image] = []
    if arguments.programs:
        images = _images(arguments, options, array, room)
        room = least_room(images)
    given = {name: getattr(arguments, name) for name in (*ROOM_NUMBERS, "functions", "shifts", "features")}
    asked = {name: value for name, value in given.items() if value is not None}
    fixed = {"model_words": array.model_words, "data_words": array.data_words, "interim_words": array.interim_words}
    room = replace(room, **{**{name: words for name, words in fixed.items() if words}, **asked})
    overlay = overlay_of(replace(array, roots=1, stream_words=room.stream_words), room, _bus(arguments, images))
    for image in images:
        # A limit that is given may be less than what the program needs.
        refuse_misfit(image.parameters.name, image.parameters, overlay)
        refuse_features(image.parameters.name, image, overlay)
        refuse_numbers(image.parameters.name, image, overlay)
    return overlay


def _refuse_bus_options(arguments: Namespace) -> None:
    """Raise `TablaError` for options of a bus without one."""
    for option in ("bus_width", "step_words"):
        if arguments.bus is None and getattr(arguments, option) is not None:
            name = option.replace("_", "-")
            raise TablaError(f"--{name} is for a bus, and there is none", hint="give --bus axi, too")


def _bus(arguments: Namespace, images: Sequence[Image]) -> OverlayBus | None:
    """Return the bus of the wrapper, whose buffer holds the steps of some programs; None without one."""
    if arguments.bus is None:
        return None
    needed = max((image.stream_run.beats * image.parameters.stream_words for image in images), default=STEP_WORDS)
    words = arguments.step_words if arguments.step_words is not None else max(1, needed)
    return OverlayBus(bits=arguments.bus_width or BUS_WIDTHS[0], step_words=words)


def _images(arguments: Namespace, options: Options, array: Template, room: OverlayRoom) -> list[Image]:
    """Return the images of the programs of ``--for`` on an array with one root."""
    beat = arguments.stream_words or room.stream_words
    depths: dict[str, Any] = {name: words for name in _DEPTHS if (words := getattr(arguments, name)) is not None}
    sequencers = max(1, array.sequencers)
    fixed = replace(
        array, roots=1, sequencers=sequencers, stream_words=beat, samples_overlap=False, scatters=False, **depths
    )
    return [least_image(replace(build(file, options), template=fixed).schedule) for file in arguments.programs]


def run(arguments: Namespace, console: Console) -> int:
    """Write the folder of an overlay."""
    folder = Path(arguments.output or FOLDER)
    check_replaceable(folder, OVERLAY)
    overlay = overlay_from_options(arguments)
    console.progress("overlay: Verilog")
    files = overlay_files(overlay)
    with replaced_folder(folder, OVERLAY) as fresh:
        for name, text in files.items():
            (fresh / name).write_text(text, encoding="utf-8", newline="\n")
    if arguments.json:
        write_json(arguments.json, overlay_manifest(overlay), console)
    if arguments.json != "-":
        console.report(overlay_text(overlay))
        console.result(f"written      {folder / NAME}.v")
    return 0
