"""``--open`` shows a page that a command has written, in the browser of the user."""

from __future__ import annotations

import webbrowser
from argparse import ArgumentParser
from pathlib import Path

from tabla.commands.console import Console


def add_open(parser: ArgumentParser, page: str) -> None:
    """Add the option ``--open``. `page` says what is shown."""
    parser.add_argument("--open", action="store_true", help=f"show {page} in the browser")


def open_page(page: Path, console: Console) -> None:
    """Show a page in the browser. Where there is none, a remark names the file."""
    _open(page.resolve().as_uri(), str(page), console)


def open_address(address: str, console: Console) -> None:
    """Show the page at an address in the browser. Where there is none, a remark names the address."""
    _open(address, address, console)


def _open(address: str, named: str, console: Console) -> None:
    try:
        shown = webbrowser.open(address)
    except webbrowser.Error:
        shown = False
    if not shown:
        console.remark(f"note: no browser was found; open {named}")
