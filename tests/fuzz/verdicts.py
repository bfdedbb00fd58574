"""The verdicts on planted faults, which a run keeps so that the next one goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    every = known(kept)
    mine = every.setdefault(campaign, {"asked": 0, "verdicts": {}})
    mine["asked"] = max(asked, mine["asked"])
    mine["verdicts"][key] = dict(verdict)
    fresh = kept.with_suffix(".new")
    fresh.write_text(json.dumps(dict(sorted(every.items())), indent=1) + "\n", encoding="utf-8")
    fresh.replace(kept)
