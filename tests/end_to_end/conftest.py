"""Puts the checkout and the front end's random programs on the path."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
for folder in (_ROOT, _ROOT / "tests" / "lang" / "tabla", _ROOT / "tests" / "schedule", _ROOT / "tests" / "end_to_end"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
