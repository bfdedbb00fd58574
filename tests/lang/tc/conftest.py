"""Puts the checkout on the path, so that tests import the interpreter and the programs as ``tests.lang.tc``."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parents[3])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)
