"""A generated program and the recipe of its accelerator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from tabla.base.source import Source
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.graph.format import Format

DECISION = "h"
"""The value by which every program decides: an element for each output, before any squashing."""
INPUT, LABEL, DECAY = "x", "y", "decay"
"""The measurements of a sample, its label, and how much the sample shrinks the weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A TABLA program: its name, its text, and the values of its constants by name."""

    name: str
    text: str = field(repr=False)
    constants: tuple[tuple[str, str], ...]

    def __call__(self, options: Options) -> Build:
        """Return the build of the program with some options. Its stages are made when they are asked for."""
        return build(Source.from_text(self.text, f"{self.name}.t"), replace(options, defines=dict(self.constants)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that an accelerator follows from: a program, a number format, guard bits, and an array."""

    program: Program
    format: str
    model_guard: int
    minibatch: int
    pes: int

    @property
    def options(self) -> Options:
        """The options of the build."""
        return Options(
            format=self.format,
            model_guard=self.model_guard,
            minibatch=self.minibatch,
            pes=self.pes,
            results=(DECISION,),
        )

    @property
    def number_format(self) -> Format:
        """The format of the words."""
        return Format.parse(self.format)

    def build(self) -> Build:
        """Return the accelerator. The last few are remembered, so that each of them is scheduled once."""
        return _build(self)


@lru_cache(maxsize=64)
def _build(recipe: Recipe) -> Build:
    return recipe.program(recipe.options)
