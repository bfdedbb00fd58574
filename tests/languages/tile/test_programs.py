"""Every program against numpy: what the language says, before anything is compiled."""

from __future__ import annotations

import numpy as np
import pytest

from tests.languages.tile.meaning import evaluate
from tests.languages.tile.references import OWN, REFERENCES, traced


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_a_program_means_what_numpy_says(name: str) -> None:
    reference = REFERENCES[name]
    arrays = reference.draw(3)
    found = evaluate(traced(name), arrays)
    expected = reference.expected(arrays)
    assert list(found) == [f"out{number}" for number in range(len(expected))]
    for value, array in zip(found.values(), expected, strict=True):
        assert value.shape == array.shape
        np.testing.assert_allclose(value, array, rtol=1e-5, atol=1e-12)


def test_there_are_enough() -> None:
    assert len(OWN) >= 40
