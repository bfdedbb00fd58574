"""Mistakes with a folder that ``tabla gen`` wrote, or its manifest, in the place of a program or of data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import mistake

FOLDERS = {
    "check a folder": mistake("check build", "'build' is not a program", "model.t"),
    "check a manifest": mistake("check build/model.json", "'build/model.json' is not a program"),
    "check Verilog": mistake("check build/model.v", "'build/model.v' is not a program"),
    "generate from a folder": mistake("gen build", "'build' is not a program"),
    "bound a folder": mistake("bound build", "'build' is not a program"),
    "train a folder": mistake("train build --data data.npz", "'build' is not a program"),
    "train a manifest": mistake("train build/model.json --data data.npz", "'build/model.json' is not a program"),
    "simulate Verilog": mistake("sim build/model.v --inputs in.npz", "'build/model.v' is not a program"),
    "evaluate a folder": mistake("eval build --inputs in.npz -o out.npz", "'build' is not a program"),
    "a folder as data": mistake("train model.t --engine model --data build", "'build' is neither .npz nor .csv"),
    "a manifest as data": mistake("sim model.t --inputs build/model.json", "neither .npz nor .csv"),
    "a folder of arrays": mistake("sim model.t --inputs arrays.npz", "cannot read 'arrays.npz': Is a directory"),
    "a folder as weights": mistake(
        "train model.t --engine model --data data.npz --weights build", "neither .npz nor .csv"
    ),
    "a folder as models": mistake("train model.t --engine model --data data.npz -o arrays.npz", "is a folder"),
    "a folder as records": mistake("check model.t --templates build --template Mine", "cannot read 'build'"),
    "ranges of a folder": mistake("ranges build", "'build' has no ranges to infer"),
    "records of a folder": mistake("tblgen build", "cannot read 'build'"),
    "records of a manifest": mistake("tblgen build/model.json", " --> build/model.json:1"),
    "a text of a folder": mistake("preprocess build", "cannot read 'build'"),
    "JSON over a folder": mistake("check model.t --json build", "'build' is a folder", "name a file"),
}


@pytest.fixture
def written(folder: Path) -> None:
    """Write a folder as ``tabla gen`` does, and an empty one with the name of arrays."""
    (folder / "build").mkdir()
    (folder / "build" / "model.json").write_text(json.dumps({"schema": "tabla-manifest-1", "module": "model"}))
    (folder / "build" / "model.v").write_text("module model(); endmodule\n")
    (folder / "arrays.npz").mkdir()


@pytest.mark.parametrize("name", FOLDERS)
def test_folders(written: None, refused: Refused, name: str) -> None:
    refused(FOLDERS[name])
