"""``python -m tabla`` and the ``tabla`` script."""

import sys

from tabla.cli import main as _main


def main() -> None:
    """Run the command line and leave with its status."""
    sys.exit(_main())


if __name__ == "__main__":
    main()
