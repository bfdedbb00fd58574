"""Faults that a test plants into the hardware, to see that a proof refuses them; and parts that a proof cuts out."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A file of ``hw/`` in which one text, which occurs once, is replaced by another."""

    file: str
    before: str
    after: str

    @property
    def path(self) -> Path:
        """The file."""
        return _ROOT / "hw" / self.file

    def source(self) -> str:
        """Return the text of the file, without the fault."""
        return self.path.read_text(encoding="utf-8")

    def __str__(self) -> str:
        return f"{self.file}: {self.before.strip()} -> {self.after.strip()}"


def mutants(file: str, *changes: tuple[str, str]) -> tuple[Mutant, ...]:
    """Return a mutant of a file for each pair of texts, what stands there and what replaces it."""
    return tuple(Mutant(file=file, before=before, after=after) for before, after in changes)


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """Run with the mutant in place of the real component."""
    source = mutant.source()
    assert source.count(mutant.before) == 1, f"{mutant}: it occurs {source.count(mutant.before)} times"
    module = importlib.import_module("tabla.hw." + mutant.file.removesuffix(".py").replace("/", "."))
    changed = ModuleType(module.__name__)
    exec(compile(source.replace(mutant.before, mutant.after), str(mutant.path), "exec"), vars(changed))
    own = {name: value for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__}
    # Listed with the others, so that what is exchanged later is exchanged in the mutant too.
    sys.modules["verify.prove.planted.mutant"] = changed
    try:
        with exchanged({value: getattr(changed, name) for name, value in own.items()}):
            yield
    finally:
        del sys.modules["verify.prove.planted.mutant"]


@contextmanager
def exchanged(parts: Mapping[Any, Any]) -> Iterator[None]:
    """Run with other classes or functions in place of some, wherever a module of the hardware or of the proofs has
    imported them.
    """
    by_identity = {id(old): new for old, new in parts.items()}
    undo = []
    for name, module in list(sys.modules.items()):
        if name.startswith(("tabla.hw", "verify.prove", "tests.verify.prove")):
            for attribute, value in list(vars(module).items()):
                if id(value) in by_identity:
                    undo.append((module, attribute, value))
                    setattr(module, attribute, by_identity[id(value)])
    try:
        yield
    finally:
        for module, attribute, value in undo:
            setattr(module, attribute, value)
