"""``make bench-bus``: plays beats and faults at wrappers of several widths, and prints seeds and coverage.

python -m benchmarks.bus [--beats 1000000] [--seed 1] [--only NAME] [--json FILE]

The beats are shared out among the wrappers. The host is a program in C++ around the Verilog of each wrapper, which
Yosys translates to C++. It ends at the first word, bit or cycle that is not as docs/host-bus.md says. FILE gets the
figures, and a file beside it with the suffix ``.md`` the tables.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import tabla
from benchmarks.bus.measure import WRAPPERS, markdown, measured


def main(words: list[str]) -> int:
    """Measure each wrapper, and write the files again after each of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bus")
    parser.add_argument("--beats", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(words)
    chosen = [wrapper for wrapper in WRAPPERS if asked.only in wrapper.name]
    found: list[dict[str, Any]] = []
    for number, wrapper in enumerate(chosen):
        found.append(measured(wrapper, seed=asked.seed + number, beats=-(-asked.beats // len(chosen))))
        row = found[-1]
        print(f"{row['wrapper']}: seed {row['seed']}, {row['beats']:,} beats, {row['cycles']:,} cycles", flush=True)
        if asked.json is not None:
            content = {"schema": "tabla-bus-1", "tool": f"tabla {tabla.__version__}", "wrappers": found}
            asked.json.parent.mkdir(parents=True, exist_ok=True)
            asked.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
            asked.json.with_suffix(".md").write_text(markdown(found), encoding="utf-8")
    print(markdown(found), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
