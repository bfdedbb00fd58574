"""The tutorials as notebooks of Jupyter, made from their Markdown: ``python -m manual.notebooks FOLDER`` writes them.

The site has them beside the tutorials' pages. They are not kept in the repository, so that a tutorial has one source.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

TUTORIALS = Path(__file__).resolve().parents[1] / "docs" / "tutorials"
BLOCK = re.compile(r"^```(?P<kind>\w+)(?P<marks>(?: file=\S+| slow)*)\n(?P<body>.*?)^```\n", re.DOTALL | re.MULTILINE)
# In the site, a page lies where its Markdown lies in docs/.
LINK = re.compile(r"(\]\((?![a-z]+:)[^)\s]*)\.md(?=[)#])")


def names() -> list[str]:
    """Return the names of all tutorials, without the page that lists them."""
    return sorted(path.stem for path in TUTORIALS.glob("*.md") if path.stem != "index")


def link(name: str) -> str:
    """Return the line of Markdown by which the page of a tutorial offers its notebook."""
    return f'[This tutorial as a notebook]({name}.ipynb){{ download="{name}.ipynb" }}'


def notebook(text: str) -> dict[str, Any]:
    """Return the notebook of a page in the format 4.5 of Jupyter.

    A file of the page becomes a cell that writes it, a block of Python a cell, and each command of a session a cell
    with what the page shows of its output. A cell of a block that takes more than ten seconds has the tag ``slow``.
    """
    cells: list[dict[str, Any]] = []
    place = 0
    for block in BLOCK.finditer(text):
        cells += _prose(text[place : block.start()])
        cells += _of_block(block)
        place = block.end()
    cells += _prose(text[place:])
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells, 1)]
    return {"cells": numbered, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def written(name: str) -> str:
    """Return the text of the notebook of a tutorial, the same for the same page."""
    page = (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


def _prose(text: str) -> list[dict[str, Any]]:
    source = LINK.sub(r"\1.html", text).strip("\n")
    return [{"cell_type": "markdown", "metadata": {}, "source": _lines(source)}] if source else []


def _of_block(block: re.Match[str]) -> list[dict[str, Any]]:
    body, slow = block["body"], " slow" in block["marks"]
    named = re.search(r" file=(\S+)", block["marks"])
    match block["kind"]:
        case _ if named:
            return [_code(f"%%writefile {named[1]}\n{body}", slow)]
        case "python":
            return [_code(body, slow)]
        case "console":
            commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE)
            return [_code(_magic(command), slow, shown) for command, shown in commands]
        case _:
            return _prose(block[0])


def _magic(command: str) -> str:
    """Return the line that runs a command in a notebook. A folder is changed for the cells that follow, too."""
    return f"%{command}" if command.startswith("cd ") else f"!{command}"


def _code(source: str, slow: bool, shown: str = "") -> dict[str, Any]:
    outputs = [{"name": "stdout", "output_type": "stream", "text": _lines(shown)}] if shown else []
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": ["slow"]} if slow else {},
        "outputs": outputs,
        "source": _lines(source.strip("\n")),
    }


def _lines(text: str) -> list[str]:
    """Return a text as the format stores it: its lines, each with its end."""
    return text.splitlines(keepends=True)


def main() -> None:
    """Write the notebooks into the folder that the command names."""
    parser = argparse.ArgumentParser(prog="python -m manual.notebooks", description="Write the tutorials as notebooks.")
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name in names():
        (folder / f"{name}.ipynb").write_text(written(name), encoding="utf-8", newline="\n")
        print(folder / f"{name}.ipynb")


if __name__ == "__main__":
    main()
