"""What a Tile program means in float64: its kernel, held against the witness that tries all valid index values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tabla.base.source import Source
from tabla.languages.kernel.evaluate import evaluate as evaluate_kernel
from tabla.languages.kernel.parser import parse
from tabla.languages.kernel.text import kernel_text
from tabla.languages.kernel.verify import verify
from tabla.languages.tile.kernel import TYPES, Translation, translated
from tabla.languages.tile.program import Program, Values
from tabla.languages.tile.refusals import MOST_VALUES
from tests.languages.tile import brute_force

Array = np.ndarray[Any, Any]


@lru_cache(maxsize=16)
def proved(program: Program) -> Translation:
    """Return a program as a kernel that is proved, and that comes back from its text.

    No text is read that has more numbers than a program of the machine may hold.
    """
    found = translated(program, name=program.name)
    verify(found.kernel)
    if all(node.size <= MOST_VALUES for node in program.nodes() if isinstance(node, Values)):
        assert parse(Source.from_text(kernel_text(found.kernel), "k.kernel"), program.name) == found.kernel
    return found


def evaluate(program: Program, inputs: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """The results by name, and updated weights by their names.

    The kernel is proved, comes back from its text, and has the values of the witness.
    """
    wanted = brute_force.evaluate(program, inputs)
    found = proved(program)
    given = {tensor: np.asarray(inputs[name]) for name, tensor in found.parameters.items()}
    values = evaluate_kernel(found.kernel, given)
    learnt = {step.weights.parameter: found.parameters[step.weights.parameter] for step in program.steps}
    results = {name: values[tensor] for name, tensor in {**found.results, **learnt}.items()}
    assert list(results) == list(wanted)
    for name, array in results.items():
        assert array.shape == wanted[name].shape
        assert array.dtype == wanted[name].dtype
        scale = np.abs(wanted[name][np.isfinite(wanted[name])]).max(initial=1) if array.dtype.kind == "f" else 0
        np.testing.assert_allclose(array, wanted[name], rtol=1e-9, atol=1e-12 * float(scale))
    for node, name in zip(program.outputs, found.results.values(), strict=True):
        assert found.kernel.tensors[name].type == TYPES[node.kind]
    return results
