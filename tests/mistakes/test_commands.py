"""Mistakes of the commands that have no table of their own: options, outputs and words that do not fit together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tabla.commands.cli import main
from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import mistake, usage

GEN = {
    "no program": usage("gen", "FILE"),
    "no such file": mistake("gen no.t", "cannot read 'no.t'", "check the path"),
    "an option with a slip": usage("gen model.t --pess 4", "unrecognized arguments: --pess 4; did you mean --pes?"),
    "a program as output": mistake("gen model.t -o model.t", "'model.t' is not a folder", "-o"),
    "the current folder as output": mistake("gen model.t -o .", "is the current folder, or above it"),
    "a folder of other files": mistake("gen model.t -o mine", "is not empty", **{"mine_t": "x"}),
    "JSON over the program": mistake("gen model.t --json model.t", "the command reads this file", "another file"),
    "JSON of a stage": mistake("gen model.t --emit graph --json g.json", "--json has no meaning with --emit"),
    "costs of a stage": mistake("gen model.t --emit ast --costs", "--costs has no meaning with --emit"),
    "an unknown stage": usage("gen model.t --emit verilog", "invalid choice: 'verilog'", "tabla gen --help"),
    "two values of a constant": usage("gen model.t -D m=4 -D m=5", "-D: 'm' is given twice"),
    "two rates": mistake("gen model.t -D mu=0.5 --learning-rate 0.25", "the learning rate is given twice"),
    "two sizes": usage("gen kernel.tc --size N=4 --size N=5", "--size: 'N' is given twice"),
    "two shapes": usage("gen layer.py:double --shape I=4 --shape I=5", "--shape: 'I' is given twice"),
    "a PU that does not divide": mistake("gen model.t --pes-per-pu 5", "5 PEs per PU do not divide 16 PEs"),
    "three words per beat": mistake("gen model.t --stream-words 3", "use a power of two up to 128"),
    "a memory without words": usage("gen model.t --model-words 0", "--model-words: 0 is less than 1"),
    "an unknown objective": usage("gen model.t --objective area", "invalid choice: 'area'"),
    "too much effort": usage("gen model.t --effort 4", "--effort: 4 is more than 3"),
    "data without a choice": mistake("gen model.t --data data.npz", "add --format auto"),
    "a choice without data": mistake("gen model.t --format auto", "there is none here"),
    "a rate that rounds to zero": mistake("gen model.t --learning-rate 1e-9", "every update rounds to zero"),
    "too many guard bits": mistake("gen model.t --model-guard 99", "use --model-guard 11"),
    "a result that is not there": mistake("gen model.t --result p", "there is no 'p'", "there are g, h"),
    "a width without a bus": mistake("gen model.t --bus-width 32", "add --bus axi"),
    "an unknown bus": usage("gen model.t --bus pci", "invalid choice: 'pci'"),
    "inputs that are not there": mistake("gen model.t --inputs no.npz", "cannot read 'no.npz'"),
    "a kernel larger than any part": mistake("gen kernel.tc --size N=100000000", "the largest array holds"),
}
BOUND = {
    "no program": usage("bound", "FILE"),
    "two programs": usage("bound model.t kernel.tc", "unrecognized arguments: kernel.tc", "tabla bound --help"),
    "no such file": mistake("bound no.t", "cannot read 'no.t'"),
    "data": mistake("bound data.npz", "'data.npz' is not a program"),
    "a size that is missing": mistake("bound kernel.tc", "the size 'N' has no value", "--size N="),
    "two sizes": usage("bound kernel.tc --size N=4 --size N=5", "'N' is given twice"),
    "a size beside inputs": mistake("bound kernel.tc --inputs k.npz --size N=9", "'N' is 9 (given by name) and 4"),
    "inputs that are not there": mistake("bound model.t --inputs no.npz", "cannot read 'no.npz'"),
    "inputs of another program": mistake("bound kernel.tc --inputs data.npz", "'dot' has no input 'x'"),
    "a value for a tensor": mistake("bound layer.py:double --arg I=4", "returns a int", "return a tensor"),
    "PEs with an exponent": usage(
        "bound model.t --pes 1e3", "'1e3' is not a whole number", "hint: use 1 or more\nhint: tabla bound --help"
    ),
    "too many PEs": mistake("bound model.t --pes 200", "ask for 1 to 128"),
    "a stage": usage("bound model.t --emit graph", "unrecognized arguments: --emit graph"),
    "an output folder": usage("bound model.t -o out", "unrecognized arguments: -o out"),
    "a format from data": mistake("bound model.t --format auto", "there is none here"),
    "JSON over the program": mistake("bound model.t --json model.t", "the command reads this file"),
    "JSON over the kernel": mistake("bound kernel.tc:dot --size N=4 --json kernel.tc", "the command reads this file"),
}
EVALUATE = "eval model.t --inputs in.npz"
EVAL = {
    "no output": usage(EVALUATE, "-o"),
    "an output without a suffix": mistake(f"{EVALUATE} -o out", "ends in .npz"),
    "the inputs as output": mistake(f"{EVALUATE} -o in.npz", "the command reads this file"),
    "an output in no folder": mistake(f"{EVALUATE} -o no/out.npz", "there is no folder 'no'"),
    "an engine": usage(f"{EVALUATE} -o out.npz --engine model", "unrecognized arguments: --engine model"),
    "standard input": mistake("eval model.t --inputs - -o out.npz", "'-' is neither .npz nor .csv"),
    "a size beside inputs": mistake("eval kernel.tc --inputs k.npz --size N=5 -o out.npz", "'N' is 5 (given by name)"),
    "weights of a kernel": mistake(
        "eval kernel.tc --inputs k.npz --weights weights.npz -o out.npz", "holds 'w'", "leave it out"
    ),
    "an unknown input to keep": mistake("eval kernel.tc --inputs k.npz --keep Q -o out.npz", "no such input"),
    "no size of the kernel": mistake("eval kernel.tc --inputs a.npz -o out.npz", "'B[4]' is missing in the data"),
    "minibatches of a kernel": mistake(
        "eval kernel.tc --inputs k.npz --minibatch 2 -o out.npz", "1 samples do not fill"
    ),
    "no such weights": mistake(f"{EVALUATE} --weights no.npz -o out.npz", "cannot read 'no.npz'"),
}
SIMULATE = "sim model.t --inputs in.npz"
SIM = {
    "an unknown engine": usage(f"{SIMULATE} --engine steam", "unknown engine 'steam'", "verilator"),
    "another case": usage(f"{SIMULATE} --engine Model", "unknown engine 'Model'"),
    "a board without a line": usage(f"{SIMULATE} --engine serial:", "does not name a serial line"),
    "a rate of letters": usage(f"{SIMULATE} --engine serial:/dev/null@fast", "does not name a serial line"),
    "the inputs as output": mistake(f"{SIMULATE} -o in.npz", "the command reads this file"),
    "one file twice": mistake(f"{SIMULATE} -o out.npz --json out.npz", "--json and -o both name 'out.npz'"),
    "the inputs as JSON": mistake(f"{SIMULATE} --json in.npz", "the command reads this file"),
    "inputs of two sizes": mistake("sim kernel.tc --inputs short.npz", "'N' is 3 (dimension 0 of 'A') and 4"),
    "an input too many": mistake("sim layer.py:double --inputs k.npz", "'double' has no parameter 'A'"),
    "another shape": mistake("sim layer.py:double --inputs i.npz --shape I=5", "declares 'I[5]'"),
    "numbers that do not fit": mistake("sim kernel.tc --inputs big.npz", "outside the range of q6.10", "q11.10"),
    "minibatches of a kernel": mistake("sim kernel.tc --inputs k.npz --minibatch 2", "1 samples do not fill"),
}
ECP5 = "synth model.t --target ecp5"
SYNTH = {
    "no program": usage("synth --target ecp5", "FILE|DIR"),
    "no target": usage("synth model.t", "--target"),
    "no such file": mistake("synth no.t --target ecp5", "cannot read 'no.t'"),
    "data": mistake("synth data.npz --target ecp5", "'data.npz' is not a program"),
    "Verilog": mistake("synth build/model.v --target ecp5", "'build/model.v' is not a program"),
    "no such folder": mistake("synth nothing --target ecp5", "there is no folder 'nothing'", "tabla gen"),
    "an empty folder": mistake("synth empty --target ecp5", "there is no manifest in 'empty'"),
    "a manifest of another tool": mistake("synth other --target ecp5", "there is no manifest in 'other'"),
    "a manifest without Verilog": mistake("synth lost --target ecp5", "cannot read 'lost/model.v'", "again"),
    "half a manifest": mistake("synth build --target ecp5", "the manifest in 'build' is damaged", "again"),
    "options of a folder": mistake("synth build --target ecp5 --pes 4", "have no effect"),
    "an unknown target": mistake("synth model.t --target stratix", "no target 'stratix'", "ecp5, nexus"),
    "another case": mistake("synth model.t --target ECP5", "no target 'ECP5'", "ecp5"),
    "an unknown device": mistake(f"{ECP5} --device 99k", "no device '99k'", "25k, 45k, 85k"),
    "an unknown speed grade": mistake(f"{ECP5} --speed 9", "no speed grade 9", "6, 7, 8"),
    "a speed grade of letters": usage(f"{ECP5} --speed fast", "'fast' is not a whole number"),
    "no seeds": usage(f"{ECP5} --pnr --seeds 0", "--seeds: 0 is less than 1"),
    "a family without place and route": mistake("synth model.t --target xilinx --pnr", "cannot be placed and routed"),
    "JSON over the program": mistake(f"{ECP5} --json model.t", "the command reads this file"),
    "JSON to a missing folder": mistake(f"{ECP5} --json no/out.json", "there is no folder 'no'"),
}
BOARD = "build model.t --board ulx3s-85f"
BUILD = {
    "no program": usage("build --board ulx3s-85f", "FILE"),
    "no board": usage("build model.t", "--board"),
    "no such file": mistake("build no.t --board ulx3s-85f", "cannot read 'no.t'"),
    "a folder of gen": mistake("build build --board ulx3s-85f", "'build' is not a program"),
    "half a name": mistake("build model.t --board ulx3s", "there is no board 'ulx3s'", "ulx3s-85f"),
    "an unknown board": mistake("build model.t --board de10", "there is no board 'de10'", "icebreaker"),
    "a clock of letters": usage(
        f"{BOARD} --clock fast", "'fast' is not a number of MHz", "hint: write a number such as 25"
    ),
    "a clock of nothing": usage(f"{BOARD} --clock 0", "0 MHz is no possible clock rate", "hint: use more than 0 and"),
    "a clock without end": usage(f"{BOARD} --clock inf", "inf MHz is no possible clock rate"),
    "a line that stands": usage(f"{BOARD} --baud 0", "--baud: 0 is less than 1"),
    "a target": usage(f"{BOARD} --target ecp5", "unrecognized arguments: --target ecp5"),
    "a program as output": mistake(f"{BOARD} -o model.t", "'model.t' is not a folder"),
    "a folder of other files": mistake(f"{BOARD} -o mine", "is not empty", mine_t="x"),
    "JSON over the program": mistake(f"{BOARD} --json model.t", "the command reads this file"),
    "a kernel without its size": mistake("build kernel.tc --board ulx3s-85f", "the size 'N' has no value"),
    "records that are not there": mistake(f"{BOARD} --templates no.td", "cannot read 'no.td'"),
}
DOCTOR = {
    "a program": usage("doctor model.t", "unrecognized arguments: model.t", "tabla doctor --help"),
    "a tool": usage("doctor yosys", "unrecognized arguments: yosys"),
    "a repair": usage("doctor --fix", "unrecognized arguments: --fix"),
    "silence": usage("doctor -q", "unrecognized arguments: -q"),
    "templates": usage("doctor --templates mine.td", "unrecognized arguments"),
    "JSON without a file": usage("doctor --json", "--json: expected one argument"),
    "JSON to a missing folder": mistake("doctor --json no/out.json", "there is no folder 'no'", "make it first"),
    "JSON into a folder": mistake("doctor --json .", "'.' is a folder", "name a file"),
    "JSON below a file": mistake("doctor --json model.t/out.json", "there is no folder 'model.t'"),
    "JSON into another world": mistake(
        "doctor --json /proc/out.json", "cannot write into '/proc'", "name a file in another folder"
    ),
    "an option with a slip": usage("doctor --jsn out.json", "did you mean --json?"),
}
EXAMPLES = {
    "an unknown example": mistake("examples mnist", "there is no example 'mnist'", "linear, logistic"),
    "another case": mistake("examples LOGISTIC", "there is no example 'LOGISTIC'", "logistic"),
    "a file": mistake("examples logistic.t", "there is no example 'logistic.t'", "logistic"),
    "a path": mistake("examples ../logistic", "there is no example '../logistic'"),
    "one that is not there": mistake("examples logistic mnist -o out", "there is no example 'mnist'"),
    "a folder without a name": mistake("examples -o out", "no example is named"),
    "a list": usage("examples --list", "unrecognized arguments: --list"),
    "JSON": usage("examples --json out.json", "unrecognized arguments"),
    "a program as output": mistake("examples logistic -o model.t", "'model.t' is not a folder"),
    "a program that was changed": mistake("examples logistic", "is there already, and differs", logistic_t="m = 3;"),
    "a changed program among others": mistake("examples all", "'linear.t' is there already", linear_t=""),
    "a folder in its place": mistake("examples svm", "'svm.t' is a folder"),
}
LISTS = {
    f"{command}: {name}": wrong
    for command in ("templates", "targets", "boards")
    for name, wrong in {
        "a program": usage(f"{command} model.t", "unrecognized arguments: model.t", f"tabla {command} --help"),
        "a name": usage(f"{command} Pe16", "unrecognized arguments: Pe16"),
        "an option with a slip": usage(f"{command} --template mine.td", "did you mean --templates?"),
        "records without a file": usage(f"{command} --templates", "--templates: expected one argument"),
        "no such records": mistake(f"{command} --templates no.td", "cannot read 'no.td'", "check the path"),
        "a folder of records": mistake(f"{command} --templates .", "cannot read '.': it is a folder"),
        "a program as records": mistake(f"{command} --templates model.t", " --> model.t:1:1"),
        "data as records": mistake(f"{command} --templates data.npz", "'data.npz' is not UTF-8 text"),
        "half a record": mistake(f"{command} --templates r.td", " --> r.td:1:", r_td="def A {"),
        "a record without its fields": mistake(
            f"{command} --templates r.td", " --> r.td:2:", r_td='include "machine.td"\ndef Odd : Board;\n'
        ),
        "JSON over records": mistake(f"{command} --templates mine.td --json mine.td", "the command reads this file"),
        "JSON to a missing folder": mistake(f"{command} --json no/out.json", "there is no folder 'no'"),
        "JSON into a folder": mistake(f"{command} --json .", "'.' is a folder"),
    }.items()
}
TEXTS = {
    "an expansion over its text": mistake("preprocess model.t -o model.t", "the command reads this file"),
    "records over their text": mistake("tblgen mine.td -o mine.td", "the command reads this file"),
    "two values of a variable": usage("preprocess model.t -D n=3 -D n=4", "-D: 'n' is given twice"),
    "models over the data": mistake("train model.t --data data.npz -o data.npz", "the command reads this file"),
    "JSON over the test part": mistake(
        "train model.t --data data.npz --test data.csv --json data.csv", "the command reads this file"
    ),
    "JSON over the weights": mistake(
        "test model.t --data data.npz --weights weights.npz --json weights.npz", "the command reads this file"
    ),
}
MISTAKES = {
    f"{command}: {name}": wrong
    for command, table in (
        ("gen", GEN),
        ("bound", BOUND),
        ("eval", EVAL),
        ("sim", SIM),
        ("synth", SYNTH),
        ("build", BUILD),
        ("doctor", DOCTOR),
        ("examples", EXAMPLES),
        ("texts", TEXTS),
    )
    for name, wrong in table.items()
} | LISTS


@pytest.fixture
def more(folder: Path) -> None:
    """Write inputs of a kernel, and folders: of other files, of an example, and four that look as if gen wrote them."""
    np.savez("k.npz", A=np.ones(4), B=np.ones(4))
    np.savez("short.npz", A=np.ones(3), B=np.ones(4))
    np.savez("a.npz", A=np.ones(4))
    np.savez("i.npz", I=np.ones(4))
    np.savez("big.npz", A=np.full(4, 1000.0), B=np.ones(4))
    manifest = json.dumps({"schema": "tabla-manifest-1", "module": "model"})
    for name, text in (("build", manifest), ("lost", manifest), ("other", '{"schema": "npm"}')):
        (folder / name).mkdir()
        (folder / name / "model.json").write_text(text)
    (folder / "build" / "model.v").write_text("module model(); endmodule\n")
    for name in ("empty", "svm.t", "mine"):
        (folder / name).mkdir()
    (folder / "mine" / "notes.txt").write_text("not to be lost")


@pytest.mark.parametrize("name", MISTAKES)
def test_commands(more: None, refused: Refused, name: str) -> None:
    refused(MISTAKES[name])


def test_what_has_no_effect_is_remarked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Options that would be passed over without a word, where the result is nevertheless what the user asked for."""
    for words, remark in (
        ("check model.t --pes 4 --inputs in.npz", "note: --inputs has no effect: it gives sizes to kernels"),
        ("gen model.t --emit ast -o out", "note: --emit prints to standard output, so nothing is written to 'out'"),
        ("synth model.t --target xilinx --device none --seeds 2", "note: --seeds has no effect without --pnr"),
    ):
        main(words.split())
        assert capsys.readouterr().err.startswith(remark)
    assert not (folder / "out").exists()


