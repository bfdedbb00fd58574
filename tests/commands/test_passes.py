"""``tabla pass``, ``--print-after`` and ``--time-passes``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import tabla
from tabla.base.source import Source
from tabla.commands.cli import main
from tabla.graph.passes.pipeline import all_passes, groups
from tabla.languages.graph_text.reader import read_graph

Command = Callable[..., str]
PROGRAM = """mu = 0.125; model_input x[4]; model_output y; model w[4]; gradient g[4] -> w; iterator i[0:4];
p = sigmoid(sum[i](w[i] * x[i])); q = sigmoid(sum[i](w[i] * x[i])); g[i] = (p + q - y) * x[i];
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("m.t").write_text(PROGRAM)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[str, str]:
    assert main(words) == status
    outcome = capsys.readouterr()
    return outcome.out, outcome.err


def texts(printed: str) -> dict[str, str]:
    """The printed graphs by what they are after; of several, the last."""
    return dict(re.findall(r"^// (.*)\n((?:(?!//).*\n)*)", printed, re.MULTILINE))


def test_print_after_all_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = said(capsys, "check", "m.t", "--pes", "4", "--print-after", "all")
    assert err == "m.t: no errors\n"
    printed = texts(out)
    made = tabla.compile("m.t", pes=4)
    runs = list(made.pass_runs())
    assert list(printed) == ["before the passes"] + [
        f"after {run.which.name} ({run.group}, round {run.round})" for run in runs
    ]
    assert {run.which.name for run in runs} == {each.name for each in all_passes()}
    assert printed["after drop-dead (shape, round 1)"] == made.emit("graph")
    assert runs[-1].after == made.legal and list(printed.values())[-1].startswith("format q6.10\ngraph m\n")
    assert {run.round for run in runs if run.group == "simplify"} == {1, 2, 3, 4}


def test_a_printed_graph_is_a_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "check", "m.t", "--pes", "4", "--print-after", "materialise,snapshot")
    assert [head.split()[1] for head in texts(out)] == ["snapshot", "materialise"]
    Path("x.graph").write_text(out.partition("// after materialise")[0])
    assert said(capsys, "check", "x.graph", "--pes", "4") == ("", "x.graph: no errors\n")


def test_repeated_options_are_joined(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "bound", "m.t", "--pes", "4", "--print-after", "minibatch", "--print-after", "materialise")
    assert list(texts(out)) == ["after minibatch (prepare, round 1)", "after materialise (legalise, round 1)"]


