"""Estimators that learn from `tabla.Data`: its training part is learnt from, and its test part is scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.sklearn import LogisticRegression, Ridge


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """A table of two columns of numbers and one of texts."""
    chance = np.random.default_rng(3)
    lines = ["length,width,species"]
    for _ in range(60):
        a, b = chance.normal(size=2)
        lines.append(f"{a:.3f},{b:.3f},{'iris' if a > b else 'rose'}")
    (tmp_path / "flowers.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "flowers.csv"


def data_of(path: Path, **more: Any) -> tabla.Data:
    return tabla.Data(path, columns={"x": ["length", "width"], "y": "species"}, classes="y", **more)


def test_a_classifier_learns_from_the_training_part(flowers: Path) -> None:
    data = data_of(flowers, split=0.25, split_seed=1)
    found = LogisticRegression(max_iter=5, random_state=0).fit(data)
    inputs, labels = data.pair()
    same = LogisticRegression(max_iter=5, random_state=0).fit(inputs, labels)
    assert all(np.array_equal(found.models_[name], same.models_[name]) for name in same.models_)
    assert list(found.classes_) == ["iris", "rose"] and len(labels) == 45
    held_out, answers = data.pair(held_out=True)
    assert len(answers) == 15
    assert found.score(data) == same.score(held_out, answers)


def test_a_regressor_and_the_order_of_the_samples() -> None:
    chance = np.random.default_rng(4)
    inputs = chance.normal(size=(40, 3))
    labels = inputs @ [1.0, -2.0, 0.5]
    data = tabla.Data((inputs, labels), split=0.2, shuffle=7)
    assert Ridge(max_iter=20).fit(data).score(data) > 0.9
    plain, _ = tabla.Data((inputs, labels), split=0.2).pair()
    other, _ = data.pair()
    assert np.array_equal(other, plain[np.random.default_rng(7).permutation(32)])
    assert len(tabla.Data((inputs, labels), samples=10).pair(held_out=True)[1]) == 10


def test_texts_and_lengths() -> None:
    """Labels that are texts are classes in a mapping, too. An input and a label must have as many samples."""
    inputs, texts = np.random.default_rng(1).normal(size=(20, 2)), np.array(["a", "b"] * 10)
    assert list(LogisticRegression(max_iter=1).fit(tabla.Data({"x": inputs, "y": texts})).classes_) == ["a", "b"]
    with pytest.raises(ValueError, match="'y' has 5 samples and 'x' has 20"):
        LogisticRegression().fit(tabla.Data((inputs, texts[:5])))
    assert len(tabla.Data((inputs, texts), split=(0, 0.25)).pair(held_out=True)[1]) == 20


def test_a_test_part_of_its_own(flowers: Path) -> None:
    data = data_of(flowers, test=flowers)
    assert len(data.pair()[1]) == len(data.pair(held_out=True)[1]) == 60


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda path: LogisticRegression().fit(data_of(path), [1]), TypeError, "y: the data has its labels itself"),
        (lambda path: LogisticRegression().fit(data_of(path, standardise=True)), ValueError, "standardise: estimators"),
        (
            lambda path: LogisticRegression().fit(tabla.Data(path, columns={"a": "length", "y": "width"})),
            ValueError,
            "an estimator takes an input 'x' and a label 'y', and the data has a, y",
        ),
        (lambda path: LogisticRegression().fit(tabla.Data("no.csv")), ValueError, "cannot read 'no.csv'"),
    ],
)
def test_what_is_refused(call: Any, kind: type[Exception], message: str, flowers: Path) -> None:
    with pytest.raises(kind, match=message):
        call(flowers)
