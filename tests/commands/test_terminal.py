"""Commands on a terminal: what they print fits it, and into a pipe each row of a table is one line."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tabla.commands.cli import main

TEXT = """n = 3; mu = 0.125;
model_input x[n]; model_output y;
model w[n];
gradient g[n] -> w;
iterator i[0:n];
h = sigmoid(sum[i](w[i] * x[i]));
g[i] = (h - y) * x[i];
"""


class Terminal(io.StringIO):
    """A terminal of 80 columns that keeps what is written."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


Shown = Callable[..., list[str]]


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """A function that runs a command on a terminal and returns the lines of standard output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")  # its sequences take no columns
    (tmp_path / "p.t").write_text(TEXT)
    chance = np.random.default_rng(1)
    x = chance.uniform(-1, 1, (60, 3))
    np.savez(tmp_path / "d.npz", x=x, y=(x.sum(axis=1) > 0).astype(float))

    def run(*words: str, columns: int = 80) -> list[str]:
        out = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", out)
            patch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
            assert main(words) == 0
        return out.getvalue().splitlines()

    return run


@pytest.mark.parametrize(
    "words",
    [
        ("gen", "p.t", "--pes", "4", "--costs"),
        ("bound", "p.t", "--pes", "4"),
        ("targets",),
        ("boards",),
        ("templates",),
        ("examples",),
        ("doctor",),
        ("train", "p.t", "--data", "d.npz", "--split", "0.2,0.2", "--epochs", "2"),
        ("train", "p.t", "--data", "d.npz", "--epochs", "1", "--minibatch", "4", "--scaling"),
        pytest.param(("overlay", "--pes", "4", "-o", "overlay"), marks=pytest.mark.slow),
        ("eval", "p.t", "--inputs", "d.npz", "--seed", "0", "-o", "e.npz"),
        ("formats", "p.t", "--data", "d.npz", "--split", "0.2,0.2", "--epochs", "1", "--widths", "8,9"),
        ("explore", "p.t", "--pes", "4,8", "--workers", "1"),
    ],
    ids=lambda words: words[0],
)
def test_it_fits_80_columns(shown: Shown, words: tuple[str, ...]) -> None:
    # A path is a word, which is never cut.
    wide = [line for line in shown(*words) if len(line) > 80 and "/" not in line]
    assert not wide


def test_a_narrow_terminal_has_a_narrow_curve(shown: Shown) -> None:
    lines = shown("train", "p.t", "--data", "d.npz", "--epochs", "2", columns=50)
    assert max(len(line) for line in lines if "│" in line or "└" in line) <= 50


def test_a_pipe_does_not_depend_on_a_width(
    shown: Shown, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for columns in ("40", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        assert main(["gen", "p.t", "--pes", "4", "--costs", "-o", "build"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert "lanes        idle in" in texts[0]
    statement = next(line for line in texts[0].splitlines() if line.endswith("h = sigmoid(sum[i](w[i] * x[i]))"))
    assert statement.split()[0] == "6"
