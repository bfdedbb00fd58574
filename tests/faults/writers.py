"""Every command that writes, with one call that makes an old output and one that makes another, the new one.

What takes long, and writes nothing, is done once: programs, trained models, points of explorations, and the tools of
FPGAs, of which the bitstream is made up. What is left of a command is the work of finding out what to write, and the
writing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.build.files import output_folder
from tabla.build.files.overlay import overlay_manifest
from tabla.build.synth.board import Bitstream
from tabla.commands import formats, overlay
from tabla.commands.cli import main
from tabla.driver import Build
from tabla.examples import catalogue
from tabla.examples.catalogue import Example
from tabla.learn.explore import local
from tabla.program.overlay import Overlay
from tabla.program.overlay_file import NAME
from tabla.templates.targets import KINDS, board, target
from tests.linear_program import linear_text
from tests.small_overlay import write_images

RECORDS = "report/records.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A command: the words that make the old output, those that make the new one, and the outputs.

    Words and outputs are relative to the home, but for ``in/``, the inputs. Where `old` is empty, there is no old
    output.
    """

    name: str
    old: str
    new: str
    outputs: tuple[str, ...]

    def words(self, text: str, home: Path) -> tuple[str, ...]:
        """Return the words of a call for a home."""
        inputs = f"{home.parent / 'in'}/"
        return tuple(
            inputs + word[3:] if word.startswith("in/") else f"{home}/{word[4:]}" if word.startswith("out/") else word
            for word in text.split()
        )


def _writer(name: str, words: str, one: str, two: str, *outputs: str) -> Writer:
    return Writer(name=name, old=f"{words} {one}" if one != "none" else "", new=f"{words} {two}", outputs=outputs)


_LEARN = "--data in/data.npz --epochs 1 --pes 1 --effort 0 --engine model"
_EXPLORE = "explore in/line.t --workers 1 --format q6.10 -o out/report --json out/e.json"
_FAST = "in/line.t --effort 0"
_ONTO = "in/linear.t --onto in/overlay -D m=3"
_SCORE = "test in/line.t --weights in/w.npz --data in/data.npz --pes 1 --effort 0 --json out/t.json"
_PREDICT = "predict in/line.t --weights in/w.npz --data in/data.npz --pes 1 --effort 0 -o out/p.csv"
_SIM = f"sim {_FAST} --pes 1 --inputs in/inputs.npz --engine model -o out/r.npz --json out/s.json"
WRITERS = (
    _writer("gen", f"gen {_FAST} -o out/build --json out/g.json", "--pes 1", "--pes 2", "build", "g.json"),
    _writer("gen --onto", f"gen {_ONTO} -o out/build", "-D mu=0.03125", "-D mu=1", "build"),
    _writer("build", f"build {_FAST} --board ulx3s-85f -o out/bits", "--pes 1", "--pes 2", "bits"),
    _writer("overlay", "overlay --template Pe2 -o out/overlay", "", "--step-words 64 --bus axi", "overlay"),
    _writer("load", f"load {_ONTO} -o out/p.image", "-D mu=0.03125", "-D mu=1", "p.image"),
    _writer("train", f"train in/line.t {_LEARN} -o out/w.npz --json out/t.json", "", "-D mu=0.5", "w.npz", "t.json"),
    _writer("eval", "eval in/line.t --inputs in/inputs.npz -o out/r.npz", "", "-D mu=0.5", "r.npz"),
    _writer("sim", _SIM, "", "--samples 4", "r.npz", "s.json"),
    _writer("test", _SCORE, "--samples 3", "--samples 4", "t.json"),
    _writer("predict", _PREDICT, "--samples 3", "--samples 4", "p.csv"),
    _writer("formats", "formats in/line.t --data in/data.npz --split 0.25,0.25 --epochs 1 --guards 0 --json out/f.json",
            "--widths 8", "--widths 10", "f.json"),
    _writer("explore", _EXPLORE, "--pes 1", "--pes 1,2",
            RECORDS, "report/explore.json", "report/index.html", "e.json"),
    _writer("explore, the first time", _EXPLORE, "none", "--pes 1,2",
            RECORDS, "report/explore.json", "report/index.html", "e.json"),
    _writer("synth", f"synth {_FAST} --target ecp5 --json out/s.json", "--pes 1", "--pes 1 -D mu=0.5", "s.json"),
    _writer("check", "check in/line.t --json out/c.json", "none", "", "c.json"),
    _writer("examples", "examples logistic -o out/examples", "none", "",
            "examples/logistic.t", "examples/breast_cancer.npz"),
    _writer("preprocess", "preprocess in/text.t -o out/text.t", "-D n=1", "-D n=2", "text.t"),
    _writer("tblgen", "tblgen -I in/ -o out/records.txt -d out/records.d", "in/records.td", "in/more.td",
            "records.txt", "records.d"),
)  # fmt: skip


