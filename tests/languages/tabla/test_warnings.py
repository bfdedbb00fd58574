"""Warnings: what is legal and probably a slip, each with its place and its cure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabla.base.source import Source
from tabla.build.options import Options
from tabla.commands.cli import main
from tabla.driver import build
from tabla.languages.tabla import parse
from tests.logistic_program import LOGISTIC

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = sorted((*ROOT.glob("examples/*.t"), *ROOT.glob("benchmarks/**/*.t")))
BETWEEN = "; choose a rate between 0 and 1, such as 0.1"


def warnings(text: str, **defines: str) -> list[str]:
    """Return the warnings about a text as ``line:column text``."""
    found = parse(Source.from_text(text), defines).warnings
    return [f"{warned.span.line}:{warned.span.column} {warned.text}" for warned in found]


def changed(old: str, new: str) -> str:
    """Return the logistic regression with another line."""
    assert LOGISTIC.count(old) == 1
    return LOGISTIC.replace(old, new)


WARNED = {
    "label": (
        changed("h - y", "h - 1"),
        "4:14 label 'y' is never read, so nothing is learnt from it; compare a value with it, or leave it out",
    ),
    "input": (changed("x[m];", "x[m], z[m];"), "3:19 input 'z' is never read; leave it out"),
    "model": (changed("w[m];", "w[m], v;"), "5:13 model 'v' is never read, and has no gradient; leave it out"),
    "iterator": (changed("i[0:m];", "i[0:m], j[0:m];"), "7:18 iterator 'j' is never used; leave it out"),
    "constant": (f"k = 3; {LOGISTIC}", "1:1 constant 'k' is never read; leave it out"),
    "constant of a kernel": ("model_input x; k = 3; a = 2 * x;", "1:16 constant 'k' is never read; leave it out"),
    "value": (
        f"{LOGISTIC}p = h * 2;",
        "10:1 value 'p' is never read; leave it out, or return it with --result p",
    ),
    "value of many elements": (
        f"{LOGISTIC}p[i] = h * x[i];",
        "10:1 value 'p' is never read; leave it out, or return it with --result p",
    ),
    "constant twice": (
        changed("m = 4;", "m = 4; m = 5;"),
        "1:8 constant 'm' has a value from line 1 already; leave one out",
    ),
    "rate twice": (
        changed("mu = 0.5;", "mu = 0.5; mu = 0.25;"),
        "2:11 constant 'mu' has a value from line 2 already; leave one out",
    ),
    "value lost": (
        changed("h = sigmoid", "h = x[0];\nh = sigmoid"),
        "9:1 the value of 'h' from line 8 is lost here, and nothing reads it; leave one out",
    ),
    "elements lost": (
        f"{LOGISTIC}g[i] = (h - y) * x[i];",
        "10:1 the value of 'g' from line 9 is lost here, and nothing reads it; leave one out",
    ),
    "rate of more than 1": (
        changed("0.5", "1.5"),
        "2:6 the learning rate 1.5 may overshoot: line 9 compares a sigmoid with a label of 0 or 1" + BETWEEN,
    ),
    "rate below 0": (
        changed("0.5", "-0.5"),
        "2:6 the learning rate -0.5 may make the loss grow: line 9 compares a sigmoid with a label of 0 or 1" + BETWEEN,
    ),
    "rate beside a label in front": (
        changed("0.5", "2").replace("(h - y)", "-(y - h)"),
        "2:6 the learning rate 2 may overshoot: line 9 compares a sigmoid with a label of 0 or 1" + BETWEEN,
    ),
}
SILENT = {
    "logistic": LOGISTIC,
    "rate of 1": changed("0.5", "1"),
    "large rate without a sigmoid": changed("sigmoid", "").replace("0.5", "2"),
    "large rate, and the name was a sigmoid before": changed("g[i] =", "s = h; h = 2 * s;\ng[i] =").replace("0.5", "2"),
    "label of a program that does not learn": "model_input x; model_output y; model w; h = w * x;",
    "results of a program that does not learn": "model_input x; a = 2 * x; b[0] = x;",
    "value that is read and then replaced": changed("g[i] =", "h = h * 1.5;\ng[i] ="),
    "start value of a sum": changed("h = sigmoid(", "s = 0; s = s + x[0];\nh = sigmoid(s + "),
    "elements one by one": changed("h = sigmoid(", "s[0] = x[0]; s[1] = x[1];\nh = sigmoid(s[0] + s[1] + "),
    "iterator of a left side alone": "model_input x; iterator i[0:3]; a[i] = x;",
    "iterator in a subscript of a sum": "model_input x[9]; iterator i[0:3], j[0:3]; a[i] = sum[j](x[i + 2 * j]);",
    "iterator that counts": "model_input x; iterator j[0:3]; a = x * sum[j](1);",
    "model that only learns": "model_input x; model w; gradient g -> w; g = x;",
    "size as the only use": "n = 3; model_input x[n]; iterator i[0:n]; a[i] = x[i];",
}


@pytest.mark.parametrize("name", WARNED)
def test_warned(name: str) -> None:
    text, expected = WARNED[name]
    assert warnings(text) == [expected]


@pytest.mark.parametrize("name", SILENT)
def test_silent(name: str) -> None:
    assert warnings(SILENT[name]) == []


def test_a_rate_of_the_command_line_counts() -> None:
    assert warnings(LOGISTIC, mu="2")[0].startswith("2:6 the learning rate 2 may overshoot")
    assert warnings(changed("0.5", "2"), mu="0.5") == []
    assert warnings(changed("mu = 0.5;", ""), mu="2")[0].startswith("9:8 the learning rate 2 may overshoot")


def test_several_warnings_come_in_the_order_of_the_text() -> None:
    found = warnings("k = 4; " + changed("h = sigmoid", "h = x[0];\nh = sigmoid").replace("y;", "y, z;"))
    assert [each.split()[0] for each in found] == ["1:1", "4:17", "9:1"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_no_shipped_program_warns(path: Path) -> None:
    assert len(SHIPPED) >= 11
    assert build(path, Options()).reading.warnings == ()


def test_the_commands_tell_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # The value of $size is longer than its name, so that places in the file are not those in the text that is read.
    Path("model.t").write_text(f"{LOGISTIC}$size = 100; p = $size * h; q = 1 + h;\n")
    expected = [
        "model.t:10:14: value 'p' is never read; leave it out, or return it with --result p",
        "model.t:10:29: value 'q' is never read; leave it out, or return it with --result q",
    ]
    assert main(["check", "model.t", "--pes", "4", "--format", "q10.10"]) == 0
    said = [f"warning: {text}" for text in expected]
    assert capsys.readouterr().err.splitlines() == [*said, "model.t: no errors"]
    assert main(["check", "model.t", "--pes", "4", "--format", "q10.10", "-q", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == expected
    assert main(["check", "model.t", "--pes", "4", "--format", "q10.10", "--result", "q,p"]) == 0
    assert capsys.readouterr().err == "model.t: no errors\n"
