"""The command line: which output gets which text, the exit status, and that no file is written in part."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tabla._version import VERSION
from tabla.build.options import Options
from tabla.commands.cli import COMMANDS, main
from tests.logistic_program import LOGISTIC

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Said:
    """The exit status of a command and its two outputs."""

    status: int
    out: str
    err: str


Tabla = Callable[..., Said]


@pytest.fixture
def tabla(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tabla:
    """Return a function that runs a command in a folder of its own, with the program ``model.t`` and its data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.t").write_text(LOGISTIC)
    (tmp_path / "wide.t").write_text(LOGISTIC.replace("m = 4", "m = 400"))
    chance = np.random.default_rng(1)
    x = chance.uniform(-1, 1, (20, 4))
    np.savez(tmp_path / "data.npz", x=x, y=(x[:, 0] > 0).astype(float))
    np.savez(tmp_path / "in.npz", x=x, y=(x[:, 0] > 0).astype(float), w=np.zeros(4))

    def run(*words: str) -> Said:
        status = main(words)
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return run


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_version(tabla: Tabla) -> None:
    assert tabla("--version") == Said(0, f"tabla {VERSION}\n", "")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_of_every_command(tabla: Tabla, command: str) -> None:
    said = tabla(command, "--help")
    assert said.status == 0
    assert said.out.startswith(f"usage: tabla {command}")


def test_tabla_alone_says_where_to_begin(tabla: Tabla) -> None:
    said = tabla()
    assert (said.status, said.err) == (0, "")
    commands = re.findall(r"^  tabla (\w+)", said.out, re.MULTILINE)
    assert commands == ["new", "examples", "check", "train", "predict", "gen", "synth"]
    assert all(len(line) <= 80 for line in said.out.splitlines())


def test_help_and_the_version_in_other_words(tabla: Tabla) -> None:
    assert tabla("help", "gen") == tabla("gen", "--help")
    assert tabla("help") == tabla("--help")
    assert tabla("-V") == tabla("--version")


@pytest.mark.parametrize(
    ("word", "meant"), [("trian", "; did you mean train?"), ("synthesize", "; did you mean synth"), ("x", "")]
)
def test_a_command_with_a_slip(tabla: Tabla, word: str, meant: str) -> None:
    said = tabla(word)
    assert said.status == 2 and said.err.startswith(f"error: there is no command '{word}'{meant}")


def test_help_names_every_command(tabla: Tabla) -> None:
    said = tabla("--help")
    assert set(re.findall(r"^    (\w+)", said.out, re.MULTILINE)) == set(COMMANDS)


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("help", "nonsense"),
        ("gen",),
        ("gen", "model.t", "--nonsense"),
        ("gen", "model.t", "--pes", "many"),
        ("gen", "model.t", "--pes", "0"),
        ("gen", "model.t", "-D", "m"),
        ("gen", "model.t", "-D", "=3"),
        ("gen", "model.t", "--emit", "smoke"),
        ("gen", "model.t", "--form", "q6.10"),
        ("eval", "model.t", "-o", "x.npz"),
        ("train", "model.t"),
        ("train", "model.t", "--data", "data.npz", "--epochs", "0"),
        ("train", "model.t", "--data", "data.npz", "--engine", "steam"),
        ("train", "model.t", "--data", "data.npz", "--seed", "1", "--weights", "in.npz"),
        ("tblgen",),
    ],
)
def test_usage_is_status_2(tabla: Tabla, tmp_path: Path, words: tuple[str, ...]) -> None:
    before = files(tmp_path)
    said = tabla(*words)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert files(tmp_path) == before


