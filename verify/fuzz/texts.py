"""``make fuzz-texts``: gives changed texts and files to every reader of the tool, and reports each fault once."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from verify.fuzz.sandbox import Outcome, outcomes
from verify.fuzz.subjects import SUBJECTS, Subject


@dataclass(kw_only=True)
class Swept:
    """What a sweep over one subject has found: how many inputs had each outcome, and the faults of ours."""

    name: str
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    largest: int = 0
    faults: dict[str, tuple[bytes, Outcome]] = field(default_factory=dict)

    def line(self) -> str:
        """Return a line for the report."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.kinds.items()))
        return f"{self.name:<14}{kinds}; at most {self.slowest:.1f} s and {self.largest / 1e6:.0f} MB"


def inputs(subject: Subject, count: int, seed: int) -> list[bytes]:
    """Return so many inputs. Those of a smaller count are the first ones of a larger one."""
    return [subject.draw(Random(f"{subject.name} {seed} {number}")) for number in range(count)]


def swept(subject: Subject, count: int, seed: int) -> Swept:
    """Give so many inputs to a subject."""
    found = Swept(name=subject.name)
    cases = inputs(subject, count, seed)
    for data, outcome in zip(cases, outcomes(subject.read, cases), strict=True):
        found.kinds[outcome.kind] += 1
        found.slowest = max(found.slowest, outcome.seconds)
        found.largest = max(found.largest, outcome.bytes)
        if outcome.faulty:
            key = f"{outcome.kind} {_place_of(outcome)}"
            if key not in found.faults or len(data) < len(found.faults[key][0]):
                found.faults[key] = (data, outcome)
    return found


def _place_of(outcome: Outcome) -> str:
    """Return what tells one fault from another: the last line of our code in a traceback, and the exception."""
    lines = outcome.said.splitlines()
    places = [line.strip() for line in lines if line.strip().startswith("File ") and "/fuzz/sandbox" not in line]
    if outcome.kind == "slow":
        return ""
    return " ".join([*places[-1:], lines[-1][:60] if lines else ""])


def main() -> int:
    """Sweep over the subjects that the command line names, and write the input of each fault into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="inputs for each subject")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(SUBJECTS), help="subjects, divided by commas")
    parser.add_argument("--faults", type=Path, default=Path("fuzz-faults"), help="the folder for inputs that fail")
    asked = parser.parse_args()
    failed = 0
    for name in asked.only.split(","):
        began = time.monotonic()
        found = swept(SUBJECTS[name](), asked.count, asked.seed)
        print(f"{found.line()}; {time.monotonic() - began:.0f} s in all", flush=True)
        for number, (data, outcome) in enumerate(found.faults.values()):
            failed += 1
            asked.faults.mkdir(parents=True, exist_ok=True)
            path = asked.faults / f"{name}-{number}"
            path.write_bytes(data)
            print(f"  {outcome.kind}: {path}\n    " + "\n    ".join(outcome.said.splitlines()[-6:]), flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
