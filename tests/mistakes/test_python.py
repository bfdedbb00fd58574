"""Mistakes of Python callers: each is a `TablaError`, and a TypeError or a ValueError where Python has those."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import tabla
from tabla.base.options import options_of
from tabla.build.stages import Stages
from tabla.commands.cli import main
from tabla.driver import Build
from tabla.learn.options import RECORDS
from tests.logistic_program import LOGISTIC

X = np.random.default_rng(1).uniform(-1, 1, (20, 4))
Y = (X[:, 0] > 0).astype(float)
DATA = {"x": X, "y": Y}
Wrong = tuple[Mapping[str, Any], type[Exception], str]

COMPILE: dict[str, Wrong] = {
    "half a PE": ({"pes": 17.5}, TypeError, "pes: 17.5 is not a whole number"),
    "PEs as text": ({"pes": "16"}, TypeError, "pes: '16' is not a whole number\nhint: write 16"),
    "PEs as truth": ({"pes": True}, TypeError, "pes: True is not a whole number"),
    "no PEs": ({"pes": 0}, ValueError, "pes: 0 is less than 1"),
    "too many PEs": ({"pes": 129}, ValueError, "129 PEs are not supported\nhint: ask for 1 to 128"),
    "no divisor": ({"pes": 16, "pes_per_pu": 3}, ValueError, "3 PEs per PU do not divide 16 PEs"),
    "three words a beat": ({"stream_words": 3}, ValueError, "use a power of two up to 128"),
    "a deep memory": ({"data_words": 10**9}, ValueError, "1000000000 is not a memory depth"),
    "a format as number": ({"format": 6.10}, TypeError, "format: 6.1 is not a text\nhint: write format='q6.10'"),
    "a format of another world": ({"format": "fp16"}, ValueError, "'fp16' is not a number format"),
    "a rate without end": ({"learning_rate": float("inf")}, ValueError, "learning_rate: inf is not a finite number"),
    "a rate that is none": ({"learning_rate": "nan"}, ValueError, "learning_rate: 'nan' is not a number"),
    "several rates": ({"learning_rate": [0.1]}, TypeError, "learning_rate: [0.1] is not a number"),
    "a definition of nothing": ({"defines": {"m": None}}, TypeError, "defines['m']: None is not a number"),
    "definitions as text": ({"defines": "m=4"}, TypeError, "defines: 'm=4' does not map names to values"),
    "an empty minibatch": ({"minibatch": 0}, ValueError, "minibatch: 0 is less than 1"),
    "results as text": ({"results": "h"}, TypeError, "write results=('h',)"),
    "results that are no names": ({"results": [5]}, TypeError, "results: [5] are not names"),
    "an unknown template": ({"template": "Huge"}, ValueError, "unknown template 'Huge'"),
    "templates that nothing uses": ({"templates": "mine.td"}, tabla.TablaError, "--template NAME"),
    "an unknown objective": ({"objective": "area"}, ValueError, "use throughput or latency"),
    "an objective that is no text": ({"objective": 5}, TypeError, "write objective='latency'"),
    "too much effort": ({"effort": 4}, ValueError, "effort: 4 is more than 3\nhint: use 0 to 3"),
    "passes that are none": ({"passes": [len]}, TypeError, "passes: these are not passes"),
    "a scheduler that is none": ({"scheduler": 5}, TypeError, "scheduler: this is not a function"),
    "an option with a slip": ({"pess": 4}, TypeError, "pess"),
    "a format from no data": ({"format": "auto"}, ValueError, "tabla.compile(..., format='auto', data=...)"),
    "words of no width": ({"format": "auto7", "data": DATA}, ValueError, "there are no words of 7 bits"),
    "data for nothing": ({"data": DATA}, ValueError, "--data has a meaning only where data choose the format"),
    "a seed for nothing": ({"seed": 0}, ValueError, "--seed has a meaning only where data choose"),
    "a split of nothing": ({"format": "auto", "split": 0.2}, ValueError, "hint: add --data FILE, in Python data=..."),
    "data of another shape": ({"format": "auto", "data": {"x": X}}, tabla.TablaError, "'y' is missing in the data"),
    "half an epoch": ({"format": "auto", "data": DATA, "epochs": 1.5}, TypeError, "epochs: 1.5 is not a whole"),
    "a text as truth": ({"runtime_rate": "no"}, TypeError, "runtime_rate: 'no' is not a truth value\nhint: use True"),
    "a number as truth": ({"force": 1}, TypeError, "force: 1 is not a truth value"),
}
TRAIN: dict[str, Wrong] = {
    "half an epoch": ({"epochs": 1.5}, TypeError, "epochs: 1.5 is not a whole number"),
    "no epoch": ({"epochs": 0}, ValueError, "epochs: 0 is less than 1"),
    "less than no epoch": ({"epochs": -1}, ValueError, "epochs: -1 is less than 1"),
    "a negative seed": ({"seed": -1}, ValueError, "seed: -1 is less than 0"),
    "no samples": ({"samples": 0}, ValueError, "samples: 0 is less than 1"),
    "less than no samples": ({"samples": -1}, ValueError, "samples: -1 is less than 1"),
    "no patience": ({"split": (0.2, 0.2), "patience": 0}, ValueError, "patience: 0 is less than 1"),
    "half a patience": ({"split": (0.2, 0.2), "patience": 1.5}, TypeError, "patience: 1.5 is not a whole number"),
    "a negative seed of the split": ({"split": 0.2, "split_seed": -1}, ValueError, "split_seed: -1 is less than 0"),
    "a share of everything": ({"split": 1.0}, ValueError, "leaves no training part"),
    "a share that is none": ({"split": object}, ValueError, "is not one or two numbers"),
    "test data of one number": ({"test": 5}, TypeError, "test: 5"),
    "an engine as number": ({"engine": 5}, TypeError, "engine: 5 is not a name"),
    "an unknown engine": ({"engine": "steam"}, ValueError, "unknown engine 'steam'"),
    "an unknown metric": ({"metric": "roc"}, tabla.TablaError, "unknown metric 'roc'"),
    "an unknown prediction": ({"predict": "q"}, tabla.TablaError, "the program computes no such value"),
    "weights of another program": ({"weights": {"w": np.zeros(4), "v": np.zeros(3)}}, tabla.TablaError, "holds 'v'"),
    "weights of another shape": ({"weights": {"w": np.zeros(3)}}, tabla.TablaError, "model 'w' has shape (3,)"),
    "weights without names": ({"weights": np.zeros(4)}, TypeError, "weights: array([0., 0., 0., 0.]) does not map"),
    "a report that is none": ({"report": 5}, TypeError, "report: this is not a function"),
    "data of one number": ({"data": 5}, TypeError, "data"),
    "data without a name": ({"data": X}, TypeError, "data"),
    "no data": ({"data": None}, TypeError, "data"),
    "data with a strange name": ({"data": {1: X, "y": Y}}, TypeError, "1 is not a name"),
    "data of letters": ({"data": {"x": X, "y": ["a"] * 20}}, tabla.TablaError, "'y' holds <U1, not real numbers"),
    "a missing file": ({"data": "no.npz"}, tabla.TablaError, "cannot read 'no.npz'"),
    "a text as truth": ({"standardise": "no"}, TypeError, "standardise: 'no' is not a truth value"),
    "nothing as truth": ({"standardise_labels": None}, TypeError, "standardise_labels: None is not a truth value"),
    "columns of arrays": ({"columns": {"x": "a"}}, tabla.TablaError, "data: arrays have no columns"),
    "a remark that is none": ({"remark": 5}, TypeError, "remark: this is not a function"),
    "a scheduler as number": ({"devices": 2, "scheduler": 5}, TypeError, "scheduler: 5 is not a text"),
}
OTHERS: dict[str, tuple[Callable[[Build], object], type[Exception], str]] = {
    "inputs without names": (lambda b: b.evaluate([X]), TypeError, "inputs"),  # type: ignore[arg-type]
    "no inputs": (lambda b: b.simulate(None), TypeError, "inputs: None does not map"),  # type: ignore[arg-type]
    "a seed of letters": (lambda b: b.simulate(DATA, seed="a"), TypeError, "seed: 'a'"),  # type: ignore[arg-type]
    "no samples": (lambda b: b.evaluate(DATA, samples=0, seed=0), ValueError, "samples: 0 is less than 1"),
    "less samples than none": (lambda b: b.simulate(DATA, samples=-1, seed=0), ValueError, "samples: -1"),
    "no engine": (lambda b: b.simulate(DATA, engine="", seed=0), ValueError, "unknown engine ''"),
    "weights as number": (lambda b: b.test(DATA, weights=5), TypeError, "weights: 5"),  # type: ignore[arg-type]
    "no samples to score": (lambda b: b.test(DATA, weights={"w": np.zeros(4)}, samples=0), ValueError, "samples: 0"),
    "too many arrays": (lambda b: b(1, 2, 3, 4), tabla.TablaError, "'model' takes 3 arrays, but 4 are given"),
    "an array twice": (lambda b: b(X, x=X), tabla.TablaError, "'x' is given twice"),
    "an unknown stage": (lambda b: b.emit("smoke"), ValueError, "there is no stage 'smoke'"),
    "a folder as number": (lambda b: b.write(5), TypeError, "folder: 5 is not the path"),  # type: ignore[arg-type]
    "a folder with a zero byte": (lambda b: b.write("a\0b"), ValueError, "folder: 'a\\x00b' cannot name a file"),
    "a folder with a long name": (lambda b: b.write("x" * 300), tabla.TablaError, "cannot write into 'xxx"),
    "float64 as text": (lambda b: b.evaluate(DATA, seed=0, float64="no"), TypeError, "float64: 'no' is not a truth"),
    "a pickle": (pickle.dumps, TypeError, "a build cannot be pickled\nhint: pickle the program and its options"),
    "this folder": (lambda b: b.write("."), tabla.TablaError, "'.' is the current folder"),
    "an unknown family": (lambda b: b.synthesise("vax"), tabla.TablaError, "there is no target 'vax'"),
    "a device as number": (lambda b: b.synthesise("ecp5", device=85), TypeError, "device: 85 is not a text"),
    "no seeds": (lambda b: b.synthesise("ecp5", seeds=0), ValueError, "seeds: 0 is less than 1"),
    "an unknown board": (lambda b: b.bitstream("nexys"), tabla.TablaError, "there is no board 'nexys'"),
}
SAME: dict[str, tuple[str, Mapping[str, Any]]] = {
    "check model.t --pes 0": ("pes", {"pes": 0}),
    "check model.t --effort 4": ("effort", {"effort": 4}),
    "check model.t --minibatch 0": ("minibatch", {"minibatch": 0}),
    "check model.t --stream-words 0": ("stream_words", {"stream_words": 0}),
    "check model.t --learning-rate nan": ("learning_rate", {"learning_rate": "nan"}),
}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    path = tmp_path_factory.mktemp("python") / "model.t"
    path.write_text(LOGISTIC)
    return tabla.compile(path, pes=4)


def refuse(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    """Check that a call raises an error of `kind` that says `message`, and leaves no file behind."""
    before = sorted(Path.cwd().rglob("*"))
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)
    # Python itself refuses a parameter that a function does not have.
    assert isinstance(caught.value, tabla.TablaError) or "unexpected keyword argument" in str(caught.value)
    assert sorted(Path.cwd().rglob("*")) == before


@pytest.mark.parametrize("name", COMPILE)
def test_compile(folder: Path, name: str) -> None:
    options, kind, message = COMPILE[name]
    refuse(lambda: tabla.compile("model.t", **options), kind, message)


@pytest.mark.parametrize("name", TRAIN)
def test_train(folder: Path, build: Build, name: str) -> None:
    options, kind, message = TRAIN[name]
    refuse(lambda: build.train(**{"data": DATA, "engine": "model", **options}), kind, message)


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions(folder: Path, build: Build, name: str) -> None:
    call, kind, message = OTHERS[name]
    refuse(lambda: call(build), kind, message)


@pytest.mark.parametrize("engine", ["cxxrtl", "verilator", "icarus"])
def test_an_engine_that_is_not_installed_is_named_before_any_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setenv("PATH", "")
    fresh = tabla.compile("model.t", pes=2)
    monkeypatch.setattr(Stages, "lowered", property(lambda _: pytest.fail("the program was lowered")))
    for call in (fresh.train, fresh.simulate, partial(fresh.test, weights={"w": np.zeros(4)})):
        refuse(partial(call, DATA, engine=engine), tabla.TablaError, f"engine '{engine}' needs ")


def test_a_folder_that_cannot_be_written_is_named_before_any_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = tabla.compile("model.t", pes=2)
    monkeypatch.setattr(Stages, "schedule", property(lambda _: pytest.fail("a schedule was made")))
    refuse(lambda: fresh.write("model.t"), tabla.TablaError, "'model.t' is not a folder")


def test_explorations(folder: Path) -> None:
    wrong: Any = {"synth": "no"}
    refuse(lambda: tabla.explore("model.t", **wrong), TypeError, "synth: 'no' is not a truth value")
    wrong = {"remark": 5}
    refuse(lambda: tabla.formats("model.t", DATA, **wrong), TypeError, "remark: this is not a function")


def test_models_from_elsewhere(folder: Path) -> None:
    class Strange:
        graph = 5

    strange: Any = Strange()
    refuse(lambda: tabla.from_onnx(strange), TypeError, "a value of type Strange is no model of ONNX")
    refuse(lambda: tabla.from_onnx("m.onnx", name=5), TypeError, "name: 5 is not a text")  # type: ignore[arg-type]
    model = LogisticRegression().fit(X, Y)
    del model.classes_
    refuse(lambda: tabla.from_sklearn(model), tabla.TablaError, "the LogisticRegression has no attribute classes_")


def test_programs(folder: Path) -> None:
    refuse(lambda: tabla.compile(5), tabla.TablaError, "'5' is not a program")  # type: ignore[arg-type]
    refuse(lambda: tabla.compile(int, shapes={"A": 4}), tabla.TablaError, "'int' is not a function")
    sizes: Any = {"N": "4"}
    refuse(lambda: tabla.compile("kernel.tc", sizes=sizes), TypeError, "sizes['N']: '4' is not a whole number")
    refuse(lambda: tabla.compile("kernel.tc", sizes={"N": 0}), ValueError, "sizes['N']: 0 is less than 1")
    refuse(lambda: tabla.compile("kernel.tc", sizes={"N": 4}, keep="A"), TypeError, "write keep=('A',)")
    refuse(lambda: tabla.compile("kernel.tc", inputs=5), TypeError, "inputs: 5")  # type: ignore[arg-type]
    shapes: Any = {"I": (4.5,)}
    refuse(lambda: tabla.compile("layer.py:double", shapes=shapes), TypeError, "shapes['I']: 4.5 is not a whole number")


@pytest.mark.parametrize("command", SAME)
def test_the_command_line_says_the_same_words(folder: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    name, options = SAME[command]
    assert main(command.split()) == 2
    said = capsys.readouterr().err.splitlines()[0]
    with pytest.raises(tabla.TablaError) as caught:
        tabla.compile("model.t", **options)
    option = f"error: argument --{name.replace('_', '-')}: "
    assert said.startswith(option)
    assert str(caught.value).splitlines()[0] == f"error: {name}: {said.removeprefix(option)}"


def test_numbers_of_numpy_are_numbers(folder: Path) -> None:
    rate = np.float32(0.5)
    made = tabla.compile("model.t", pes=np.int64(4), learning_rate=rate, minibatch=np.uint8(2))  # type: ignore[arg-type]
    assert (type(made.options.pes), made.options.learning_rate, made.options.minibatch) == (int, "0.5", 2)
    made.write("out")
    assert (folder / "out" / "model.json").is_file()


@pytest.mark.parametrize("function", [tabla.compile, Build.train, Build.test, Build.evaluate, Build.simulate])
def test_the_signatures_name_every_option(function: Callable[..., Any]) -> None:
    """Help shows real parameters: every option of the function with its default, and what it means."""
    parameters = dict(inspect.signature(function).parameters)
    assert not any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    for record in RECORDS:
        known = options_of(record)
        for each in fields(record):
            if each.name in known and function.__name__ in known[each.name].functions:
                default = each.default_factory() if each.default is MISSING else each.default  # type: ignore[misc]
                assert parameters[each.name].default == default
                assert f"`{each.name}`: " in (function.__doc__ or "")


def test_help_shows_what_there_is() -> None:
    # Python 3.13 puts each parameter of a long signature on a line of its own.
    said = re.sub(r"\(\s+", "(", pydoc.plain(pydoc.render_doc(tabla)))
    for name in (
        "compile(source",
        "class Build",
        "class TablaError",
        "pes: 'int | None' = None",
        "epochs: 'int | None' = None",
    ):
        assert name in said
