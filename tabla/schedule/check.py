"""The checker (in work)."""

from __future__ import annotations

from typing import Any


def check(schedule: Any) -> None:
    """Refuse a schedule that breaks a law."""
