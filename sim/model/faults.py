"""Faults of the machine's program: ours, never the user's."""

from __future__ import annotations


class MachineFault(Exception):
    """A program broke a law of ``docs/decisions/0003-machine.md``; the tool that made it is at fault."""
