"""What a file of models tells of the accelerator that learnt them: the array ``tabla.recipe`` beside the models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.npz import RESERVED
from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.learn.data.classes import Classes

NAME = f"{RESERVED}recipe"
"""The name of the array. Its one element is a text of JSON."""
SCHEMA, VERSION = "tabla-recipe", 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecipe:
    """The number format in which models were learnt, with the `guard` bits of those that learn.

    `saturate` says whether data outside of the format's range was taken for its nearest word. `classes` are those that
    the labels were, if they were classes.
    """

    format: str
    guard: int = 0
    saturate: bool = False
    classes: Classes | None = None

    def stored(self) -> dict[str, NDArray[Any]]:
        """Return the array that lies beside the models, by its name."""
        fields: dict[str, Any] = {"format": self.format, "model_guard": self.guard, "saturate": self.saturate}
        if self.classes is not None:
            kept = ("count", "low", "threshold")
            fields["classes"] = {name: getattr(self.classes, name) for name in kept}
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
    classes = _classes(found.get("classes"))
    return ModelRecipe(format=str(number), guard=guard, saturate=found.get("saturate") is True, classes=classes)


def _classes(found: object) -> Classes | None:
    """Return the classes that a recipe has. What is no such entry is passed over: the models are right without it."""
    match found:
        case {"count": int(count), "low": int() | float() as low, "threshold": int() | float() | None as threshold}:
            return Classes(count=count, low=low, threshold=threshold) if count >= 2 else None
        case _:
            return None
