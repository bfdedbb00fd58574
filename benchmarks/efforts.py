"""What each level of ``--effort`` takes and finds: processor seconds of ``tabla gen`` and cycles of a sample."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process import measured
from tabla.examples.catalogue import EXAMPLES
from tabla.schedule.mapping.effort import EFFORTS

LEAST_EFFORT_SECONDS = 1.5
"""Processor seconds in which level 0 compiles an example, from Python's start to the microcode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffortRow:
    """One example at one level.

    `compile_seconds` are those of ``gen --emit program``. `gen_seconds` are those of all of ``gen``; the difference is
    the Verilog, which takes the same time at every level. Both are on the processor, because neighbours on a shared
    machine do not count.
    """

    example: str
    effort: int
    compile_seconds: float
    gen_seconds: float
    cycles: int

    @property
    def fine(self) -> bool:
        """Whether level 0 is as quick as it should be; the other levels have no limit."""
        return self.effort > 0 or self.compile_seconds <= LEAST_EFFORT_SECONDS


def bench_efforts(
    pes: int, examples: Sequence[str] = tuple(EXAMPLES), levels: Sequence[int] = tuple(range(len(EFFORTS)))
) -> Iterator[EffortRow]:
    """Measure each example at each level, in processes of their own."""
    for name in examples:
        for level in levels:
            words = ["gen", str(EXAMPLES[name].program), "--pes", str(pes), "--effort", str(level), "-q"]
            with tempfile.TemporaryDirectory() as folder:
                whole = measured([*words, "-o", f"{folder}/out"])
                cycles = json.loads((Path(folder) / "out" / f"{name}.json").read_text(encoding="utf-8"))["cycles"]
            yield EffortRow(
                example=name,
                effort=level,
                compile_seconds=round(measured([*words, "--emit", "program"]).processor_seconds, 2),
                gen_seconds=round(whole.processor_seconds, 2),
                cycles=cycles,
            )
