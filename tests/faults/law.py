"""The law of a power cut: whatever is given its final name is on the disk by then, with all that is below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from tests.faults.steps import Step


def broken(steps: Sequence[Step], finals: Sequence[str]) -> Iterator[str]:
    """Yield what a power cut could take from the outputs `finals`, by the steps of a process that wrote them.

    Before a rename to a final name, each file and each folder below what is renamed must have been brought onto the
    disk after its last change. When the process ends, so must the folders that hold the names, and the files of
    `finals` that were written in place.
    """
    changed: set[str] = set()
    for number, step in enumerate(steps):
        match step.kind:
            case "open" | "mkdir":
                changed |= {step.path, _above(step.path)}
            case "write" | "sendfile" | "truncate" | "ftruncate":
                changed.add(step.path)
            case "fsync":
                changed.discard(step.path)
            case "rename" | "exchange" | "link":
                if step.to in finals:
                    for path in sorted(p for p in changed if p == step.path or PurePath(p).is_relative_to(step.path)):
                        yield f"step {number}: '{step.to}' gets its name before '{path}' is on the disk"
                changed = {p for p in changed if not PurePath(p).is_relative_to(step.path)}
                changed |= {_above(step.path), _above(step.to)}
    for final in finals:
        for path in (final, _above(final)):
            if path in changed:
                yield f"at the end '{path}' is not on the disk"


def _above(path: str) -> str:
    return str(PurePath(path).parent)
