"""Parts of the data: which samples are held out, and that a part that stays empty is an error with a cure."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.origin import Origin
from tabla.base.source import TablaError
from tabla.build.arrays import Samples
from tabla.learn.data.split import Divided, Split, check_held_out, divided, shuffled, split_of

HALF = split_of(0.5, 7)


def samples(count: int) -> Samples:
    return Samples(arrays={"x": np.arange(count * 2.0).reshape(count, 2)}, count=count, stacked=True)


def rows(part: Samples | None) -> list[int]:
    return [] if part is None else [int(row) // 2 for row in part.arrays["x"][:, 0]]


def test_the_permutation_of_numpy_decides() -> None:
    order = np.random.default_rng(7).permutation(25).tolist()
    found = divided(samples(25), split_of("0.3,0.1", 7), None)
    # round(7.5) and round(2.5) are even numbers.
    assert rows(found.test) == sorted(order[:8])
    assert rows(found.validation) == sorted(order[8:10])
    assert rows(found.training) == sorted(order[10:])
    assert (found.training.count, found.validation and found.validation.count) == (15, 2)


def test_the_last_samples_of_a_series() -> None:
    found = divided(samples(20), split_of(None, None, "0.2,0.1"), None)
    assert (rows(found.training), rows(found.validation), rows(found.test)) == (
        list(range(14)),
        [14, 15],
        [16, 17, 18, 19],
    )
    with pytest.raises(TablaError, match="--split draws the samples that are held out, and --split-last takes"):
        split_of("0.2", None, "0.2")
    with pytest.raises(TablaError, match="--split-seed chooses nothing with --split-last"):
        split_of(None, 1, "0.2")
    with pytest.raises(TablaError, match=r"--split-last 1\.5 leaves no training part"):
        split_of(None, None, 1.5)


@given(
    count=st.integers(10, 200),
    test=st.floats(0.1, 0.45),
    validation=st.floats(0.1, 0.45),
    seed=st.integers(0, 99),
)
def test_every_sample_is_in_one_part(count: int, test: float, validation: float, seed: int) -> None:
    found = divided(samples(count), split_of((test, validation), seed), None)
    parts = [rows(found.training), rows(found.validation), rows(found.test)]
    assert sorted(chain(*parts)) == list(range(count))
    assert [part == sorted(part) for part in parts] == [True] * 3
    assert (len(parts[2]), len(parts[1])) == (round(test * count), round(validation * count))


def test_samples_know_their_rows() -> None:
    """A part, a new order of it, and a part of that name each sample by its place in the user's file."""
    table = replace(samples(25), origin=Origin(name="'d.csv'", unit="row", numbers=range(2, 27)))
    found = shuffled(divided(table, HALF, None).training, 3)
    assert found.count == 13
    for sample, row in enumerate(rows(found)):
        assert found.place(sample) == f"row {row + 2} of 'd.csv'"
    assert found.place(4) == found.taken(np.array([4, 0])).place(0)
    assert samples(5).place(4) == "sample 5"


def test_shares_are_text_or_numbers() -> None:
    expected = Split(test=0.2, validation=0.1, seed=3)
    assert split_of("0.2,0.1", 3) == split_of((0.2, 0.1), 3) == split_of([0.2, 0.1], 3) == expected
    assert split_of("0.25", None) == split_of(0.25, None) == Split(test=0.25)
    assert split_of(None, None) is None


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ("a", "is not one or two numbers"),
        ("0.2,", "is not one or two numbers"),
        ("0.1,0.1,0.1", "has 3 shares"),
        ((), "has 0 shares"),
        ("1", "leaves no training part"),
        ("0.5,0.5", "leaves no training part"),
        ("-0.1", "is no share from 0 to 1"),
        ("nan", "is no share from 0 to 1"),
    ],
)
def test_shares_that_are_none(shares: str | tuple[float, ...], message: str) -> None:
    with pytest.raises(TablaError, match=message) as fault:
        split_of(shares, None)
    assert fault.value.hint is not None and "--split 0.2" in fault.value.hint


def test_a_seed_alone_is_an_error() -> None:
    with pytest.raises(TablaError, match="--split-seed chooses nothing without --split"):
        split_of(None, 3)


@pytest.mark.parametrize(
    ("count", "shares", "part", "cure"),
    [
        (10, "0.04", "test", "at least 0.1"),
        (10, "0.2,0.01", "validation", "at least 0.1"),
        (3, "0.4,0.59", "training", "at least 0.334"),
        (1, "0.5", "test", "at least 1"),
    ],
)
def test_a_part_that_stays_empty(count: int, shares: str, part: str, cure: str) -> None:
    with pytest.raises(TablaError, match=f"leaves the {part} part of {count} samples empty") as fault:
        divided(samples(count), split_of(shares, 0), None)
    assert fault.value.hint is not None and cure in fault.value.hint


def test_a_test_part_from_elsewhere() -> None:
    other = samples(4)
    whole = divided(samples(9), None, other)
    assert whole.test is other and whole.validation is None and rows(whole.training) == list(range(9))
    some = divided(samples(10), split_of("0,0.3", 0), other)
    assert some.test is other and len(rows(some.validation)) == 3 and some.training.count == 7
    with pytest.raises(TablaError, match="either from --test or from --split"):
        divided(samples(10), split_of("0.2,0.3", 0), other)
    with pytest.raises(TablaError, match="leaves the test part empty"):
        divided(samples(10), split_of("0,0.3", 0), None)


def test_options_that_have_nothing_to_work_on() -> None:
    held_out = Divided(training=samples(3), test=samples(2))
    check_held_out(held_out, None, None)
    check_held_out(Divided(training=samples(3)), None, "infer.t")
    check_held_out(Divided(training=samples(3), validation=samples(1), test=samples(2)), 2, None)
    for parts, patience, unlearning, message in (
        (held_out, 3, None, "--patience needs a validation part"),
        (held_out, None, "infer.t", "'infer.t' has no gradient"),
        (Divided(training=samples(3)), 3, "infer.t", "'infer.t' has no gradient"),
    ):
        with pytest.raises(TablaError, match=message) as fault:
            check_held_out(parts, patience, unlearning)
        assert fault.value.hint
