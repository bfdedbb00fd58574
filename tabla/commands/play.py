"""``tabla play`` serves the playground to the browser of this machine, until Ctrl-C ends it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tabla.base.kinds import WholeNumber
from tabla.commands.arguments import reader
from tabla.commands.console import Console
from tabla.commands.opening import open_address


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    port = reader(WholeNumber(low=1, high=65535))
    parser.add_argument("--port", type=port, metavar="N", help="the port of the server (default: a free one)")
    text = "do not show the page in the browser; its address is printed anyway"
    parser.add_argument("--no-open", action="store_true", help=text)


def run(arguments: Namespace, console: Console) -> int:
    """Serve until a signal ends the command. What runs then is killed, and its folders are removed."""
    from tabla.commands.playground.runs import Runs
    from tabla.commands.playground.server import serving

    runs = Runs()
    with serving(arguments.port or 0, runs) as server:
        console.result(f"playground   {server.url}")
        console.flush()
        console.remark("Whoever has this address may use the playground, on this machine alone. Ctrl-C ends it.")
        console.ends_by_interrupt = True
        if not arguments.no_open:
            open_address(server.url, console)
        runs.work()
