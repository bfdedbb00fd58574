"""The entry point of ``python -m tabla`` and of the ``tabla`` script."""

import gc
import sys

from tabla.interrupts import Interrupted, handled, ignore


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        with handled():
            from tabla.cli import main as run  # it imports much, so a signal may come meanwhile

            status = run()
    except Interrupted as stop:
        print(f"error: {stop}", file=sys.stderr)
        status = stop.status
    ignore()
    # The process ends: looking for cycles of garbage among all that it made would only take time.
    gc.freeze()
    sys.exit(status)


if __name__ == "__main__":
    main()
