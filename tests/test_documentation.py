"""The pages for users: every file, console session and Python block on them is run."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from tabla.cli import main

DOCS = Path(__file__).parents[1] / "docs"
GLOSSARY = DOCS / "glossary.md"
# The number of blocks that run on each page.
PAGES = {"tile.md": 6, "tensor-comprehensions.md": 4}
FENCE = re.compile(r"```(\w+)(?: file=(\S+))?\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_everything_in_it_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    ran = 0
    for kind, file, body in FENCE.findall((DOCS / page).read_text(encoding="utf-8")):
        if file:
            Path(file).write_text(body, encoding="utf-8")
        elif kind == "python":
            try:
                exec(compile(body, page, "exec"), {})
            finally:
                sys.modules.pop("layer", None)
        else:
            said = ""
            for line in re.findall(r"^\$ (.*)$", body, re.MULTILINE):
                program, *words = shlex.split(line)
                status = main(words)
                heard = capsys.readouterr()
                assert (program, status) == ("tabla", 0), heard.err
                said += f"$ {line}\n{heard.out}{heard.err}"
            # A session may show no output at all, because figures change with the scheduler.
            if any(not line.startswith("$ ") for line in body.splitlines()):
                assert said == body
        ran += 1
    assert ran == PAGES[page]


def test_terms_of_the_glossary_stand_where_it_says() -> None:
    """Each term ends with a path of the repository, and mostly with a name in the file there."""
    text = GLOSSARY.read_text(encoding="utf-8")
    entries = re.findall(r"^- \*\*([^*]+)\*\*(.*?)(?=^- |^#|\Z)", text, re.DOTALL | re.MULTILINE)
    assert len(entries) > 60
    for term, told in entries:
        found = re.search(r"Code: (?:`(\w+)` in )?`([\w/.]+)`\s*\Z", told)
        assert found, f"{term}: no place in the code"
        name, path = found[1], DOCS.parent / found[2]
        assert path.exists(), f"{term}: there is no {found[2]}"
        if name:
            assert re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")), f"{term}: no {name} in {found[2]}"
