"""The hook of MkDocs: generated text in its place, the marks of code blocks, and pages of a real build.

A page of ``docs/`` asks for generated text with a line such as ``<!-- generated: command line -->``. A code block says
with ``file=layer.py`` which file it is, and with ``slow`` that only ``make docs-test`` runs it
(``tests/test_documentation.py``). Readers see the name of the file above the block.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

import tabla
from manual import colours, command_line, faults, grammar, lexers, notebooks, python_names

WRITERS: dict[str, Callable[[], str]] = {
    "command line": command_line.page,
    "python": python_names.page,
    "grammar": grammar.page,
    "errors": faults.page,
}
COMMANDS_FOLDER = f"reference/{command_line.FOLDER}"
# How much a page counts in the search, by where it lies. Pages that show how to use the tool come first.
BOOSTS = {
    "tutorials/": 6.0,
    "reference/errors": 0.5,
    "reference/": 2.0,
    "glossary": 2.0,
    "decisions/": 0.3,
    "extend/": 0.5,
}
SLOT = re.compile(r"^<!-- generated: ([\w ]+) -->$", re.MULTILINE)
LANGUAGES = {end: language.alias for language in colours.LANGUAGES for end in language.ends}
FENCE = re.compile(r"^```(\w+)((?: file=\S+| slow)+)$", re.MULTILINE)
# The tutorial whose program is built for the site, and the program's file.
BUILT = ("tutorials/schedule.md", "lms.t")
DRAWING = re.compile(r'<p><img [^>]*src="array.svg"[^>]*></p>')
SESSION = re.compile(r'<div class="language-console highlight">(.*?)</div>', re.DOTALL)
CONTROLS = """<figcaption><button id="back" aria-label="one cycle back">◂</button><button id="play">Pause</button>
<button id="on" aria-label="one cycle on">▸</button> <output id="cycle"></output>
One sample of the real schedule; the next one comes in meanwhile.</figcaption>
"""
# The theme takes from the network what its search needs on pages that are opened from files. This script stands in.
FROM_NETWORK, OURS = "https://unpkg.com/iframe-worker/shim", "javascripts/file-worker.js"


def on_config(config: Any) -> Any:
    """Put a page for each command into the navigation, and our lexers beside those of Pygments."""
    lexers.register()
    (reference,) = (item["Reference"] for item in config.nav if "Reference" in item)
    (commands,) = (item["Commands"] for item in reference if isinstance(item, dict) and "Commands" in item)
    commands += [{f"tabla {name}": f"{COMMANDS_FOLDER}/{name}.md"} for name in command_line.pages()]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the commands' pages, the notebooks, and what the tutorial's build shows. MkDocs calls this function once."""
    for name, text in command_line.pages().items():
        files.append(File.generated(config, f"{COMMANDS_FOLDER}/{name}.md", content=text))
    for name in notebooks.names():
        files.append(File.generated(config, f"tutorials/{name}.ipynb", content=notebooks.written(name)))
    page, program = BUILT
    text = (Path(config.docs_dir) / page).read_text(encoding="utf-8")
    body = text.split(f" file={program}\n")[1].split("```")[0]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / program
        source.write_text(body, encoding="utf-8")
        written = tabla.compile(source).write(Path(folder) / "build")
        for name in ("schedule.html", "graph.svg"):
            content = (written / f"{source.stem}.{name}").read_text(encoding="utf-8")
            path = f"{Path(page).parent}/{source.stem}.{name}"
            files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the Markdown of a page as MkDocs shall read it. MkDocs calls this function for each page."""
    if page.is_homepage:
        page.meta["template"] = "start.html"
    boosts = [boost for start, boost in BOOSTS.items() if page.file.src_uri.startswith(start)]
    page.meta["search"] = {"boost": boosts[0] if boosts else 1.0}
    tutorial = Path(page.file.src_uri)
    if tutorial.parent.name == "tutorials" and tutorial.stem in notebooks.names():
        # Under the title.
        markdown = markdown.replace("\n\n", f"\n\n{notebooks.link(tutorial.stem)}\n\n", 1)
    return FENCE.sub(_titled, SLOT.sub(lambda slot: WRITERS[slot[1]](), markdown))


def on_page_content(html: str, page: Any, config: Any, **_: Any) -> str:
    """Return the content of a page. The drawing of the start page is put into it, so that a script can play it."""
    html = SESSION.sub(_without_prompts, html)
    if not page.is_homepage:
        return html
    drawing = (Path(config.docs_dir) / "array.svg").read_text(encoding="utf-8")
    html, found = DRAWING.subn(lambda _: f"<figure>\n{drawing}{CONTROLS}</figure>", html)
    assert found == 1, "the start page has one drawing"
    # Who has no mouse scrolls a wide block with the keys, once it can be focused.
    return html.replace("<pre>", '<pre tabindex="0">')


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Return the HTML of a page. MkDocs calls this function for each page."""
    output = output.replace('role="dialog">', 'role="dialog" aria-label="Search">')
    return output.replace(FROM_NETWORK, get_relative_url(OURS, page.url))


def on_post_template(output_content: str, **_: Any) -> str:
    """Return the HTML of a page that is no page of ``docs/``, such as 404.html."""
    return output_content.replace(FROM_NETWORK, OURS)


def _titled(fence: re.Match[str]) -> str:
    """Return the head of a code block with its file as the title. The file's name tells its language."""
    named = re.search(r"file=(\S+)", fence[2])
    if named is None:
        return f"```{fence[1]}"
    language = LANGUAGES.get(Path(named[1]).suffix, fence[1]) if fence[1] == "text" else fence[1]
    return f'```{language} title="{named[1]}"'


def _without_prompts(session: re.Match[str]) -> str:
    """Let the button of a session copy its commands alone, without prompts and without what they print."""
    text = re.sub(r"<[^>]*>", "", session[1])
    commands = "\n".join(line[2:] for line in unescape(text).splitlines() if line.startswith("$ "))
    return session[0].replace("<div", f'<div data-copy="{escape(commands)}"', 1)
