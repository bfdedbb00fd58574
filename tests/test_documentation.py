"""The pages for users: every file, console session and Python block on them is run.

``pytest --update-golden`` writes the output of the sessions anew, except where a page leaves lines out.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.commands.cli import main
from tests.pages import DOCS, Block, agrees, blocks, own_modules, pages, run

GLOSSARY = DOCS / "glossary.md"
# The tests of tests/extend run the pages of docs/extend.
TEXTS = {page: (DOCS / page).read_text(encoding="utf-8") for page in pages() if not page.startswith("extend/")}
WITH_CODE = [page for page, text in TEXTS.items() if any(block.runs for block in blocks(text))]
WITH_SLOW_CODE = [page for page in WITH_CODE if any(block.slow for block in blocks(TEXTS[page]))]


def run_page(
    page: str,
    chosen: list[Block],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    update: bool,
) -> None:
    """Run the chosen blocks of a page, in order, in a folder of their own."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["page"])
    # A schedule is kept from one block to the next, as it is for a reader.
    monkeypatch.setenv("TABLA_CACHE_KINDS", "compiled,schedules,simulators")
    text = TEXTS[page]
    with own_modules(folder):
        ran = []
        for block in chosen:
            printed = run(block, page, capsys)
            if not agrees(block.body, printed):
                assert update and "\n...\n" not in block.body, f"{page} shows\n{block.body}\nand printed is\n{printed}"
                ran.append((block, printed))
    # The last block comes first, so that the positions of the others stay right.
    for block, printed in reversed(ran):
        text = text[: block.start] + printed + text[block.start + len(block.body) :]
    if text != TEXTS[page]:
        (DOCS / page).write_text(text, encoding="utf-8", newline="\n")


@pytest.mark.parametrize("page", WITH_CODE)
def test_quick_blocks(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    chosen = [block for block in blocks(TEXTS[page]) if not block.slow]
    run_page(page, chosen, tmp_path, monkeypatch, capsys, request.config.getoption("--update-golden"))


@pytest.mark.docs
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", WITH_SLOW_CODE)
def test_all_blocks(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    run_page(page, blocks(TEXTS[page]), tmp_path, monkeypatch, capsys, request.config.getoption("--update-golden"))


@pytest.mark.parametrize("page", WITH_SLOW_CODE)
def test_a_page_whose_outputs_take_long_names_its_version(page: str) -> None:
    """`make test` does not run them. A new version has to run `make docs-test`, and name itself there."""
    slow = [block for block in blocks(TEXTS[page]) if block.slow and block.kind == "console"]
    shown = [line for block in slow for line in block.body.splitlines() if not line.startswith("$ ")]
    assert not shown or f"`tabla` {tabla.__version__}" in TEXTS[page]


def test_the_pages_have_code() -> None:
    """A pattern that finds no block would let every page pass."""
    assert len(WITH_CODE) >= 10 and WITH_SLOW_CODE
    kinds = {(page, block.kind) for page in WITH_CODE for block in blocks(TEXTS[page]) if not block.runs}
    assert {kind for _, kind in kinds} <= {"text"}, kinds


def test_lines_that_a_page_leaves_out() -> None:
    assert agrees("$ a\none\n...\nfour\n", "$ a\none\ntwo\nthree\nfour\n") and agrees("$ a\n...\n", "$ a\n")
    assert not agrees("$ a\none\n...\nfour\n", "$ a\none\ntwo\n") and not agrees("$ a\none\n", "$ a\none\ntwo\n")
    assert agrees("$ a\n$ b\n", "$ a\none\n$ b\ntwo\n") and not agrees("$ a\none\n$ b\n", "$ a\none\n$ b\ntwo\n")


def test_every_field_of_the_manifest_is_explained(tmp_path: Path) -> None:
    program, folder = str(DOCS.parent / "examples" / "linear.t"), tmp_path / "build"
    shapes = {"x": (9, 10), "y": (9,)}
    np.savez(tmp_path / "data.npz", **{name: np.ones(shape) for name, shape in shapes.items()})
    data = ("--data", str(tmp_path / "data.npz"), "--format", "auto")
    out = ("-o", str(folder), "-q")
    options = ("--pes", "1", "--effort", "0", "--bus", "axi", "--runtime-rate", "--result", "h")
    assert main(["gen", program, *options, *data, *out]) == 0
    fields = set(json.loads((folder / "linear.json").read_text(encoding="utf-8")))
    text = TEXTS["reference/files.md"].split("## The manifest")[1]
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    # One field is there only where several words leave in a beat.
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == fields | {"output_words"}


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


def test_words_of_the_field_stand_beside_terms_of_the_glossary() -> None:
    """Each row of the table names terms that have a line of their own, a word of the field and a source."""
    text = GLOSSARY.read_text(encoding="utf-8")
    section = text.split("## What the field says")[1].split("\n## ")[0]
    terms = {word.strip() for told in re.findall(r"^- \*\*([^*]+)\*\*", text, re.MULTILINE) for word in told.split(",")}
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", section, re.MULTILINE)[2:]
    assert len(rows) > 25
    for term, word, source in rows:
        head = re.split(r"[,:;]| \(", term)[0].strip()
        assert head in terms or head.split(" ")[0] in terms or head in ("arrival time", "training"), term
        assert word.strip() and source.strip()
        for name, year in re.findall(r"([A-Z]\w+)(?: et al\.)? ((?:19|20)\d\d)", source):
            assert re.search(rf"{name}\b[^()]*\([^()]*{year}\)", section), f"no source {name} {year}"
