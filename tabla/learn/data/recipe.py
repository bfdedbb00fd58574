"""What a file of models tells of how they were learnt: the array ``tabla.recipe`` beside the models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.npz import RESERVED
from tabla.base.source import Source, TablaError
from tabla.build.stages import Stages
from tabla.graph.format import Format
from tabla.graph.text import graph_file_text
from tabla.languages.kernel.text import kernel_text
from tabla.learn.data.classes import Classes

NAME = f"{RESERVED}recipe"
"""The name of the array. Its one element is a text of JSON."""
SCHEMA, VERSION = "tabla-recipe", 1
TEXTS = (".t", ".kernel", ".graph")
"""The notations of which a file of models keeps texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearntProgram:
    """The program that learnt some models: its `name`, and the SHA-256 of its text after ``$``.

    `notation` is the suffix of what `text` is: a ``.t`` program, with the values of constants that were given beside
    it, a ``.kernel`` or a ``.graph``. Programs of other notations are kept as their kernel, or as their graph in the
    number format of the training. A text is only ever parsed, so nothing of a program of Python is run again. Old files
    may have no text.
    """

    name: str
    sha256: str
    text: str | None
    defines: Mapping[str, str] = field(default_factory=dict)
    notation: str = TEXTS[0]

    @staticmethod
    def of(build: Stages, predict: str | None = None) -> LearntProgram:
        """Return the program of a build, whose graph also returns the value that predicts if one is named."""
        text = build.reading.text.source.text
        notation = Path(build.reading.text.original.name).suffix
        kept, defines = text, dict[str, str]()
        if notation == TEXTS[0]:
            defines = build.options.all_defines
        elif build.reading.kernel is not None:
            # A kernel has sizes, rates and derivatives that options said.
            kept, notation = kernel_text(build.reading.kernel()), TEXTS[1]
        elif notation not in TEXTS:
            # Without guard bits, which the options say again.
            graph = build.reading.lower(build.format, () if predict is None else (predict,))
            kept, notation = graph_file_text(graph, build.format, build.integers), TEXTS[-1]
        digest = hashlib.sha256(text.encode()).hexdigest()
        return LearntProgram(name=build.name, sha256=digest, text=kept, defines=defines, notation=notation)

    @property
    def source(self) -> Source | None:
        """The text as a source that has its notation, None where there is none."""
        return None if self.text is None else Source.from_text(self.text, f"{self.name}{self.notation}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecipe:
    """How models were learnt, so that others can use them.

    `format` is the number format, with the `guard` bits of the models that learn. `saturate` says whether data outside
    of its range was taken for its nearest word. `classes` are those that the labels were, if they were classes.
    `program` is what learnt them, and `how` has the options of learning by name, as texts and numbers.
    """

    format: str
    guard: int = 0
    saturate: bool = False
    classes: Classes | None = None
    program: LearntProgram | None = None
    how: Mapping[str, str | int | None] = field(default_factory=dict)

    def stored(self) -> dict[str, NDArray[Any]]:
        """Return the array that lies beside the models, by its name."""
        fields: dict[str, Any] = {"format": self.format, "model_guard": self.guard, "saturate": self.saturate}
        if self.classes is not None:
            kept = ("count", "low", "threshold")
            fields["classes"] = {name: getattr(self.classes, name) for name in kept}
        if self.program is not None:
            fields["program"] = asdict(self.program)
        fields |= {"how": dict(self.how)} if self.how else {}
        return {NAME: np.array(json.dumps({"schema": SCHEMA, "version": VERSION, **fields}))}


def recipe_in(arrays: Mapping[str, NDArray[Any]], where: str) -> ModelRecipe | None:
    """Return the recipe among the arrays of a file of models, or None if it has none.

    `where` names the file in errors. Fields that are not known are passed over, because later versions add some. A text
    that is no recipe is a `TablaError`.
    """
    if NAME not in arrays:
        return None
    try:
        found = json.loads(str(arrays[NAME][()]))
        if found["schema"] != SCHEMA:
            raise ValueError
        number, guard = Format.parse(found["format"]), found.get("model_guard", 0)
        if not isinstance(guard, int) or isinstance(guard, bool) or guard < 0:
            raise ValueError
    except (ValueError, TypeError, LookupError, RecursionError, TablaError):
        raise TablaError(
            f"the array '{NAME}' of {where} is no recipe of models",
            hint="use the file that tabla train -o wrote, or leave the array out and name the format with --format",
        ) from None
    how = found.get("how")
    return ModelRecipe(
        format=str(number),
        guard=guard,
        saturate=found.get("saturate") is True,
        classes=_classes(found.get("classes")),
        program=_program(found.get("program")),
        how=how if isinstance(how, dict) else {},
    )


def _program(found: object) -> LearntProgram | None:
    """Return the program that a recipe has. What is no such entry is passed over."""
    match found:
        case {"name": str(name), "sha256": str(digest), "text": str() | None as text, "defines": dict(defines), **more}:
            notation = more.get("notation", TEXTS[0])
            if notation not in TEXTS:  # a later version may know others
                notation, text = TEXTS[0], None
            given = {n: str(v) for n, v in defines.items()}
            return LearntProgram(name=name, sha256=digest, text=text, defines=given, notation=notation)
        case _:
            return None


def _classes(found: object) -> Classes | None:
    """Return the classes that a recipe has. What is no such entry is passed over: the models are right without it."""
    match found:
        case {"count": int(count), "low": int() | float() as low, "threshold": int() | float() | None as threshold}:
            return Classes(count=count, low=low, threshold=threshold) if count >= 2 else None
        case _:
            return None
