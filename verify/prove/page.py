"""The page of the documentation that lists what is proved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from verify.prove.registry import SUBJECTS
from verify.prove.subject import Subject

PAGE = Path(__file__).resolve().parents[2] / "docs" / "proofs.md"
MEASURED = Path(__file__).with_name("measured.json")

_HEAD = """\
# What is proved of the hardware

The components of the accelerator are proved with solvers. A proof by induction holds for all words and in all cycles;
simulation can only show some of them. `make prove` makes all proofs, `make prove-quick` the shorter ones, and
`make test` those that take a second or two. [Decision 31](decisions/0031-proofs.md) says how the proofs are made, and
what they do not cover.

A *subject* is a component with certain sizes, and what is claimed of it. *Unbounded* means that an induction shows the
claims for every cycle; the number beside it says how many cycles the induction looks back. Where there is no induction,
the column says in how many cycles the claims hold. The *claims* are the assertions that reached the solver. Where the
solver is a simulation, every word goes through the component, and the claims are the words. The seconds are processor
time, measured by `make prove`.

A *mutant* is a fault that the test plants into the component. `make prove-mutants` shows that the proof refuses each of
them, and says for how many the solver found the cycles in which the faulty component goes wrong. The induction refuses
the others.
"""


def page(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of the page."""
    parts = [_HEAD]
    left = sum(subject.name not in measured for subject in SUBJECTS)
    if left:
        parts.append(f"\n{left} of {len(SUBJECTS)} subjects have no seconds here yet; `make prove` fills them in.\n")
    for group in dict.fromkeys(subject.group for subject in SUBJECTS):
        parts.append(f"\n## {group[0].upper()}{group[1:]}\n\n")
        inside = [subject for subject in SUBJECTS if subject.group == group]
        for text in dict.fromkeys(subject.property for subject in inside):
            names = [subject.name for subject in inside if subject.property == text]
            parts.append(f"- *{'; '.join(names)}*: {text}\n")
        parts.append("\n| subject | bounds | cycles | claims | solver | seconds | mutants |\n")
        parts.append("|---|---|---|---|---|---|---|\n")
        parts += [_row(subject, measured.get(subject.name, {})) for subject in inside]
    return "".join(parts)


def _row(subject: Subject, figures: Mapping[str, Any]) -> str:
    cells = (
        subject.name,
        subject.bounds,
        subject.cycles,
        figures.get("assertions", ""),
        {"z3": "Z3", "yices": "Yices"}.get(subject.solver, subject.solver),
        figures.get("seconds", ""),
        len(subject.mutants) or "",
    )
    return f"| {' | '.join(map(str, cells))} |\n"
