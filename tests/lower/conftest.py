"""Modules that the tests of this room and of the TABLA front end share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
for path in (HERE / "exact.py", HERE / "graph_lines.py", HERE.parent / "lang" / "tabla" / "random_programs.py"):
    if path.stem not in sys.modules:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        # Entered first because dataclasses look their module up there.
        sys.modules[path.stem] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