def test_the_legalising_passes_are_shown_though_the_schedule_is_cached(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TABLA_CACHE_KINDS")
    monkeypatch.setenv("TABLA_CACHE", str(folder / "cache"))
    for _ in range(2):
        out, _ = said(capsys, "check", "m.t", "--pes", "4", "--print-after", "materialise")
        assert "after materialise" in out


def test_time_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = said(capsys, "gen", "m.t", "--pes", "4", "-o", "out", "-q", "--time-passes")
    assert out.startswith("m: ") or "cycles" in out
    rows = [re.split(r"  +", line.strip()) for line in err.splitlines()]
    assert rows[0] == ["group", "round", "pass", "seconds", "operations before", "after"]
    assert [row[2] for row in rows[1:-1]] == [run.which.name for run in tabla.compile("m.t", pes=4).pass_runs()]
    for _, _, _, seconds, before, after in rows[1:-1]:
        assert 0 <= float(seconds) < 60 and int(before) >= int(after) > 0
    assert rows[-1][0] == "all" and len(rows[-1]) == 4
    assert float(rows[-1][1]) == pytest.approx(sum(float(row[3]) for row in rows[1:-1]), abs=0.01)
    assert [int(n) for n in rows[-1][2:]] == [int(rows[1][4]), int(rows[-2][5])]


def test_the_texts_before_a_fault_are_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("wide.tc").write_text("def f(float(N,M) T, int32(K) P) -> (y) { y(i,j) = T(P(i),j) where i in 0:K, j in 0:M }")
    words = ("--size", "N=100", "--size", "M=2", "--size", "K=3", "--format", "q2.6")
    out, err = said(capsys, "check", "wide.tc", *words, "--print-after", "static-gathers,flat-gathers", status=1)
    assert list(texts(out)) == ["after static-gathers (legalise, round 1)"]
    assert "wide.tc:1:" in err and "'T' has 200 words" in err


def test_a_program_that_no_array_holds_is_not_legalised(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("large.t").write_text("model_input x[90000000]; iterator i[0:90000000]; y = sum[i](x[i] * x[i]);\n")
    out, err = said(capsys, "check", "large.t", "--print-after", "drop-dead,index-set-splitting", status=1)
    assert list(texts(out))[-1] == "after drop-dead (shape, round 1)" and err.startswith("error: ")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("check m.t --print-after fold", "there is no pass 'fold'", "tabla pass --list"),
        ("check m.t --print-after fold-constant", "there is no pass 'fold-constant'", "did you mean fold-constants?"),
        ("gen m.t --emit graph --print-after all", "--print-after has no meaning with --emit", "leave one"),
        ("check m.t --json - --print-after all", "both print to standard output", "--json FILE"),
        ("pass drop-daed g.graph", "there is no pass 'drop-daed'", "did you mean drop-dead?"),
        ("pass drop-dead", "the pass 'drop-dead' needs a graph", "tabla pass drop-dead FILE.graph"),
        ("pass drop-dead m.t", "'m.t' is no text of a graph", "tabla gen m.t --emit graph"),
        ("pass drop-dead none.graph", "cannot read 'none.graph'", "check the path"),
        ("pass drop-dead g.graph -o g.graph", "would overwrite it", "another file"),
        ("pass drop-dead g.graph -o g.txt", "a graph cannot be written to 'g.txt'", "ends in .graph"),
        ("pass drop-dead g.graph --minibatch 2", "--minibatch: the pass 'drop-dead' does not ask", "leave --minibatch"),
        ("pass drop-dead g.graph --pes 4", "--pes: the pass 'drop-dead' does not ask for it", "leave --pes out"),
        ("pass drop-dead g.graph --format q4.4", "'g.graph' is a graph for q6.10, not for q4.4", "leave --format out"),
        ("pass drop-dead bare.graph", "'bare.graph' names no format", "--format q6.10"),
        ("pass inference g.graph --predict q", "--predict q: the graph computes no such value", "there are"),
        ("pass minibatch twice.graph --minibatch 2", "takes 2 samples a step already", "leave the minibatch out"),
        ("pass model-guard odd.graph --model-guard 2", "does not add to its old word", "leave --model-guard out"),
        ("pass minibatch odd.graph --minibatch 2", "does not begin with its old word", "w[i] - g[i]"),
        ("pass minibatch late.graph --minibatch 2", "does not begin with its old word", "late.graph:7:3"),
        ("pass --list g.graph", "", "--list lists the passes"),
    ],
)
def test_what_is_refused(folder: Path, words: str, message: str, hint: str, command: Command) -> None:
    Path("g.graph").write_text(tabla.compile("m.t").emit("graph"))
    Path("bare.graph").write_text(Path("g.graph").read_text().partition("\n")[2])
    Path("twice.graph").write_text(tabla.compile("m.t", minibatch=2).emit("graph"))
    Path("odd.graph").write_text(
        "format q6.10\ngraph odd\n  input x\n  model w\n  next w.next\n\n  w.next = x*w - x\n\n  update w <- w.next\n"
    )
    Path("late.graph").write_text(Path("odd.graph").read_text().replace("x*w - x", "x + w"))
    said = command(*words.split(), status=1)
    assert message in said and hint in said and said.startswith("error: ")


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    listed, _ = said(capsys, "pass", "--list")
    assert said(capsys, "pass")[0] == listed
    rows = [re.split(r"  +", line.strip()) for line in listed.splitlines()]
    placed = [(group.name, each.name, each.description) for group in groups() for each in group.passes]
    assert [tuple(row[:3]) for row in rows[1:-1]] == placed and rows[-1][1] == "inference"
    conditions = {row[1]: row[3] for row in rows if len(row) == 4}
    assert conditions["minibatch"] == "a step has more than one sample" and len(conditions) == 11


def test_a_pass_without_work_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("g.graph").write_text(tabla.compile("m.t").emit("graph"))
    out, err = said(capsys, "pass", "minibatch", "g.graph")
    assert out == Path("g.graph").read_text()
    assert err == (
        "note: minibatch leaves this graph as it is: it has work only where a step has more than one sample\n"
    )


def test_all_passes_one_by_one_are_the_build(folder: Path, command: Command) -> None:
    """The commands of the passes that a build runs, each on the output of the one before, give its legal graph."""
    made = tabla.compile("m.t", pes=4, minibatch=2)
    first = command("check", "m.t", "--pes", "4", "--print-after", "model-guard")
    Path("0.graph").write_text(first)
    for number, run in enumerate(made.pass_runs()):
        options = ["--minibatch", "2"] if run.which.name == "minibatch" else []
        command("pass", run.which.name, f"{number}.graph", "-o", f"{number + 1}.graph", "-q", *options)
    last = read_graph(Source.from_path(Path(f"{number + 1}.graph"))).graph
    assert [str(s) for s in last.statements] == [str(s) for s in _plain(made.legal)]
    assert json.dumps({n: a.tolist() for n, a in last.words.items()}) == json.dumps(
        {n: a.tolist() for n, a in made.legal.words.items()}
    )


def _plain(graph: object) -> tuple[object, ...]:
    from tests.languages.graph_text.test_reader import plain

    return plain(graph).statements  # type: ignore[arg-type]
