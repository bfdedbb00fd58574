"""Mutation testing: ``python -m tests.fuzz.mutation hw`` plants faults into the sources of the hardware, one at a time.

A run goes on where one before it has ended. The page of the documentation shows what was caught, and by what not.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tests.fuzz.judges import Judge, judge_of
from tests.fuzz.mutation_page import PAGE, page
from tests.fuzz.planting import ROOT, Copy
from tests.fuzz.source_mutants import source_mutants
from tests.fuzz.verdicts import judged, keep, keep_only, known
from tests.schedule.kept import KEPT_FOLDER

CAMPAIGNS: Mapping[str, str] = {"hw": "hw", "check": "tabla/schedule/check"}
"""The folder whose sources a campaign changes."""


def files_of(campaign: str) -> list[str]:
    """Return the sources of a campaign, in the order of their paths."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / CAMPAIGNS[campaign]).rglob("*.py"))


def run(campaign: str, count: int, seed: int, seconds: float, *, survivors: bool = False) -> None:
    """Judge the faults that were not judged yet, until the time is over; with `survivors`, judge these again, too."""
    end, drawn = time.monotonic() + seconds, source_mutants(ROOT, files_of(campaign), count, seed)
    keep_only(campaign, [mutant.key for mutant in drawn])
    done = {key for key, verdict in judged(campaign).items() if verdict["caught"] or not survivors}
    with tempfile.TemporaryDirectory(prefix="tabla-mutation-") as home:
        # Judges keep here what no fault of this campaign changes.
        os.environ[KEPT_FOLDER] = str(Path(home) / "kept") if campaign == "check" else ""
        copy, sound = Copy.made(Path(home) / "copy"), set[str]()
        if campaign == "check":
            _refuse_failing(copy, judge_of(drawn[0].file))
        for mutant in drawn:
            if mutant.key in done or time.monotonic() > end:
                continue
            judge = judge_of(mutant.file)
            with copy.planted(mutant):
                outcome = copy.judged(judge.tests, judge.limit)
            # A test that fails without the fault, too, has found nothing.
            test = outcome.failed.partition(" - ")[0]
            if not outcome.passed and test not in sound:
                alone = copy.judged([test] if "::" in test else judge.tests, judge.limit)
                if not alone.passed:
                    raise SystemExit(f"error: {test} fails without a fault: {alone.failed}")
                sound.add(test)
            verdict = {
                "file": mutant.file,
                "line": mutant.line,
                "before": mutant.before,
                "after": mutant.after,
                "caught": not outcome.passed,
                "by": test,
                "seconds": round(outcome.seconds, 1),
            }
            keep(campaign, count, mutant.key, verdict)
            said = f"caught by {test}" if not outcome.passed else "SURVIVES"
            print(f"{mutant.file}:{mutant.line}: {said}\n  {mutant.before}\n  {mutant.after}", flush=True)


def _refuse_failing(copy: Copy, judge: Judge) -> None:
    """Run a judge without a fault, which also makes what it keeps."""
    alone = copy.judged(judge.tests, judge.limit)
    if not alone.passed:
        raise SystemExit(f"error: {alone.failed} fails without a fault")


def main() -> None:
    """Run a campaign and write the page of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.mutation", description=__doc__)
    parser.add_argument("campaign", choices=sorted(CAMPAIGNS))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no fault after so long")
    parser.add_argument("--survivors", action="store_true", help="judge the faults that survived again, too")
    asked = parser.parse_args()
    run(asked.campaign, asked.count, asked.seed, asked.seconds, survivors=asked.survivors)
    PAGE.write_text(page(known()), encoding="utf-8")


if __name__ == "__main__":
    main()
