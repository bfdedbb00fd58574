"""``python -m verify.prove``: prove every subject, or plant every mutant; write the page of the documentation."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from verify.prove.page import MEASURED, PAGE, page
from verify.prove.registry import SUBJECTS, named
from verify.prove.subject import Speed, Subject


def main(words: list[str]) -> int:
    """Run the command and return its exit status: 1 if a claim does not hold or a mutant is not refused."""
    parser = argparse.ArgumentParser(prog="python -m verify.prove", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the subjects of the quick half")
    parser.add_argument("--mutants", action="store_true", help="plant the mutants instead")
    parser.add_argument("--only", default="", help="a word of the subjects' names")
    parser.add_argument("--missing", action="store_true", help="only the subjects that were never measured")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--record", action="store_true", help=f"write {MEASURED.name} and {PAGE.name}")
    chosen = parser.parse_args(words)
    subjects = [s for s in SUBJECTS if chosen.only in s.name and not (chosen.quick and s.speed is Speed.LONG)]
    if chosen.missing:
        subjects = [subject for subject in subjects if subject.name not in _known()]
    started = time.monotonic()
    failed = 0
    for name, line, fine, figures in _done(subjects, mutants=chosen.mutants, workers=chosen.workers):
        print(line, flush=True)
        failed += not fine
        if chosen.record and fine and not chosen.mutants:
            _record(name, figures)
    print(f"{failed} of them failed; {time.monotonic() - started:.0f} s on {chosen.workers} workers")
    return int(failed > 0)


def _record(found: str, figures: dict[str, Any]) -> None:
    """Write the figures of a subject beside those of the others, and the page of all."""
    known = _known()
    known[found] = figures
    measured = {subject.name: known[subject.name] for subject in SUBJECTS if subject.name in known}
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(measured), encoding="utf-8")


def _known() -> dict[str, Any]:
    """Return the figures of the subjects that were measured."""
    known: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.is_file() else {}
    return known


def _done(subjects: list[Subject], *, mutants: bool, workers: int) -> Iterator[tuple[str, str, bool, dict[str, Any]]]:
    """Run the longest subjects first, and yield the name of each, a line to print, whether it is as it should be, and
    its figures.
    """
    order = sorted(subjects, key=lambda subject: subject.speed is not Speed.LONG)
    with ProcessPoolExecutor(max_workers=workers) as pool:
        work = _mutants if mutants else _proof
        for task in as_completed([pool.submit(work, subject.name) for subject in order]):
            yield task.result()


def _proof(name: str) -> tuple[str, str, bool, dict[str, Any]]:
    before = _processor_seconds()
    try:
        verdict = named(name).proved()
    except Exception as fault:  # the others go on
        return name, f"{name}: {type(fault).__name__}: {fault}", False, {}
    seconds = _processor_seconds() - before
    figures = {"assertions": verdict.assertions, "seconds": round(seconds, 1)}
    line = f"{name}: {verdict.assertions} claims, {seconds:.1f} s of processor time"
    return name, line if verdict.holds else f"{line}\n{verdict.found}", verdict.holds, figures


def _mutants(name: str) -> tuple[str, str, bool, dict[str, Any]]:
    subject = named(name)
    try:
        verdicts = [(mutant, subject.refuted(mutant)) for mutant in subject.mutants]
    except Exception as fault:
        return name, f"{name}: {type(fault).__name__}: {fault}", False, {}
    survivors = [str(mutant) for mutant, verdict in verdicts if verdict.holds]
    reached = sum(verdict.reached for _, verdict in verdicts)
    line = f"{name}: {len(verdicts) - len(survivors)} of {len(verdicts)} mutants refused, {reached} from the start"
    return name, "\n  survives: ".join((line, *survivors)), not survivors, {}


def _processor_seconds() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.exit(main(sys.argv[1:]))
