"""The entry point of ``python -m tabla`` and of the ``tabla`` script."""

import gc
import os
import sys
from typing import TextIO

from tabla.base.interrupts import Interrupted, handled, ignore


def main() -> None:
    """Run the command line and exit with its status."""
    _open_streams()
    try:
        with handled():
            from tabla.commands.cli import main as run  # it imports much, so a signal may come meanwhile

            status = run()
    except Interrupted as stop:
        print(f"error: {stop}", file=sys.stderr)
        status = stop.status
    ignore()
    status = _written(status)
    # The process ends: looking for cycles of garbage among all that it made would only take time.
    gc.freeze()
    sys.exit(status)


def _open_streams() -> None:
    """Let what goes to a standard stream that was closed, as with ``>&-``, go to the null device.

    Otherwise the next file that is opened would take the number of the stream, and get what others write there. What an
    encoding does not have, such as names of files that are not UTF-8, is shown with escapes.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))
    if sys.stdout.errors == "strict" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _written(status: int) -> int:
    """Write what standard output still holds, and return the exit status: 1 if that fails after a success.

    Python would try it once more at its end, and report the failure in its own words.
    """
    try:
        sys.stdout.flush()
    except OSError as fault:
        _discard(sys.stdout)
        if not status and not isinstance(fault, BrokenPipeError):
            print(f"error: standard output cannot be written: {fault.strerror}", file=sys.stderr)
        return status or 1
    return status


def _discard(stream: TextIO) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


if __name__ == "__main__":
    main()