def test_the_same_value_twice_is_no_mistake(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main("check kernel.tc --pes 4 --size N=4 --size N=4 -q".split()) == 0
    assert main("check model.t --pes 4 -D mu=0.5 --learning-rate 0.5 -q".split()) == 0


def test_training_goes_on_with_its_own_models(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "train model.t --pes 4 --engine model --epochs 1 -q --data data.npz --weights weights.npz -o weights.npz"
    assert main(words.split()) == 0
    with np.load("weights.npz") as models:
        assert models["w"].any()


def test_examples_are_written_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = ["out/recommender.t", "out/ratings.npz", "out/ratings_test.npz"]
    for _ in range(2):
        assert main("examples recommender recommender -o out".split()) == 0
        assert capsys.readouterr().out.split() == written
    for name in written:
        assert Path(name).is_file()
    (folder / "out" / "ratings_test.npz").write_bytes(b"mine")
    (folder / "out" / "recommender.t").unlink()
    assert main("examples recommender -o out".split()) == 1
    assert "'out/ratings_test.npz' is there already" in capsys.readouterr().err
    assert (folder / "out" / "ratings_test.npz").read_bytes() == b"mine"
    assert not (folder / "out" / "recommender.t").exists()


DIVISION = "model_input x[4];\nmodel_input y;\niterator i[0:4];\nh = sum[i](x[i]) / (y - y);\n"


def test_float64_says_which_results_are_no_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "d.t").write_text(DIVISION)
    words = "eval d.t --inputs data.npz --float --result h -o out.npz".split()
    assert main(words) == 0
    assert "warning: float64 gave results that are not finite (h: 20 of 20)" in capsys.readouterr().err
    assert main([*words, "--strict"]) == 1
    assert "error: --strict: float64 gave results that are not finite" in capsys.readouterr().err


def test_overflows_and_domain_errors_are_told_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "d.t").write_text(DIVISION)
    assert main("eval d.t --inputs data.npz --result h -o out.npz -q".split()) == 0
    assert capsys.readouterr().out.split("\n")[:2] == [
        "overflows               0",
        "domain errors           20 (h: 20)",
    ]
