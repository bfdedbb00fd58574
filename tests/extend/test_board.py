"""A board and a part from outside the package: those of docs/extend/board.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.commands.cli import main
from tabla.templates.targets import board, boards, target
from tests.extend.pages import PAGES, snippets, write_files


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of the page."""
    monkeypatch.chdir(tmp_path)
    write_files("board.md", tmp_path)
    return "lamp.td"


def test_the_page_runs(records: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in re.findall(r"^\$ tabla (.*)$", (PAGES / "board.md").read_text(encoding="utf-8"), re.MULTILINE):
        assert main(command.split()) == 0
        assert "LFE5U-12F" in capsys.readouterr().out
    for snippet in snippets("board.md"):
        exec(compile(snippet, "board.md", "exec"), {})


def test_the_board_stands_beside_those_of_the_package(records: str) -> None:
    assert set(boards(records)) == {*boards(), "lamp"}
    lamp = board("lamp", records)
    assert (lamp.target, lamp.device, lamp.package, lamp.grade) == ("ecp5", "12k", "CABGA256", 6)
    family = target("ecp5", records)
    assert [family.device(name).capacity("LUT") for name in ("12k", "25k")] == [12288, 24288]
    with pytest.raises(TablaError, match="no board 'lamp'"):
        board("lamp")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("let ClockPin", "let ClockPins", "ClockPins"),
        ('"CABGA256", 6>', '"CABGA256", "six">', "lamp.td"),
        ("50000000", '"fast"', "ClockHertz"),
        ("Lfe5u12, ", "Lfe5u13, ", "Lfe5u13"),
    ],
)
def test_mistakes_are_reported_at_their_line(
    records: str, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path(records).read_text(encoding="utf-8")
    assert old in text
    Path(records).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert main(["boards", "--templates", records]) == 1
    heard = capsys.readouterr().err
    assert said in heard and "lamp.td:" in heard
