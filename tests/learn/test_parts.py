"""The best models by the validation part, classes, and the confusion matrix."""

from __future__ import annotations

import numpy as np
import pytest

from tabla.base.origin import Origin
from tabla.base.source import TablaError
from tabla.learn.data.classes import Classes, confusion_lines
from tabla.learn.data.parts import Best
from tabla.learn.measure import Score
from tabla.learn.metrics import choose


def score(validation: float, *, training: float = 1.0, test: float = 1.0) -> Score:
    parts = {name: Score(loss=loss, metric=0.0) for name, loss in (("validation", validation), ("test", test))}
    return Score(loss=training, metric=0.0, **parts)


def watched(patience: int | None, ours: list[float], theirs: list[float]) -> tuple[Best, int]:
    """Show a `Best` the validation losses of the accelerator and of float64 until it says stop; return both."""
    best = Best(patience=patience)
    for epoch, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        # The losses of the other parts fall all the time, so a choice by one of them would never stop.
        falling = {"training": 1.0 / (1 + epoch), "test": 1.0 / (1 + epoch)}
        if best.see(epoch, score(a, **falling), score(b, **falling), {"w": np.array([epoch])}):
            return best, epoch
    return best, len(ours) - 1


@pytest.mark.parametrize(
    ("patience", "ours", "stopped", "kept"),
    [
        (2, [9, 5, 4, 6, 4, 3], 4, 2),
        (3, [9, 5, 4, 6, 4, 3], 5, 5),
        (1, [9, 8, 7, 6], 3, 3),
        (1, [3, 4, 1], 1, 0),
        (2, [9, float("nan"), float("inf"), 1], 2, 0),
        (2, [float("nan"), 8, 9, 9], 3, 1),
        (None, [3, 4, 5, 6], 3, 3),
    ],
)
def test_the_smallest_validation_loss_is_kept(patience: int | None, ours: list[float], stopped: int, kept: int) -> None:
    best, epoch = watched(patience, ours, ours)
    assert (epoch, best.epoch, best.float64_epoch) == (stopped, kept, kept)
    assert best.models["w"].tolist() == [kept]


def test_float64_keeps_its_own_best() -> None:
    best, epoch = watched(2, [9, 5, 6, 7, 1], [9, 8, 7, 3, 1])
    assert (epoch, best.epoch, best.float64_epoch) == (3, 1, 3)


def array(*values: object) -> np.ndarray:
    return np.array(values, dtype=np.float64)


@pytest.mark.parametrize(
    ("labels", "predicted", "names", "table"),
    [
        (array(0, 0, 1, 1, 1), array(0.2, 0.5, 0.9, 0.49, 7), ("0", "1"), ((1, 1), (1, 2))),
        (array(-1, 1, 1), array(-0.1, 0, -3), ("-1", "1"), ((1, 0), (1, 1))),
        (
            array([0, 1, 0], [0, 0, 1], [1, 0, 0]),
            array([0.3, 0.2, 0.1], [0, 0, 1], [5, 1, 2]),
            ("0", "1", "2"),
            ((1, 0, 0), (1, 0, 0), (0, 0, 1)),
        ),
    ],
)
def test_confusion(
    labels: np.ndarray, predicted: np.ndarray, names: tuple[str, ...], table: tuple[tuple[int, ...], ...]
) -> None:
    classes = Classes.of(labels)
    assert classes and classes.names() == names
    assert classes.confusion(predicted, labels) == table
    lines = confusion_lines(table, names)
    assert lines[0].split() == list(names)
    assert [line.split() for line in lines[1:]] == [
        [name, *map(str, row)] for name, row in zip(names, table, strict=True)
    ]


@pytest.mark.parametrize(
    ("training", "held_out", "sample"),
    [
        (array(0, 1), array(0, 1, 2), 3),
        (array(0, 1), array(-1, 1), 1),
        (array(-1, 1), array(0, 1), 1),
        (array([0, 1], [1, 0]), array([0, 1], [1, 1]), 2),
        (array([0, 1], [1, 0]), array([0, 1], [0.5, 1]), 2),
    ],
)
def test_unknown_classes(training: np.ndarray, held_out: np.ndarray, sample: int) -> None:
    classes = Classes.of(training)
    assert classes
    place = Origin().place
    classes.check(training, "test", place)
    with pytest.raises(TablaError, match=f"the label of sample {sample}, in the test part, is no class") as fault:
        classes.check(held_out, "test", place)
    assert fault.value.hint is not None and "as the training part has" in fault.value.hint


def test_labels_that_are_all_one_are_read_by_the_margin() -> None:
    """A program whose prediction has a sign takes -1 and 1, also where one of them does not come."""
    ones = np.ones(3)
    assert choose(None, ones).of(np.array([0.2, 0.4, -1.0]), ones) == pytest.approx(0.0)
    assert choose(None, ones, margin=True).of(np.array([0.2, 0.4, -1.0]), ones) == pytest.approx(2 / 3)
