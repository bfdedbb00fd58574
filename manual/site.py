"""The hook of MkDocs: generated text in its place, the marks of code blocks, and pages of a real build.

A page of ``docs/`` asks for generated text with a line such as ``<!-- generated: command line -->``. A code block says
with ``file=layer.py`` which file it is, and with ``slow`` that only ``make docs-test`` runs it
(``tests/test_documentation.py``). Readers see the name of the file above the block.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

import tabla
from manual import command_line, faults, grammar, python_names

WRITERS: dict[str, Callable[[], str]] = {
    "command line": command_line.page,
    "python": python_names.page,
    "grammar": grammar.page,
    "errors": faults.page,
}
SLOT = re.compile(r"^<!-- generated: ([\w ]+) -->$", re.MULTILINE)
FENCE = re.compile(r"^```(\w+)((?: file=\S+| slow)+)$", re.MULTILINE)
# The tutorial whose program is built for the site, and the program's file.
BUILT = ("tutorials/schedule.md", "lms.t")
DRAWING = re.compile(r'<p><img [^>]*src="array.svg"[^>]*></p>')
CONTROLS = """<figcaption><button id="back" aria-label="one cycle back">◂</button><button id="play">Pause</button>
<button id="on" aria-label="one cycle on">▸</button> <output id="cycle"></output>
One sample of the real schedule; the next one comes in meanwhile.</figcaption>
"""
# The theme takes from the network what its search needs on pages that are opened from files. This script stands in.
FROM_NETWORK, OURS = "https://unpkg.com/iframe-worker/shim", "javascripts/file-worker.js"


def on_files(files: Files, config: Any) -> Files:
    """Add the schedule page and the graph of the tutorial's program. MkDocs calls this function once."""
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
    return FENCE.sub(_titled, SLOT.sub(lambda slot: WRITERS[slot[1]](), markdown))


def on_page_content(html: str, page: Any, config: Any, **_: Any) -> str:
    """Return the content of a page. The drawing of the start page is put into it, so that a script can play it."""
    if not page.is_homepage:
        return html
    drawing = (Path(config.docs_dir) / "array.svg").read_text(encoding="utf-8")
    html, found = DRAWING.subn(lambda _: f"<figure>\n{drawing}{CONTROLS}</figure>", html)
    assert found == 1, "the start page has one drawing"
    # Who has no mouse scrolls a wide block with the keys, once it can be focused.
    return html.replace("<pre>", '<pre tabindex="0">')


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Return the HTML of a page. MkDocs calls this function for each page."""
    return output.replace(FROM_NETWORK, get_relative_url(OURS, page.url))


def on_post_template(output_content: str, **_: Any) -> str:
    """Return the HTML of a page that is no page of ``docs/``, such as 404.html."""
    return output_content.replace(FROM_NETWORK, OURS)


def _titled(fence: re.Match[str]) -> str:
    named = re.search(r"file=(\S+)", fence[2])
    return f"```{fence[1]}" + (f' title="{named[1]}"' if named else "")
