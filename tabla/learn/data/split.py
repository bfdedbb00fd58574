"""Dividing samples into parts: one to learn from, one to choose by, and one for the final figures alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError, TablaValueError
from tabla.build.arrays import Samples

Shares = str | float | Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The shares of the samples that are held out, each from 0 to below 1, and the seed that chooses them.

    Without a seed these are the last samples.
    """

    test: float
    validation: float = 0.0
    seed: int | None = 0

    def indices(self, count: int) -> Indices:
        """Choose the samples of each part among `count`. A part that was asked for and stays empty is a `TablaError`.

        The order is numpy's ``default_rng(seed).permutation(count)``. Its first samples are the test part, the next
        ones the validation part. Without a seed the test part comes last, and the validation part before it. Within a
        part the samples keep the order of the file.
        """
        order = np.arange(count)[::-1] if self.seed is None else permutation(count, self.seed)
        tested = round(self.test * count)
        end = tested + round(self.validation * count)
        found = Indices(
            training=np.sort(order[end:]), validation=np.sort(order[tested:end]), test=np.sort(order[:tested])
        )
        for name, share, part in (
            ("test", self.test, found.test),
            ("validation", self.validation, found.validation),
            ("training", 1 - self.test - self.validation, found.training),
        ):
            if share > 0 and not len(part):
                least = math.ceil(1000 / count) / 1000
                more = f"give it a share of at least {least:g}, or use more data"
                raise TablaError(f"the split leaves the {name} part of {count} samples empty", hint=more)
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Indices:
    """The positions of the samples of each part, in the order of the file."""

    training: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Divided:
    """The samples of each part. A part that was not asked for is None."""

    training: Samples
    validation: Samples | None = None
    test: Samples | None = None


def split_of(shares: Shares | None, seed: int | None, last: Shares | None = None) -> Split | None:
    """Read ``A`` or ``A,B`` of ``--split``, as text or as numbers, and the seed of ``--split-seed``.

    The shares `last` are those of ``--split-last``. Anything that is not one or two shares, a seed without shares, and
    both kinds of shares are a `TablaError`.
    """
    option = "--split" if last is None else "--split-last"
    hint = f"write {option} 0.2 for a test part, or {option} 0.2,0.1 for a test and a validation part"
    if last is not None and shares is not None:
        raise TablaError(
            "--split draws the samples that are held out, and --split-last takes the last ones", hint="give one of them"
        )
    if last is not None and seed is not None:
        raise TablaError("--split-seed chooses nothing with --split-last", hint="leave it out, or use --split")
    given = shares if last is None else last
    if given is None:
        if seed is not None:
            raise TablaError("--split-seed chooses nothing without --split", hint=hint)
        return None
    try:
        match given:
            case str():
                numbers = [float(share) for share in given.split(",")]
            case int() | float():
                numbers = [float(given)]
            case _:
                numbers = [float(share) for share in given]
    except (TypeError, ValueError):
        raise TablaValueError(f"{option} {given} is not one or two numbers", hint=hint) from None
    if len(numbers) not in (1, 2):
        raise TablaValueError(f"{option} {given} has {len(numbers)} shares", hint=hint)
    if not all(0 <= share < 1 for share in numbers) or sum(numbers) >= 1:
        raise TablaValueError(f"{option} {given} leaves no training part, or is no share from 0 to 1", hint=hint)
    chosen = None if last is not None else seed or 0
    return Split(test=numbers[0], validation=numbers[1] if len(numbers) == 2 else 0.0, seed=chosen)


def divided(samples: Samples, split: Split | None, test: Samples | None, *, needs_test: bool = True) -> Divided:
    """Divide samples by `split`. If a `test` part comes from elsewhere, the split may only take a validation part.

    Without a split, all samples are the training part. Contradictions are a `TablaError`, and so is a split without a
    test part if there has to be one (`needs_test`).
    """
    if split is None:
        return Divided(training=samples, test=test)
    if test is not None and split.test:
        raise TablaError(
            "the test part comes either from --test or from --split, and here from both",
            hint="leave one of them out; with --test, --split 0,0.1 takes a validation part alone",
        )
    if needs_test and test is None and not split.test:
        raise TablaError(
            "the split leaves the test part empty", hint="write --split 0.2, or give another file with --test"
        )
    chosen = split.indices(samples.count)
    return Divided(
        training=samples.taken(chosen.training),
        validation=samples.taken(chosen.validation) if split.validation else None,
        test=test or (samples.taken(chosen.test) if split.test else None),
    )


def check_held_out(parts: Divided, patience: int | None, unlearning: str | None) -> None:
    """Raise `TablaError` for options that have nothing to work on.

    These are a `patience` without a validation part, and held-out parts of a program without gradients; `unlearning` is
    the name of such a program.
    """
    if unlearning and (parts.test or patience is not None):
        raise TablaError(
            f"'{unlearning}' has no gradient, so there is nothing to hold out",
            hint="score it with tabla test",
        )
    if patience is not None and parts.validation is None:
        raise TablaError(
            "--patience needs a validation part, and the data has none",
            hint="take one with --split 0.2,0.1, or beside --test with --split 0,0.1",
        )


def permutation(count: int, seed: int) -> NDArray[np.int64]:
    """Return the order of numpy's ``default_rng(seed).permutation`` for so many samples."""
    return np.random.default_rng(seed).permutation(count)


def shuffled(samples: Samples, seed: int) -> Samples:
    """Return samples in the order of `permutation`."""
    return samples.taken(permutation(samples.count, seed))
