"""``--open`` shows the page that a command has written."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from tabla.commands.cli import main

PROGRAM = "model_input x[2];\nmodel_output y;\nmodel w[2];\ngradient g[2] -> w;\niterator i[0:2];\nmu = 0.1;\n"
PROGRAM += "e = sum[i](w[i] * x[i]) - y;\ng[i] = e * x[i];\n"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The addresses that a browser is asked for, in a folder with a program."""
    monkeypatch.chdir(tmp_path)
    Path("line.t").write_text(PROGRAM, encoding="utf-8")
    asked: list[str] = []

    def browser(address: str) -> bool:
        asked.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", browser)
    return asked


def test_gen_shows_the_schedule(opened: list[str], tmp_path: Path) -> None:
    assert main(["gen", "line.t", "--pes", "2", "-q", "-o", "made"]) == 0
    assert opened == []
    assert main(["gen", "line.t", "--pes", "2", "-q", "-o", "made", "--open"]) == 0
    page = tmp_path / "made/line.schedule.html"
    assert page.is_file() and opened == [page.resolve().as_uri()]


def test_a_stage_that_is_printed_has_no_page(opened: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gen", "line.t", "--emit", "graph", "--open"]) == 1
    assert "--open has no meaning with --emit" in capsys.readouterr().err and opened == []


def test_explore_shows_its_page(opened: list[str], tmp_path: Path) -> None:
    words = ["explore", "line.t", "--pes", "2", "--workers", "1", "-q", "-o", "report", "--open"]
    assert main(words) == 0
    assert opened == [(tmp_path / "report/index.html").resolve().as_uri()]


def test_explore_without_a_folder_has_no_page(opened: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "line.t", "--pes", "2", "--open"]) == 1
    assert "name a folder with -o" in capsys.readouterr().err and opened == []


def test_no_browser_is_a_remark(
    opened: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert main(["gen", "line.t", "--pes", "2", "-o", "made", "--open"]) == 0
    assert f"open {Path('made/line.schedule.html')}" in capsys.readouterr().err
