"""Puts the checkout on the path, so that tests import the strategy and the interpreter as ``tests.ir``."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parents[2])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)