def inputs(folder: Path) -> None:
    """Write what the commands read."""
    folder.mkdir()
    (folder / "line.t").write_text(linear_text(2))
    (folder / "linear.t").write_text(linear_text(3))
    (folder / "text.t").write_text("$n ?= 3;\nm = $n;\n")
    (folder / "records.td").write_text('include "more.td"\ndef two { int n = 2; }\n')
    (folder / "more.td").write_text("def one { int n = 1; }\n")
    x = np.random.default_rng(1).uniform(-1, 1, (8, 2))
    np.savez(folder / "data.npz", x=x, y=x.sum(axis=1))
    np.savez(folder / "inputs.npz", x=x, y=x.sum(axis=1), w=np.zeros(2), b=np.zeros(()))
    np.savez(folder / "w.npz", w=np.ones(2), b=np.zeros(()))
    write_images(folder)


def _remembered(patch: pytest.MonkeyPatch, owners: tuple[Any, ...], name: str, key: Callable[..., object]) -> None:
    """Let a function, which modules or a class have under one name, work only once for each key."""
    real, found = getattr(owners[0], name), dict[object, Any]()

    def call(*given: Any, **named: Any) -> Any:
        at = key(*given, **named)
        if at not in found:
            found[at] = real(*given, **named)
        return found[at]

    for owner in owners:
        patch.setattr(owner, name, call)


def _bitstream(made: Build, name: str, **options: Any) -> Bitstream:
    """Stand for the tools of an FPGA, which take a minute."""
    found = board(name)
    return Bitstream(
        top="top", board=found, target=target(found.target), verilog=made.verilog, constraints="LOCATE\n",
        content=b"bits" * 1000, megahertz=50.0, proved=60.0, baud=1_000_000, divisor=50, settings=None, seed=1,
        taken=dict.fromkeys(KINDS, 1), warnings=(),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Area:
    """Stand for the figures of Yosys."""

    defines: Mapping[str, float]

    def data(self) -> dict[str, Any]:
        return {"cells": [str(self.defines)] * 100}

    def text(self, width: int | None = None) -> str:
        return "area"


def _overlay_files(overlay: Overlay) -> dict[str, str]:
    """Stand for the Verilog of an overlay, which takes ten seconds."""
    return {f"{NAME}.v": "module overlay;\n" * 1000, f"{NAME}.json": json.dumps(overlay_manifest(overlay))}


def _example(example: Example, folder: Path) -> dict[Path, bytes]:
    """Stand for the data of an example, which the package scikit-learn takes seconds to give."""
    return {folder / "logistic.t": example.program.read_bytes(), folder / "breast_cancer.npz": b"data" * 1000}


def prepare(patch: pytest.MonkeyPatch) -> None:
    """Let the commands remember what takes long and writes nothing."""
    named = ("gen", "train", "models", "choosing", "overlay")
    modules = tuple(import_module(f"tabla.commands.{name}") for name in named)
    train, test, predict = (import_module(f"tabla.commands.{name}") for name in ("train", "test", "predict"))
    _remembered(patch, modules, "build", lambda *given: repr(given))
    _remembered(patch, (train,), "train", lambda made, *given, **named: (id(made), repr(given)))
    _remembered(patch, (test,), "test", lambda made, *given: (id(made), repr(given)))
    _remembered(patch, (predict,), "predict", lambda made, *given: (id(made), repr(given)))
    _remembered(patch, (output_folder,), "artifacts", lambda made, given: id(made))
    _remembered(patch, (formats,), "table_of", lambda *given: repr(given[:6]))
    _remembered(patch, (local,), "answer", lambda question, task: (question.sum, task.key))
    patch.setattr(Build, "synthesise", lambda made, *given, **named: _Area(made.options.defines))
    patch.setattr(Build, "bitstream", _bitstream)
    patch.setattr(Build, "verilog", property(lambda made: f"// {made.options.defines}\n" * 500))
    patch.setattr(overlay, "overlay_files", _overlay_files)
    patch.setattr(catalogue, "files", _example)


def call(words: tuple[str, ...]) -> int:
    """Run a command in this process."""
    return main([*words, "-q"] if words[0] not in ("examples", "preprocess", "tblgen") else words)
