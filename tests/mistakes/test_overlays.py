"""Mistakes of ``tabla overlay`` and ``tabla load``, and of programs that are compiled onto an overlay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tabla.base.folder import BOARD_SCHEMA, MANIFEST_SCHEMA
from tabla.program.overlay import overlay_of
from tabla.program.overlay_file import overlay_record
from tabla.templates.overlays import default_room
from tabla.templates.template import presets
from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import Mistake, mistake, usage

OVERLAY = {
    "a program": usage("overlay model.t", "unrecognized arguments: model.t"),
    "three PEs in PUs of two": mistake("overlay --pes 3 --pes-per-pu 2", "2 PEs per PU do not divide 3 PEs"),
    "several roots": mistake("overlay --pes 16 --pes-per-pu 4", "an overlay has one root"),
    "a format from data": mistake("overlay --format auto", "there is none here"),
    "an unknown function": mistake("overlay --functions sigmoid,tan", "there is no function 'tan'"),
    "a function twice": mistake("overlay --functions tanh,tanh", "the function 'tanh' is named twice"),
    "an unknown feature": mistake(
        "overlay --features maxima", "there is no feature 'maxima'", "the features are extremes, comparisons"
    ),
    "no words in a beat": mistake("overlay --stream-words 0", "--stream-words 0 is out of range"),
    "a program without its function": mistake(
        "overlay --for model.t --pes 2 --functions tanh",
        "'model' needs the function sigmoid, the overlay has tanh",
        "--functions tanh,sigmoid",
    ),
    "a program with more strands": mistake("overlay --for model.t --pes 2 --strands 1", "'model' needs"),
    "a program with longer steps": mistake(
        "overlay --for model.t --pes 2 --bus axi --step-words 1", "'model' needs", "--step-words"
    ),
    "a place that is no number": usage("overlay --shifts a", "'a' is not a list of whole numbers"),
    "a place twice": mistake("overlay --shifts 0,0", "--shifts is no list of places"),
    "no place 0": mistake("overlay --shifts 1,2", "--shifts 1,2 lacks place 0", "use --shifts=0,1,2"),
    "a place before 0 alone": mistake("overlay --shifts -1", "--shifts -1 lacks place 0", "use --shifts=0,-1"),
    "a place that words do not reach": mistake("overlay --shifts 0,-11", "q6.10 has no sums at place -11"),
    "a program's folder as output": mistake("overlay -o build", "is not empty, and tabla overlay did not make it"),
    "a board's folder as output": mistake("overlay -o bitstream", "is not empty, and tabla overlay did not make it"),
    "too many loops": mistake("overlay --levels 8", "--levels 8 is out of range", "use 1 to 7"),
    "no strands": mistake("overlay --strands 0", "--strands 0 is out of range"),
    "no model words": mistake("overlay --model-words 0", "--model-words 0 is not a memory depth"),
    "an unknown record": mistake("overlay --template Mine", "unknown template 'Mine'", "LearningOverlay, Pe1, Pe128,"),
    "records for nothing": mistake("overlay --templates mine.td", "no option uses any of them"),
    "steps without a bus": mistake("overlay --step-words 9", "--step-words is for a bus", "--bus axi"),
    "a width without a bus": mistake("overlay --bus-width 64", "--bus-width is for a bus", "--bus axi"),
    "steps of no words": mistake("overlay --bus axi --step-words 0", "--step-words 0 is out of range", "use 1 to"),
    "a file as output": mistake("overlay -o model.t", "'model.t' is not a folder"),
}
LOAD = {
    "no overlay": mistake("load model.t", "an image is for an overlay, and none is named", "--onto"),
    "a folder without an overlay": mistake("load model.t --onto .", "there is no overlay in '.'", "tabla overlay"),
    "an image without a name": mistake("load model.t --onto small --output=", "-o names no file", "leave -o out"),
    "PEs": mistake("load model.t --onto small --pes 4", "--pes is given with --onto", "leave --pes out"),
    "a format": mistake("sim model.t --onto small --format q8.8 --inputs in.npz", "--format is given with --onto"),
    "a function that is not there": mistake(
        "load model.t --onto small", "'model' needs the function sigmoid, the overlay has none", "--functions sigmoid"
    ),
    "a damaged manifest": mistake("load model.t --onto damaged", "is damaged", "tabla overlay"),
    "a manifest of another version": mistake("load model.t --onto other", "not the manifest of an overlay that this"),
    "an overlay's folder as output": mistake(
        "gen model.t -o small", "folder 'small' is not empty, and tabla gen did not make it", "choose another one"
    ),
    "an overlay's folder for a bitstream": mistake(
        "build model.t --board ulx3s-85f -o small", "is not empty, and tabla gen did not make it"
    ),
    "a misfit": mistake("gen model.t --onto small", "'model' needs the function sigmoid, the overlay has none"),
    "a bus": mistake("gen model.t --onto small --bus axi", "--bus is given with --onto", "leave --bus out"),
    "hardware of its own": mistake(
        "synth model.t --target ecp5 --onto small", "a program for an overlay has no hardware of its own"
    ),
    "the program as image": mistake("load model.t --onto small -o model.t", "the command reads this file"),
    "the overlay as image": mistake(
        "load model.t --onto small -o small/overlay.json", "the command reads this file", "name another file"
    ),
}


def _overlays(folder: Path) -> None:
    """An overlay without functions, and manifests that are none."""
    overlay = overlay_of(presets()["Pe2"], replace(default_room(), model_words=8, functions=()))
    record = json.dumps(overlay_record(overlay))
    texts = {"small": record, "damaged": record[:-9], "other": record.replace('"levels": 6', '"levels": 5')}
    for name, text in texts.items():
        (folder / name).mkdir()
        (folder / name / "overlay.json").write_text(text)
    for name, schema in (("build", MANIFEST_SCHEMA), ("bitstream", BOARD_SCHEMA)):
        (folder / name).mkdir()
        (folder / name / "model.json").write_text(json.dumps({"schema": schema}))


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in {**OVERLAY, **LOAD}.items()])
def test_a_mistake(case: Mistake, folder: Path, refused: Refused) -> None:
    _overlays(folder)
    refused(case)
