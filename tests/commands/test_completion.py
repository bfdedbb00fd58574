"""Completion, as a shell does it: bash runs the script of ``tabla completion`` and is asked for words."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tabla.build.stages import STAGES
from tabla.commands.cli import COMMANDS, main
from tabla.commands.completion import SHELLS, script
from tabla.templates.targets import boards, targets

ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
function=$(complete -p tabla | sed -n 's/.*-F \\([^ ]*\\).*/\\1/p')
"$function" tabla "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    file = tmp_path_factory.mktemp("completion") / "tabla.bash"
    file.write_text(script("bash"), encoding="utf-8")
    return file


def asked(file: Path, *words: str, folder: Path | None = None) -> list[str]:
    """The words that bash offers for the last of `words`."""
    line = ["bash", "--norc", "-c", ASK, "bash", str(file), "tabla", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=folder)
    assert not done.stderr
    return [word.strip() for word in done.stdout.splitlines() if word.strip()]


def test_commands(bash: Path) -> None:
    assert set(asked(bash, "")) >= {*COMMANDS, "help"}
    assert asked(bash, "tr") == ["train"]


def test_options_of_a_command(bash: Path) -> None:
    assert asked(bash, "train", "--epo") == ["--epochs"]
    assert asked(bash, "train", "model.t", "--sca") == ["--scaling"]
    assert asked(bash, "gen", "model.t", "--sca") == []
    assert {"--emit", "--effort"} <= set(asked(bash, "gen", "model.t", "--e"))


def test_values(bash: Path) -> None:
    assert asked(bash, "gen", "model.t", "--emit", "") == list(STAGES)
    assert set(asked(bash, "synth", "model.t", "--target", "")) == set(targets())
    assert set(asked(bash, "build", "model.t", "--board", "")) == set(boards())
    assert "verilator" in asked(bash, "sim", "model.t", "--engine", "")
    assert asked(bash, "check", "model.t", "--print-after", "drop-") == ["drop-unit-indices", "drop-dead"]
    assert asked(bash, "pass", "drop-") == ["drop-unit-indices", "drop-dead"]
    assert set(asked(bash, "completion", "")) == set(SHELLS)
    assert set(asked(bash, "help", "")) == set(COMMANDS)


def test_files_and_folders(bash: Path, tmp_path: Path) -> None:
    (tmp_path / "model.t").write_text("")
    (tmp_path / "build").mkdir()
    assert set(asked(bash, "gen", "", folder=tmp_path)) >= {"model.t", "build"}
    assert set(asked(bash, "gen", "model.t", "-o", "", folder=tmp_path)) == {"build"}


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert said == script(shell)
    assert all(name in said for name in COMMANDS) and "epochs" in said and "ulx3s-85f" in said


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "csh"]) == 2
    assert "invalid choice: 'csh'" in capsys.readouterr().err