FAULTS = {
    "missing file": (("gen", "nothing.t"), "cannot read 'nothing.t'"),
    "missing kernel": (("gen", "kernel.tc:def"), "cannot read 'kernel.tc'"),
    "tile": (("gen", "layer.py:function"), "cannot read 'layer.py'"),
    "no notation": (("gen", "model.v"), "'model.v' is not a program"),
    "too many PEs": (("gen", "model.t", "--pes", "129"), "129 PEs"),
    "divisor": (("gen", "model.t", "--pes", "16", "--pes-per-pu", "3"), "3 PEs per PU"),
    "sequencers": (("gen", "model.t", "--pes", "12", "--sequencers", "5"), "use one of 1, 2, 3, 4, 6, 12"),
    "minibatch": (("train", "model.t", "--data", "data.npz", "--minibatch", "99"), "do not fill a minibatch of 99"),
    "huge": (("gen", "model.t", "-D", "m=1000000000"), "'x' has 1,000,000,000 elements"),
    "beyond numbers": (("check", "model.t", "-D", "m=9" + "9" * 40), "elements, the largest"),
    "huge models": (("train", "model.t", "--data", "data.npz", "-D", "m=99999999"), "'x' has shape (20, 4)"),
    "format": (("gen", "model.t", "--format", "fp16"), "'fp16' is not a number format"),
    "narrow format": (("gen", "model.t", "--format", "q2.2"), "q2.2"),
    "define": (("gen", "model.t", "-D", "other=3"), "other"),
    "result": (("gen", "model.t", "--result", "other"), "other"),
    "rate": (("gen", "model.t", "--learning-rate", "0.00000000001"), "rate"),
    "stream": (("gen", "model.t", "--stream-words", "3"), "3 stream words"),
    "depth": (("gen", "wide.t", "--pes", "4", "--data-words", "8"), "use --data-words"),
    "template": (("gen", "model.t", "--template", "Huge"), "unknown template 'Huge'"),
    "templates": (("gen", "model.t", "--templates", "no.td", "--template", "A"), "no.td"),
    "templates alone": (("gen", "model.t", "--templates", "no.td"), "--template NAME"),
    "no inputs": (("eval", "model.t", "--inputs", "no.npz", "-o", "o.npz"), "cannot read 'no.npz'"),
    "not npz": (("eval", "model.t", "--inputs", "model.t", "-o", "o.npz"), "neither .npz nor .csv"),
    "models missing": (("eval", "model.t", "--inputs", "data.npz", "-o", "o.npz"), "model 'w[4]' is missing"),
    "output folder": (("eval", "model.t", "--inputs", "in.npz", "-o", "no/o.npz"), "cannot write 'no/o.npz'"),
    "output is a folder": (("train", "model.t", "--data", "data.npz", "-o", "."), "arrays cannot be written to '.'"),
    "output of another kind": (("train", "model.t", "--data", "data.npz", "-o", "w.csv"), "ends in .npz"),
    "JSON nowhere": (("gen", "model.t", "--json", "no/figures.json"), "there is no folder 'no'"),
    "foreign digits": (("gen", "model.t", "--format", "q٣.٥"), "is not a number format"),
    "stranger": (("train", "model.t", "--data", "in.npz"), "'w', which the program does not have"),
    "predict": (("train", "model.t", "--data", "data.npz", "--predict", "w"), "--predict w"),
    "example": (("examples", "nothing"), "no example 'nothing'"),
    "records": (("tblgen", "no.td"), "cannot read 'no.td'"),
}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_user_faults_are_status_1(tabla: Tabla, tmp_path: Path, name: str) -> None:
    words, message = FAULTS[name]
    before = files(tmp_path)
    said = tabla(*words)
    assert (said.status, said.out) == (1, "")
    assert said.err.startswith("error: ")
    assert message in said.err
    assert files(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.npz", "in.npz", "model.t", "wide.t"]


def test_a_fault_in_the_program_shows_the_place(tabla: Tabla, tmp_path: Path) -> None:
    (tmp_path / "model.t").write_text(LOGISTIC.replace("w[i] * x[i]", "w[i] * z[i]"))
    for command in (("gen",), ("check",)):
        said = tabla(*command, "model.t")
        assert said.status == 1
        assert " --> model.t:8:" in said.err
        assert "^" in said.err
    assert not (tmp_path / "build").exists()


def test_check(tabla: Tabla, tmp_path: Path) -> None:
    before = files(tmp_path)
    assert tabla("check", "model.t") == Said(0, "", "model.t: no errors\n")
    assert tabla("check", "model.t", "-q") == Said(0, "", "")
    assert json.loads(tabla("check", "model.t", "--json", "-").out)["errors"] == []
    (tmp_path / "model.t").write_text(LOGISTIC.replace("w[i] * x[i]", "w[i] * z[i]").replace("h - y", "h - q"))
    said = tabla("check", "model.t", "--json", "-")
    assert said.status == 1
    found = json.loads(said.out)["errors"]
    assert [(error["file"], error["line"]) for error in found] == [("model.t", 8), ("model.t", 9)]
    assert files(tmp_path).keys() == before.keys()


@pytest.mark.parametrize("stage", ["ast", "graph", "mapping", "schedule", "program"])
def test_emit_prints_and_writes_nothing(tabla: Tabla, tmp_path: Path, stage: str) -> None:
    before = files(tmp_path)
    said = tabla("gen", "model.t", "--emit", stage)
    assert said.status == 0
    assert said.err == ""
    assert len(said.out.splitlines()) > 3
    assert files(tmp_path) == before


def test_definitions_reach_the_program(tabla: Tabla) -> None:
    graph = tabla("gen", "model.t", "-D", "m=7", "--emit", "graph").out
    assert "x[7]" in graph
    assert "2^-3" in tabla("gen", "model.t", "--learning-rate", "0.125", "--emit", "graph").out
    assert "2^-3" in tabla("gen", "model.t", "-D", "mu=0.125", "--emit", "graph").out


def test_templates(tabla: Tabla, tmp_path: Path) -> None:
    assert "Pe16" in tabla("templates").out
    listed = json.loads(tabla("templates", "--json", "-").out)["templates"]
    assert [t["pes"] for t in listed] == [1, 2, 4, 8, 16, 32, 64, 128]
    (tmp_path / "mine.td").write_text('include "machine.td"\ndef Mine : Template<12, 4> { let FractionBits = 12; }\n')
    lines = [line.split() for line in tabla("templates", "--templates", "mine.td").out.splitlines()]
    assert ["Mine", "12", "4", "q6.12", "2"] in lines
    said = tabla("gen", "model.t", "--templates", "mine.td", "--template", "Mine", "--emit", "schedule")
    assert said.out.startswith("schedule model: 12 PEs, q6.12,")
    assert Options(templates="mine.td", template="Mine").chosen_template().pes_per_pu == 4
    assert Options(templates="mine.td", template="Mine", pes=9).chosen_template().pes_per_pu == 9
    said = tabla("gen", "model.t", "--template", "Pe16", "--pes", "4", "--format", "q4.8", "--emit", "schedule")
    assert said.out.startswith("schedule model: 4 PEs, q4.8,")


def test_tblgen(tabla: Tabla, tmp_path: Path) -> None:
    (tmp_path / "a.td").write_text("#ifdef X\ndef A { int N = 3; }\n#endif\n")
    assert "int N = 3;" in tabla("tblgen", "a.td", "-D", "X").out
    assert "def A" not in tabla("tblgen", "a.td").out
    assert json.loads(tabla("tblgen", "a.td", "-D", "X", "--dump-json").out)["A"]["N"] == 3
    assert tabla("tblgen", "a.td", "--null-backend") == Said(0, "", "")
    assert tabla("tblgen", "a.td", "-D", "X", "-o", "out.txt") == Said(0, "", "")
    assert "int N = 3;" in (tmp_path / "out.txt").read_text()


def test_examples(tabla: Tabla) -> None:
    listed = [line.split()[0] for line in tabla("examples").out.splitlines()]
    assert listed == [p.stem for n in listed for p in (ROOT / "examples").glob(f"{n}.t")]
    assert sorted(listed) == sorted(p.stem for p in (ROOT / "examples").glob("*.t"))


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a process that can run the checkout from any folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def test_module_and_status_of_a_process(tabla: Tabla, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tabla", "gen", "nothing.t"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")


def test_a_reader_that_goes_away_is_no_traceback(tabla: Tabla, tmp_path: Path) -> None:
    (tmp_path / "big.td").write_text("".join(f"def A{n} {{ int N = {n}; }}\n" for n in range(3000)))
    words = [sys.executable, "-m", "tabla", "tblgen", "big.td"]
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 1
    process.stderr.close()


def test_import_is_light() -> None:
    heavy = "{'numpy', 'networkx', 'amaranth', 'ply'}"
    code = f"import tabla, sys; assert tabla.TablaError; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], env=environment(), check=True)


def test_progress_only_on_a_terminal(tabla: Tabla, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tabla", "train", "model.t", "--data", "data.npz", "--engine", "model"]
    piped = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert "\x1b" not in piped.stdout + piped.stderr
    assert "\r" not in piped.stdout + piped.stderr
    assert "epoch" not in piped.stderr
    for quiet in (False, True):
        lead, end = pty.openpty()
        process = subprocess.Popen(
            [*command, "-q"] if quiet else command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=end
        )
        os.close(end)
        shown = b""
        try:
            while chunk := os.read(lead, 4096):
                shown += chunk
        except OSError:  # on Linux, reading a terminal without a writer ends with this error
            pass
        process.communicate()
        os.close(lead)
        assert (b"epoch 1/10  sample" in shown) == (not quiet)
        assert shown == b"" if quiet else shown.endswith(b"\r\x1b[K")


def test_no_unicode_where_it_cannot_be_shown(tabla: Tabla, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tabla", "train", "model.t", "--data", "data.npz", "--engine", "model"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(PYTHONIOENCODING="ascii"), capture_output=True, check=True
    )
    assert done.stdout.isascii()
    assert b"* accelerator" in done.stdout


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_the_entrance_imports_no_part_of_the_compiler(word: str) -> None:
    """`tabla --version` takes little longer than Python itself."""
    code = (
        "import sys\nfrom tabla.commands.cli import main\n"
        f"assert main([{word!r}]) == 0\n"
        "heavy = ('numpy', 'networkx', 'ply', 'amaranth', 'tabla.driver', 'tabla.graph')\n"
        "print(*(name for name in heavy if name in sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "\n")
