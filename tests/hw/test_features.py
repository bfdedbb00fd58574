"""What hardware may leave out, as the program says it."""

from __future__ import annotations

from typing import Any

import pytest

from tabla.hw.features import features_of
from tests.sim.hand_assembler import Nest, Op, assemble, parameters, root
from tests.sim.hand_images import linear


def test_shifts_of_results_are_those_of_operations_that_give_one() -> None:
    """A result is emitted, or compared, or both; the reduction of the lanes of `linear` gives none."""
    image = linear(2).image
    by = image.parameters.shifts.index(image.parameters.fraction)
    assert by != 0
    features = features_of(image)
    assert features["lane_issue"].result_shifts == features["root_issue"].result_shifts == {by}


def tree(**fields: Any) -> Op:
    return root(base="tree", **{"a": "zero", "emit": 1, **fields})


def of_data(**fields: Any) -> Op:
    return root(a="data", b="one", **fields)


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        ([tree()], True),
        ([tree(), of_data(base="zero", emit=1)], True),
        ([tree(), of_data(base="zero"), of_data(base="accumulator", emit=1)], True),
        ([tree(half="all")], False),
        ([tree(a="data", b="one")], False),
        # The next operation goes on with the tree's word.
        ([tree(emit=0), of_data(base="accumulator", emit=1)], False),
        ([of_data(base="zero"), tree(emit=0), of_data(base="accumulator", emit=1)], False),
        # The first operation of a strand may go on with the tree's word of another one.
        ([of_data(base="accumulator", emit=1), tree()], False),
        ([tree(post="extreme")], False),
    ],
)
def test_the_word_of_the_tree_is_alone_if_nothing_is_added_to_it(body: list[Op], alone: bool) -> None:
    image = assemble(parameters(2), {"root_issue": [Nest(body=body)]}, period=40)
    assert features_of(image).tree_alone == alone
