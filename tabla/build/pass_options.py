"""The options that show the passes of a build at work. They change nothing of the build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabla.base.kinds import Names, Switch
from tabla.base.options import Record, option
from tabla.graph.passes.framework import pass_named
from tabla.graph.passes.pipeline import all_passes

ALL = "all"
_PASSES, _COMMANDS = "the passes of the compiler", ("gen", "check", "bound", "load")


@dataclass(frozen=True, kw_only=True)
class PassOptions(Record):
    """What to show of the passes: the texts of graphs after those of `print_after`, and with `time_passes` a table of
    all runs.

    An unknown pass is a `TablaValueError`.
    """

    print_after: Sequence[str] = option(
        Names(),
        "print the text of the graph after each run of this pass, or after all (see tabla pass)",
        default=(),
        group=_PASSES,
        commands=_COMMANDS,
        metavar="PASS",
        example="fold-constants",
    )
    time_passes: bool = option(
        Switch(),
        "print a table to standard error: the seconds of each run of a pass, and the operations before and after it",
        default=False,
        group=_PASSES,
        commands=_COMMANDS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.print_after:
            if name != ALL:
                pass_named(name, all_passes())

    def prints(self, name: str) -> bool:
        """Return whether the graph is printed after the pass with a name."""
        return name in self.print_after or ALL in self.print_after
