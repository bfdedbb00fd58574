"""Lets the tests of this folder share their bench and the hand assembler of tests/sim.

Pytest's importlib mode adds no paths.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sim")]
