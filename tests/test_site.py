"""The documentation site: it builds without a broken link, needs no network, and its generated pages are complete."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tabla
from manual import command_line, faults, grammar, notebooks, python_names
from tabla.commands.cli import COMMANDS
from tabla.languages.tabla.lexer import KEYWORDS
from tests.pages import DOCS

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it."""
    pytest.importorskip("material", reason="the site needs pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    # With --quiet, MkDocs counts no warnings, and --strict finds none.
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_in_the_site_and_in_the_navigation(site: Path) -> None:
    names = {path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")}
    made = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    shown = re.sub(r"README\.html", "index.html", "\n".join(sorted(names))).split("\n")
    assert set(shown) <= made
    listed = set(re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}


def test_no_page_needs_the_network(site: Path) -> None:
    """Addresses stand only in links that a reader may follow."""
    pages = sorted(site.rglob("*.html"))
    assert pages
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?(?:https?:)?//[^>]*>", text)
        assert not loaded, (page, loaded)
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//", style.read_text(encoding="utf-8")), style


def test_the_start_page_is_small_and_loads_nothing_else(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?([^\"'> ]+)", page)
    assert loaded == ["assets/images/favicon.png"]
    assert len(page.encode()) + (site / loaded[0]).stat().st_size < 300_000
    assert page.count("<svg") == 1 and 'id="play"' in page


def test_the_search_works_from_files(site: Path) -> None:
    """A browser reads no JSON from a file, so the index has to be a script."""
    assert (site / "search" / "search_index.js").is_file()


def test_no_slot_stays_empty(site: Path) -> None:
    slots = [path for path in DOCS.rglob("*.md") if "\n<!-- generated: " in path.read_text(encoding="utf-8")]
    assert len(slots) == 4
    for path in slots:
        page = (site / path.relative_to(DOCS)).with_suffix(".html").read_text(encoding="utf-8")
        assert "<!-- generated" not in page and len(page) > 10_000


def test_the_program_of_the_tutorial_is_built(site: Path) -> None:
    assert "the lanes wait" in (site / "tutorials" / "lms.schedule.html").read_text(encoding="utf-8")


def test_each_tutorial_offers_its_notebook(site: Path) -> None:
    for name in notebooks.names():
        page = (site / "tutorials" / f"{name}.html").read_text(encoding="utf-8")
        assert re.search(rf'</h1>\s*<p><a download="{name}.ipynb" href="{name}.ipynb">', page), name
        made = json.loads((site / "tutorials" / f"{name}.ipynb").read_text(encoding="utf-8"))
        prose = "".join(line for cell in made["cells"] if cell["cell_type"] == "markdown" for line in cell["source"])
        for target in re.findall(r"\]\((?!https?:)([^)\s#]+\.html)", prose):
            assert (site / "tutorials" / target).is_file(), (name, target)


def test_every_command_and_option_is_in_the_reference() -> None:
    assert re.findall(r"^\| \[`tabla (\w+)`\]\(commands/\1\.md\)", command_line.page(), re.MULTILINE) == list(COMMANDS)
    pages = command_line.pages()
    assert list(pages) == list(COMMANDS)
    assert all(text.startswith(f"# tabla {name}\n") for name, text in pages.items())
    train = pages["train"]
    assert "| `--epochs N` | passes over the data (default 10) |" in train
    assert "`-o FILE.npz`, `--output FILE.npz`" in train
    assert not any("%(default)" in text for text in pages.values())


def test_each_command_has_a_page_with_neighbours(site: Path) -> None:
    for name in COMMANDS:
        page = (site / "reference" / "commands" / f"{name}.html").read_text(encoding="utf-8")
        assert f"usage: tabla {name}" in page or f"tabla {name}" in page
        assert 'rel="prev"' in page and 'rel="next"' in page


def test_a_session_is_copied_without_prompts_and_output(site: Path) -> None:
    page = (site / "tutorials" / "schedule.html").read_text(encoding="utf-8")
    copied = re.findall(r'data-copy="([^"]*)" class="language-console', page)
    assert len(copied) == len(re.findall(r'class="language-console', page)) > 3
    assert all(re.fullmatch(r"(?:[a-z]\S*( .*)?\n?)+", text) for text in copied), copied


def test_programs_have_colours(site: Path) -> None:
    page = (site / "tutorials" / "schedule.html").read_text(encoding="utf-8")
    assert re.search(r'<div class="language-tabla highlight">.*?<span class="k">model</span>', page, re.DOTALL)
    kernel = (site / "kernel.html").read_text(encoding="utf-8")
    assert re.search(r'<div class="language-kernel highlight">.*?<span class="k">input</span>', kernel, re.DOTALL)


def test_the_search_puts_tutorials_before_decisions(site: Path) -> None:
    text = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    entries = json.loads(text.removeprefix("var __index = "))["docs"]
    boosts = {entry["location"].split("/")[0]: entry.get("boost", 1) for entry in entries if "/" in entry["location"]}
    assert boosts["tutorials"] > boosts["reference"] > 1 > boosts["decisions"]


def test_every_public_name_is_in_the_reference_of_python() -> None:
    text = python_names.page()
    assert " at 0x" not in text and "mappingproxy" not in text
    for name in tabla.__all__:
        assert name.startswith("__") or f"## tabla.{name}\n" in text
    assert "### Build.train" in text and ":class:" not in text and "``" not in re.sub(r"```text|```", "", text)


def test_every_sign_of_the_grammar_is_shown() -> None:
    text = grammar.page()
    assert all(f"'{word}'" in text for word in (*KEYWORDS, "->", "<=", ";", "("))
    assert not re.search(r"\b(MODEL|LBRACKET|error|prec)\b", text)
    assert "range      : NAME '[' expression ':' expression ']'" in text


def test_messages_are_read_with_their_cures() -> None:
    found = {message.text: message.hint for message in faults.messages()}
    assert found["this comment is never closed"] == "close it with */"
    assert ("'<folder>' is not a folder", "choose another one with -o") in {(m.text, m.hint) for m in faults.messages()}
    assert "'<text>' is not a whole number" in found
    assert len(found) > 200
    # Every message names its cure.
    assert not [message for message in faults.messages() if not message.hint and not message.varies]
    text = faults.page()
    assert all(f"## {title}" in text for title in faults.GROUPS)
    # What a message fills in has a name that a reader understands, and a limit is a number.
    filled = {name for message in faults.messages() for name in re.findall(r"<([^<>]*)>", message.text + message.hint)}
    # Most cures stand on the page; the others are put together for the program.
    assert sum(message.varies for message in faults.messages()) < 80
    python = ("...", "len", "join", "getattr", "lstrip", "dirname", "dtype", "ref attr name")
    assert not {name for name in filled if name.isupper() or "_" in name or name in python}
    assert "'<path>' has <number of members> arrays; the limit is 10,000" in found
