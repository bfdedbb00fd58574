"""The page of the documentation on mutation testing: ``docs/mutation.md``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "mutation.md"

_HEAD = """\
# Which planted faults the tests catch

A *mutant* is a fault that is planted on purpose: one operator, one constant or one condition of a text is changed. If
the tests still pass, they do not look at what the change does. `make mutants` draws mutants evenly from all that the
texts can have, by a digest of each change, and goes on where an earlier run has ended. It was stopped before the end
where fewer were judged than drawn. A verdict counts as long as its change is still drawn, so none is on a line that is
gone. [Decision 32](decisions/0032-fuzzing.md) has the reasons.

A mutant that survives is a gap in these tests, or a change that makes no difference to any result and for which there
is no proof.
"""
_BENCH = """\
The mutants are those of the Verilog of a 5-6-3 network on 4 PEs. The judge is the test bench that `gen` writes beside
the Verilog, in Icarus Verilog. Of a mutant that it misses, gates are compared: those of its module, with the inputs
that are the same constant wherever the module stands, and then those of the whole design. A proof begins with the
values that registers have before the first cycle, and shows by induction that the outputs are equal in every cycle.
Another proof is for faults in the value of a register in reset: the design with the fault must meet the one without it
after the reset, or when a command comes, and the outputs must be equal up to then and ever after. No proof assumes
anything of the microcode, the inputs or the memories, but that a reset lasts as long as the manifest says. A fault in
hardware that this program does not use counts as missed.

The bench was improved with this drawing in sight."""
_ANEW = """\
These were drawn with another seed. The bench was improved with this drawing in sight, too."""
_THIRD = """\
These were drawn with a third seed, 4. They were fresh once, and 33 of 41 were caught then. Since then the bench and the
proofs were improved with this drawing in sight, too."""
_FOURTH = """\
These were drawn with seed 6. They were fresh once, and 28 of 34 were caught then. Two of the six that were missed led
to trials with other gates and nearer guards, and one to the proofs over two cycles."""
_FRESH = """\
These were drawn with seed 8 when the bench and the proofs were done, so neither was fitted to them. Since then one of
these faults has led to a longer run of samples, but the bench finds no more of them with it. The seeds 3, 5 and 7 count
as used and have no score, because faults of them were looked at before."""
_LOGISTIC = """\
The build is `examples/logistic.t` on 4 PEs. The bench was improved with the faults of the network, not with these. One
survivor is in a statement in which a fault of the network had been missed before."""
_FUNCTIONS = """\
The build is a kernel of Tensor Comprehensions on 4 PEs: it has a function, a sum and a maximum, but no model. The bench
was never improved with a look at its faults."""
_HARDWARE = """\
The first judges are a few quick tests: one program on the simulated array, the tests and short proofs of the file that
has the mutant, small programs on the simulated array, and one program in Icarus Verilog. What they miss is judged by
further tests of `make test` and by proofs that concern the folder. The first of these hold the ports and the price of
14 small designs against golden files (`tests/hw/test_bill.py`): bits of registers with and without a reset, memories
and their attributes, multipliers, adders, comparators and shifters with their widths, and the bits that synthesis must
keep. Such a test says nothing of the function. It sees that hardware has become wider, dearer or cheaper than it was.

Of a mutant that all tests miss, the Verilog of the same designs (`tests/hw/designs.py`) is written anew. A source is a
generator, so nothing is proved of all that it can generate: the proof is one for these designs."""
_CHECKER = """\
The judges are the quick tests of the checker. What they miss is judged by further quick tests of schedules."""
PRICES = "tests/hw/test_bill.py"
_TITLES: Mapping[str, tuple[str, str]] = {
    "bench": ("The test bench of `tabla gen`", _BENCH),
    "bench, drawn anew": ("The same test bench, other mutants", _ANEW),
    "bench, third": ("The same test bench, a third drawing", _THIRD),
    "bench, fourth": ("The same test bench, a fourth drawing", _FOURTH),
    "bench, fresh": ("The same test bench, fresh mutants", _FRESH),
    "bench, logistic": ("The test bench of a logistic regression", _LOGISTIC),
    "bench, functions": ("The test bench of a kernel with a function", _FUNCTIONS),
    "hw": ("The hardware, `hw/`", _HARDWARE),
    "check": ("The checker of schedules, `tabla/schedule/check/`", _CHECKER),
}


def page(known: Mapping[str, Any]) -> str:
    """Return the text of the page."""
    return "".join([_HEAD, *(_campaign(name, known[name]) for name in _TITLES if name in known)])


def _campaign(name: str, found: Mapping[str, Any]) -> str:
    title, judge = _TITLES[name]
    verdicts = list(found["verdicts"].values())
    equal = [v for v in verdicts if v.get("equivalent")]
    missed = [v for v in verdicts if not v["caught"] and not v.get("equivalent")]
    caught = len(verdicts) - len(missed) - len(equal)
    score = f"{len(verdicts)} of {found['asked']} mutants ran, and {caught} were caught"
    if prices := sum(v.get("by", "").startswith(PRICES) for v in verdicts if v["caught"]):
        score += f", {prices} of them by another port or another price"
    if equal:
        score += f"; {len(equal)} {'is' if len(equal) == 1 else 'are'} proved to change nothing"
    if caught + len(missed):
        score += f". That is {100 * caught / (caught + len(missed)):.0f} %{' of the others' if equal else ''}"
    parts = [f"\n## {title}\n\n{judge}\n\n**{score}.**\n"]
    parts += _table(verdicts)
    parts += _listed("These survive", missed)
    # The bench proves the same of the one design that it has, so it says so above.
    for proof in sorted({v["equivalent"] for v in equal if isinstance(v["equivalent"], str)}):
        parts += _listed(f"These have {proof}", [v for v in equal if v["equivalent"] == proof])
    return "".join(parts)


def _listed(title: str, verdicts: list[Mapping[str, Any]]) -> list[str]:
    if not verdicts:
        return []
    ordered = sorted(verdicts, key=lambda v: (v["file"], v["line"]))
    return [f"\n{title}:\n\n", *map(_survivor, ordered)]


def _table(verdicts: list[Mapping[str, Any]]) -> list[str]:
    every, caught = Counter(v["file"] for v in verdicts), Counter(v["file"] for v in verdicts if v["caught"])
    if len(every) < 2:
        return []
    rows = [f"| `{file}` | {every[file]} | {caught[file]} |\n" for file in sorted(every)]
    return ["\n| file | mutants | caught |\n|---|---|---|\n", *rows]


def _survivor(verdict: Mapping[str, Any]) -> str:
    remark = f" {verdict['remark']}" if "remark" in verdict else ""
    before, after = (verdict[side].replace("`", "'") for side in ("before", "after"))
    return f"- `{verdict['file']}`, line {verdict['line']}:{remark}\n  `{before}` becomes `{after}`\n"
