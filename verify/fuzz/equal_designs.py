"""Whether a fault in the sources of the hardware changes any of the designs of ``tests/hw/designs.py``.

A source is a generator of hardware, so there is no proof for all that it can generate. There is one for each design of
a set that is written down: its Verilog is the same, byte for byte, or each module of it that has changed is proved to
do as before.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from verify.fuzz.equivalence import gates_of
from verify.fuzz.induction import same_by_induction

SAME = "the same Verilog of all designs, byte for byte"
EQUAL = "other Verilog of the designs, each module of which is proved to do as before"
_LONGEST = 1200.0
_MODULE = re.compile(r"^module (\w+) (.*?)^endmodule\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Designs:
    """The designs of a checkout at `root`, which are written into folders below `home`."""

    root: Path
    home: Path

    def write_sound(self) -> None:
        """Write the designs of the checkout, which has no fault now."""
        if not self._written("sound"):
            raise SystemExit("error: the designs of tests/hw/designs.py cannot be written")

    def equivalent(self) -> str:
        """Return what the fault that the checkout has now makes of the designs: `SAME`, `EQUAL`, or "" if neither is
        proved.
        """
        if not self._written("faulty"):
            return ""
        return compared(*(self._read(name) for name in ("sound", "faulty")))

    def _read(self, name: str) -> dict[str, str]:
        return {path.name: path.read_text(encoding="utf-8") for path in sorted((self.home / name).iterdir())}

    def _written(self, name: str) -> bool:
        shutil.rmtree(self.home / name, ignore_errors=True)
        environment = os.environ | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "tests.hw.designs", str(self.home / name)]
        try:
            done = subprocess.run(command, cwd=self.root, env=environment, timeout=_LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def compared(sound: dict[str, str], faulty: dict[str, str]) -> str:
    """Return what is proved of two sets of designs, each the Verilog by name."""
    if sound == faulty:
        return SAME
    return EQUAL if all(_equal(sound[name], faulty[name]) for name in sound) else ""


def _equal(sound: str, faulty: str) -> bool:
    """Return whether each module of a design that has changed is proved to do as before."""
    one, other = dict(_MODULE.findall(sound)), dict(_MODULE.findall(faulty))
    if one.keys() != other.keys():
        return False
    for module in (name for name, text in one.items() if text != other[name]):
        found, changed = gates_of(sound, module), gates_of(faulty, module)
        if found is None or changed is None or not same_by_induction(found, changed):
            return False
    return True
