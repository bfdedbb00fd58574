"""The error of a faulty program of the machine, for which this package is to blame and never the user."""

from __future__ import annotations


class MachineFault(Exception):
    """A program breaks a law of ``docs/decisions/0003-machine.md``; whatever made the program is at fault."""
