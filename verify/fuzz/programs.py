"""``make fuzz``: draws programs in every notation, and holds evaluation, compiled evaluation, cycle model and Verilog
against each other.

The programs come from the strategies of the rooms, and hypothesis makes a program that shows a difference smaller. A
run works in blocks, and each finished block is noted in a file, so that a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.graph.compiled.interpreted import without_compiler
from verify.fuzz.coverage import OFTEN, coverable, covered
from verify.fuzz.drawing import NOTATIONS, Drawn, drawn
from verify.fuzz.overlays import Opened, opened
from verify.fuzz.witnesses import hold

BLOCK = 10
"""The programs of a block, all of one notation."""


@dataclass(kw_only=True)
class Progress:
    """A run: its seed, the programs that were held in each notation, and how often each thing was tried."""

    seed: int
    blocks: int = 0
    held: Counter[str] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @staticmethod
    def read(path: Path, seed: int) -> Progress:
        """Return the run of this seed that a file tells of, or a new one."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["seed"] == seed:
                counters = {name: Counter(found[name]) for name in ("held", "tried")}
                return Progress(**{**found, **counters})
        except (OSError, ValueError, KeyError):
            pass
        return Progress(seed=seed)

    def write(self, path: Path) -> None:
        """Write the run, whole or not at all."""
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(vars(self), indent=1) + "\n", encoding="utf-8")
        fresh.replace(path)

    def text(self) -> str:
        """Return the report."""
        lines = [f"seed {self.seed}: {self.held.total():,} programs in {self.seconds:.0f} s"]
        lines += [f"{count:>7,} {name}" for name, count in sorted(self.held.items())]
        lines += [f"{count:>7,} {name}" for name, count in sorted(self.tried.items())]
        seldom = {*coverable(), *self.tried} - {name for name, count in self.tried.items() if count >= OFTEN}
        lines += [f"fewer than {OFTEN} times:"] * bool(seldom)
        lines += [f"{self.tried[name]:>7,} {name}" for name in sorted(seldom)]
        return "\n".join(lines)


def block(progress: Progress, overlays: Sequence[Opened] = ()) -> None:
    """Draw and hold the next block. A difference is raised, with the smallest program that shows it.

    Programs that fit one of the `overlays` run there, and some of the others on hardware of their own.
    """
    notation = list(NOTATIONS)[progress.blocks % len(NOTATIONS)]
    held, tried, left = 0, Counter[str](), [engine(progress.blocks)]

    @seed(progress.seed * 1_000_003 + progress.blocks)
    @settings(
        max_examples=BLOCK,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn(notation))
    def run(case: Drawn) -> None:
        nonlocal held
        schedule, more = hold(case, overlays, left[0])
        if any(name.startswith("engine ") for name in more):
            left[0] = None
        held += 1
        tried.update(covered(case, schedule))
        tried.update(more)

    run()
    progress.blocks += 1
    progress.held[notation] += held
    progress.tried += tried


def engine(number: int) -> str | None:
    """Return the simulator that runs the own Verilog of one program of a block, if one does.

    Of every six blocks two have CXXRTL, and in every eighth six two others have Icarus. Each notation has its turn.
    """
    turn, place = divmod(number, len(NOTATIONS))
    match (turn + place) % 3:
        case 0:
            return "cxxrtl"
        case 1 if turn % 8 == 7:
            return "icarus"
        case _:
            return None


def main() -> int:
    """Hold programs until so many were, and print what was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--progress", type=Path, default=Path("fuzz-programs.json"))
    asked = parser.parse_args()
    progress = Progress.read(asked.progress, asked.seed)
    with pytest.MonkeyPatch.context() as patch, opened() as overlays, opened("icarus") as second:
        # To compile a program takes seconds, and Python runs the same text at once.
        without_compiler(patch)
        _continue(progress, asked.count, asked.progress, (overlays, second))
    print(progress.text())
    return 0


def _continue(progress: Progress, count: int, path: Path, overlays: Sequence[Opened]) -> None:
    """Hold block after block, until so many programs were held."""
    while progress.held.total() < count:
        began = time.monotonic()
        block(progress, overlays)
        progress.seconds += time.monotonic() - began
        progress.write(path)


if __name__ == "__main__":
    sys.exit(main())
