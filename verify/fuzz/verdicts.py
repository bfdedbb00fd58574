"""The verdicts on planted faults, which a run keeps so that the next one goes on where it ended."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KEPT = Path(__file__).with_name("verdicts.json")


def known(kept: Path = KEPT) -> dict[str, Any]:
    """Return the verdicts that are kept, by campaign."""
    if not kept.is_file():
        return {}
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def judged(campaign: str, kept: Path = KEPT) -> dict[str, Any]:
    """Return the verdicts of a campaign by the keys of their faults."""
    found: dict[str, Any] = known(kept).get(campaign, {}).get("verdicts", {})
    return found


def keep(campaign: str, asked: int, key: str, verdict: Mapping[str, Any], kept: Path = KEPT) -> None:
    """Write the verdict on a fault beside the others. `asked` is the number of faults that the campaign has drawn."""
    with _alone(kept):
        every = known(kept)
        mine = every.setdefault(campaign, {"asked": 0, "verdicts": {}})
        mine["asked"] = max(asked, mine["asked"])
        mine["verdicts"][key] = dict(verdict)
        _write(every, kept)


def keep_only(campaign: str, keys: Collection[str], kept: Path = KEPT) -> None:
    """Forget the verdicts of a campaign on faults that are no longer drawn, such as those of lines that are gone."""
    with _alone(kept):
        every = known(kept)
        if campaign in every:
            verdicts = every[campaign]["verdicts"]
            every[campaign] = {"asked": len(keys), "verdicts": {key: verdicts[key] for key in keys if key in verdicts}}
            _write(every, kept)


@contextmanager
def _alone(kept: Path) -> Iterator[None]:
    """Wait until no other campaign writes its verdicts."""
    folder = os.open(kept.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _write(every: Mapping[str, Any], kept: Path) -> None:
    fresh = kept.with_suffix(".new")
    fresh.write_text(json.dumps(dict(sorted(every.items())), indent=1) + "\n", encoding="utf-8")
    fresh.replace(kept)
