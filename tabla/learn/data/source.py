"""Where data may come from: files, arrays, data frames, and pairs of inputs and labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.arrays import NOTES, read_arrays, real_array
from tabla.base.npz import RESERVED
from tabla.base.parameters import checked_mapping
from tabla.base.table import Frame

ArraySource = Mapping[str, ArrayLike] | str | Path
"""Arrays by name, or the path of their file."""
DataSource = ArraySource | tuple[ArrayLike, ArrayLike] | Frame
"""Data with samples may also be a pair of the inputs and the labels, or a data frame."""
EXAMPLE = "{'x': ..., 'y': ...}"
"""The cure of a value that is no data."""


def reals(given: ArraySource, what: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of real numbers that the parameter `what` gives, or the file that it names.

    The texts that lie beside models stay texts.
    """
    if isinstance(given, str | Path):
        return read_arrays(Path(given))
    checked_mapping(what, given, EXAMPLE)
    return {
        name: np.asarray(array, dtype=str)
        if name.endswith(NOTES) or name.startswith(RESERVED)
        else real_array(array, f"'{name}'")
        for name, array in given.items()
    }
