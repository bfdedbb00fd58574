"""The entry point of ``python -m tabla`` and of the ``tabla`` script."""

import sys

from tabla.cli import main as _main


def main() -> None:
    """Run the command line and exit with its status."""
    sys.exit(_main())


if __name__ == "__main__":
    main()
