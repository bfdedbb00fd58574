"""The names of the program for the values of an ONNX model.

They are the model's own names, so that arrays in files have them. Other names are changed by one rule:

* A character that is none of letters, digits and ``_ . : / -`` becomes ``_``.
* A dot becomes ``_`` if the part behind the last dot is one that the tool gives to names: ``next``, ``old``, ``guard``,
  ``stored``, ``mean``, ``deviation``, ``classes``, ``columns``, ``words``, ``any``, ``flat``, or t, at or early with a
  number.
* The dot of ``constant.0`` and ``scale.0``, and of both with any other number, becomes ``_``: the tool gives such names
  to words that it loads.
* An empty name becomes ``_``. If several names are then equal, the second gets ``_2``, the third ``_3`` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tabla.languages.onnx.model import Model

_OTHER = re.compile(r"[^A-Za-z0-9_.:/-]")
_OURS = re.compile(
    r"\.(?=(next|old|guard|stored|mean|deviation|classes|columns|words|any|flat|(t|at|early)\d+)$)"
    r"|(?<=^constant)\.(?=\d+$)|(?<=^scale)\.(?=\d+$)"
)
"""The dots that become ``_``."""


def program_names(model: Model, taken: Iterable[str] = ()) -> dict[str, str]:
    """Return the name of the program for each value of a model. None of them is in `taken`."""
    values = [given.name for given in model.inputs] + list(model.arrays)
    values += [output for node in model.nodes for output in node.outputs if output]
    return distinct(values, taken)


def distinct(values: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return a name for each value, none of which is in `taken`."""
    used, names = set(taken), dict[str, str]()
    for value in dict.fromkeys(values):
        base = _OURS.sub("_", _OTHER.sub("_", value)) or "_"
        name, number = base, 1
        while name in used:
            number += 1
            name = f"{base}_{number}"
        used.add(name)
        names[value] = name
    return names
