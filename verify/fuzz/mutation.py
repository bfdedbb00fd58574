"""Mutation testing: ``python -m verify.fuzz.mutation hw`` plants faults into the sources of the hardware, one at a
time.

A run goes on where one before it has ended. The page of the documentation shows what was caught, and by what not.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.schedule.kept import KEPT_FOLDER
from verify.fuzz.equal_designs import Designs
from verify.fuzz.judges import Judge, judge_of
from verify.fuzz.mutation_page import PAGE, page
from verify.fuzz.planting import ROOT, Copy
from verify.fuzz.source_mutants import SourceMutant, source_mutants
from verify.fuzz.verdicts import judged, keep, keep_only, known

CAMPAIGNS: Mapping[str, str] = {"hw": "hw", "check": "tabla/schedule/check"}
"""The folder whose sources a campaign changes."""


def files_of(campaign: str) -> list[str]:
    """Return the sources of a campaign, in the order of their paths."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / CAMPAIGNS[campaign]).rglob("*.py"))


def run(
    campaign: str, count: int, seed: int, seconds: float, *, survivors: bool = False, only: Sequence[str] = ("",)
) -> None:
    """Judge the faults that were not judged yet, until the time is over. With `survivors`, judge these again, too, by
    the tests of their folders alone: the others have missed them. `only` is how the paths of the files begin,
    those that are judged first before the others.
    """
    end, drawn = time.monotonic() + seconds, source_mutants(ROOT, files_of(campaign), count, seed)
    keep_only(campaign, [mutant.key for mutant in drawn])
    before = judged(campaign)
    settled = {key for key, verdict in before.items() if verdict["caught"] or verdict.get("equivalent")}
    done = settled if survivors else before.keys()
    waiting = [mutant for mutant in drawn if mutant.key not in done and mutant.file.startswith(tuple(only))]
    waiting.sort(key=lambda mutant: next(n for n, start in enumerate(only) if mutant.file.startswith(start)))
    with tempfile.TemporaryDirectory(prefix="tabla-mutation-") as home:
        # Judges keep here what no fault of this campaign changes.
        os.environ[KEPT_FOLDER] = str(Path(home) / "kept") if campaign == "check" else ""
        copy = Copy.made(Path(home) / "copy")
        trial = _Trial(copy=copy, missed_before=frozenset(before))
        if campaign == "check" and waiting:
            judge = judge_of(waiting[0].file)
            trial.refuse_failing(judge.wider if survivors else judge.tests)
        for mutant in waiting:
            if time.monotonic() > end:
                break
            verdict = trial.verdict(mutant)
            keep(campaign, count, mutant.key, verdict)
            _say(mutant, f"caught by {verdict['by']}" if verdict["caught"] else "missed")
        if campaign == "hw":
            _compare(
                [m for m in drawn if m.file.startswith(tuple(only))], Designs(copy.root, Path(home)), copy, count, end
            )


@dataclass(slots=True, kw_only=True)
class _Trial:
    """The judging of faults in a copy of the checkout. `sound` are tests that are known to pass without a fault."""

    copy: Copy
    missed_before: frozenset[str]
    sound: set[str] = field(default_factory=set)

    def verdict(self, mutant: SourceMutant) -> dict[str, Any]:
        """Judge a fault. Tests that have missed it in an earlier run are not run again."""
        judge = judge_of(mutant.file)
        tests = judge.wider if mutant.key in self.missed_before else (*judge.tests, *judge.wider)
        with self.copy.planted(mutant):
            outcome = self.copy.judged(tests, judge.limit)
        # A test that fails without the fault, too, has found nothing.
        test = outcome.failed.partition(" - ")[0]
        if not outcome.passed and test not in self.sound:
            self.refuse_failing([test] if "::" in test else tests)
            self.sound.add(test)
        return {
            "file": mutant.file,
            "line": mutant.line,
            "before": mutant.before,
            "after": mutant.after,
            "caught": not outcome.passed,
            "by": test,
            "seconds": round(outcome.seconds, 1),
        }

    def refuse_failing(self, tests: Sequence[str]) -> None:
        """Run tests without a fault, which also makes what they keep."""
        alone = self.copy.judged(tests, Judge.limit)
        if not alone.passed:
            raise SystemExit(f"error: {alone.failed} fails without a fault")


def _compare(drawn: Sequence[SourceMutant], designs: Designs, copy: Copy, count: int, end: float) -> None:
    """Look whether the faults of the hardware that all tests have missed change any design of a set."""
    verdicts = judged("hw")
    missed = [m for m in drawn if m.key in verdicts and not verdicts[m.key]["caught"]]
    missed = [m for m in missed if not verdicts[m.key].get("equivalent")]
    if not missed or time.monotonic() > end:
        return
    designs.write_sound()
    for mutant in missed:
        if time.monotonic() > end:
            return
        with copy.planted(mutant):
            equivalent = designs.equivalent()
        if equivalent:
            keep("hw", count, mutant.key, verdicts[mutant.key] | {"equivalent": equivalent})
        _say(mutant, equivalent or "SURVIVES")


def _say(mutant: SourceMutant, said: str) -> None:
    print(f"{mutant.file}:{mutant.line}: {said}\n  {mutant.before}\n  {mutant.after}", flush=True)


def main() -> None:
    """Run a campaign and write the page of all."""
    parser = argparse.ArgumentParser(prog="python -m verify.fuzz.mutation", description=__doc__)
    parser.add_argument("campaign", choices=sorted(CAMPAIGNS))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no fault after so long")
    parser.add_argument("--survivors", action="store_true", help="judge the faults that survived again, too")
    parser.add_argument("--only", nargs="+", default=[""], help="judge only faults in files whose paths begin so")
    asked = parser.parse_args()
    run(asked.campaign, asked.count, asked.seed, asked.seconds, survivors=asked.survivors, only=asked.only)
    PAGE.write_text(page(known()), encoding="utf-8")


if __name__ == "__main__":
    main()
