"""The code blocks of the documentation, and how each kind is run.

A block with ``file=NAME`` is written to that file. A ``console`` block is a session whose commands start with ``$ ``.
A ``python`` block is executed. A ``text`` block is not run. A block with ``slow`` takes more than ten seconds.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tabla.commands.cli import main

DOCS = Path(__file__).parents[1] / "docs"
FENCE = re.compile(r"^```(\w*)((?: file=\S+| slow)*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A code block. `start` is the position of `body` in the text of its page."""

    kind: str
    file: str
    slow: bool
    body: str
    start: int

    @property
    def runs(self) -> bool:
        """Whether something has to be done for this block."""
        return bool(self.file) or self.kind in ("console", "python")


def pages(folder: Path = DOCS) -> list[str]:
    """Return the paths of all pages, relative to `folder`."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))


def blocks(text: str) -> list[Block]:
    """Return the code blocks of a page in their order. A fence that is no block of ours fails the test."""
    found = [
        Block(
            kind=fence[1],
            file=named[1] if (named := re.search(r" file=(\S+)", fence[2])) else "",
            slow=" slow" in fence[2],
            body=fence[3],
            start=fence.start(3),
        )
        for fence in FENCE.finditer(text)
    ]
    assert len(re.findall(r"^\s*```", text, re.MULTILINE)) == 2 * len(found), "a code block that the tests do not read"
    return found


@contextmanager
def own_modules(folder: Path) -> Iterator[None]:
    """Make the files of `folder` importable, and forget the modules that were imported from there."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]


def run(block: Block, page: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a block in the current folder. Return what a session prints with its commands, else the body."""
    if block.file:
        Path(block.file).parent.mkdir(parents=True, exist_ok=True)
        Path(block.file).write_text(block.body, encoding="utf-8")
    elif block.kind == "python":
        names: dict[str, object] = {"__name__": "__main__"}
        exec(compile(block.body, page, "exec"), names)
        names.clear()  # closes the files that the block has left open
        capsys.readouterr()
    elif block.kind == "console":
        return "".join(command(line, capsys) for line in re.findall(r"^\$ (.*)$", block.body, re.MULTILINE))
    return block.body


def command(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run one command of a session, which has to succeed. Return its line and what it prints.

    The test is skipped if the program is not installed.
    """
    program, *words = shlex.split(line)
    if program == "cd":
        os.chdir(words[0])
        return f"$ {line}\n"
    if program == "tabla":
        status = main(words)
        heard = capsys.readouterr()
        out, err = heard.out, heard.err
    else:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
        found = shutil.which(program, path=path)
        if found is None:
            pytest.skip(f"{program} is not installed")
        surroundings = {**os.environ, "PATH": path}
        done = subprocess.run([found, *words], capture_output=True, text=True, check=False, env=surroundings)
        status, out, err = done.returncode, done.stdout, done.stderr
    assert status == 0, f"$ {line}\n{out}{err}"
    return f"$ {line}\n{out}{err}"


def agrees(shown: str, printed: str) -> bool:
    """Return whether a page shows what a session printed.

    A line ``...`` stands for any number of lines. A session may show no output at all.
    """
    lines = shown.splitlines()
    if all(line.startswith("$ ") for line in lines):
        return True
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in lines)
    return re.fullmatch(pattern, printed) is not None
