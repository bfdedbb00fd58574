"""The learning problems of the accuracy table, with the rate and the epochs of each. All of it was fixed before the
first run, but for the order of samples that lie sorted by class, which was found in it.

The last ten were added when the choice of formats was made anew, and no rule was tuned on them. All networks among them
have 16 hidden values, and learn for 20 epochs at one rate for classes, and at one for values.

The six examples keep the rates of their programs, and the epochs of the commands that their texts state. Digits, iris,
wine, breast cancer and linnerud take another program than the example with the same data does. The last three data sets
come from the Python package statsmodels, and were chosen for what the others lack: answers on scales of whole numbers,
of very different ranges (anes96); many samples and much noise (fair); and regression on skewed percentages, from few
samples (star98).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from benchmarks.accuracy.data import (
    Arrays,
    Reals,
    anes96,
    bundled,
    engel,
    fair,
    generated,
    hastie,
    one_hot,
    rare,
    rated,
    star98,
)
from tabla.examples.catalogue import EXAMPLES

FOLDER = Path(__file__).resolve().parent
TEST_SHARE = 0.2
"""The share of the samples that is held out."""
SEEDS = 20
"""The split seeds of the published table are 0 to `SEEDS` - 1."""
Source = Callable[[], tuple[Reals, Reals]]
Kind = Literal["number", "sign", "classes", "values", "ratings"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A program, the data that it learns from, and how.

    `title` names the data and the network for the table. `source` returns measurements and targets, in the order of
    the package. `kind` says what the label is: the ``number`` of one of two classes, its ``sign``, a 1 among all
    ``classes``, ``values`` to be predicted, or ``ratings``. The measurements get a mean of 0 and a standard deviation
    of 1 in the training part, as the values to be predicted do, unless a fixed `scale` divides them. `estimator` is the
    model of scikit-learn that is scored beside, with layers of `hidden` units if it is a network. Samples that lie
    sorted by their classes are `is_sorted`: a network that learns them one by one forgets all classes but the last one.
    """

    name: str
    title: str
    program: Path
    kind: Kind
    epochs: int
    estimator: str
    source: Callable[[], tuple[Reals, Reals]] | None = None
    hidden: tuple[int, ...] = ()
    defines: Mapping[str, str | float] = field(default_factory=dict)
    learning_rate: float | None = None
    scale: float | None = None
    is_sorted: bool = False

    @property
    def metric(self) -> str:
        """The metric: the accuracy of classes, else R2."""
        return "r2" if self.kind in ("values", "ratings") else "accuracy"

    @property
    def rate(self) -> float:
        """The learning rate: that of the options, or else of the text."""
        if self.learning_rate is not None:
            return self.learning_rate
        found = re.search(r"^mu = ([0-9.]+);", self.program.read_text(encoding="utf-8"), re.MULTILINE)
        assert found
        return float(found[1])

    @property
    def samples(self) -> int:
        """The number of samples of all parts; of ratings, those that are known."""
        if self.source is None:
            return sum(int(part["r"].sum()) for part in rated(0, TEST_SHARE))
        return len(self._arrays["y"])

    @property
    def shuffle(self) -> int | None:
        """The seed of a new order of the training part, for data that lie sorted by class; None keeps the order."""
        return 0 if self.is_sorted else None

    @property
    def standardise(self) -> bool:
        """Whether the inputs are standardised."""
        return self.scale is None and self.source is not None

    @property
    def standardise_labels(self) -> bool:
        """Whether the labels are standardised."""
        return self.kind == "values"

    @cached_property
    def _arrays(self) -> Arrays:
        assert self.source is not None
        measured, target = self.source()
        match self.kind:
            case "sign":
                target = 2 * target - 1
            case "classes":
                target = one_hot(target)
        return {"x": measured / (self.scale or 1), "y": target}

    def data(self, seed: int) -> tuple[Arrays, Arrays | None]:
        """Return the data of a split seed, and its test part if the split itself does not make that."""
        return rated(seed, TEST_SHARE) if self.source is None else (self._arrays, None)


def _of_example(name: str, title: str, kind: Kind, epochs: int, estimator: str, **more: object) -> Problem:
    given: dict[str, object] = {"name": name, "title": title, "kind": kind, "epochs": epochs, "estimator": estimator}
    return Problem(program=EXAMPLES[name].program, **given, **more)  # type: ignore[arg-type]


def _network(features: int, hidden: int, classes: int) -> dict[str, str | float]:
    return {"m": features, "hidden": hidden, "classes": classes}


_BACKPROP = EXAMPLES["backprop"].program
_HIDDEN, _PASSES = 16, 20


def _of_classes(name: str, text: str, source: Source, features: int, classes: int) -> Problem:
    """Return a network with classes, as all of those that were added later are."""
    return Problem(
        name=name,
        title=f"{text}, {features}-{_HIDDEN}-{classes}",
        program=_BACKPROP,
        kind="classes",
        epochs=_PASSES,
        estimator="MLPClassifier, logistic",
        source=source,
        hidden=(_HIDDEN,),
        defines=_network(features, _HIDDEN, classes),
    )


def _of_values(name: str, text: str, source: Source, features: int) -> Problem:
    """Return a network that predicts a value, as all of those that were added later are."""
    return Problem(
        name=name,
        title=f"{text}, {features}-{_HIDDEN}-1",
        program=FOLDER / "network_values.t",
        kind="values",
        epochs=_PASSES,
        estimator="MLPRegressor, tanh",
        source=source,
        hidden=(_HIDDEN,),
        defines={"m": features},
    )


PROBLEMS = {
    problem.name: problem
    for problem in (
        _of_example(
            "linear",
            "diabetes, linear regression",
            "values",
            10,
            "LinearRegression",
            source=lambda: bundled("diabetes"),
        ),
        _of_example(
            "logistic",
            "breast cancer, logistic regression",
            "number",
            5,
            "LogisticRegression",
            source=lambda: bundled("breast_cancer"),
        ),
        _of_example(
            "svm",
            "breast cancer, support vector machine",
            "sign",
            5,
            "LinearSVC",
            source=lambda: bundled("breast_cancer"),
        ),
        _of_example("recommender", "made-up ratings, 4 tastes", "ratings", 40, "KNNImputer"),
        _of_example(
            "backprop",
            "wine, 13-8-3",
            "classes",
            10,
            "MLPClassifier, logistic",
            source=lambda: bundled("wine"),
            is_sorted=True,
            hidden=(8,),
        ),
        _of_example(
            "backprop2",
            "digits, 64-16-16-10",
            "classes",
            5,
            "MLPClassifier, tanh",
            source=lambda: bundled("digits"),
            hidden=(16, 16),
            scale=16.0,
        ),
        Problem(
            name="digits",
            title="digits, 64-32-10",
            program=_BACKPROP,
            kind="classes",
            epochs=10,
            estimator="MLPClassifier, logistic",
            source=lambda: bundled("digits"),
            hidden=(32,),
            defines=_network(64, 32, 10),
            scale=16.0,
        ),
        Problem(
            name="iris",
            title="iris, 4-8-3",
            program=_BACKPROP,
            kind="classes",
            epochs=40,
            estimator="MLPClassifier, logistic",
            source=lambda: bundled("iris"),
            is_sorted=True,
            hidden=(8,),
            defines=_network(4, 8, 3),
        ),
        Problem(
            name="wine",
            title="wine, logistic regression",
            program=FOLDER / "logistic_classes.t",
            kind="classes",
            epochs=10,
            estimator="LogisticRegression",
            source=lambda: bundled("wine"),
            is_sorted=True,
        ),
        Problem(
            name="breast cancer",
            title="breast cancer, 30-16-2",
            program=_BACKPROP,
            kind="classes",
            epochs=10,
            estimator="MLPClassifier, logistic",
            source=lambda: bundled("breast_cancer"),
            hidden=(16,),
            defines=_network(30, 16, 2),
            learning_rate=0.03125,
        ),
        Problem(
            name="linnerud",
            title="linnerud, linear regression",
            program=FOLDER / "linear_outputs.t",
            kind="values",
            epochs=50,
            estimator="LinearRegression",
            source=lambda: bundled("linnerud"),
        ),
        Problem(
            name="anes96",
            title="anes96, logistic regression",
            program=EXAMPLES["logistic"].program,
            kind="number",
            epochs=10,
            estimator="LogisticRegression",
            source=anes96,
            defines={"m": 9},
            learning_rate=0.015625,
        ),
        Problem(
            name="fair",
            title="fair, 8-8-2",
            program=_BACKPROP,
            kind="classes",
            epochs=5,
            estimator="MLPClassifier, logistic",
            source=fair,
            is_sorted=True,
            hidden=(8,),
            defines=_network(8, 8, 2),
            learning_rate=0.03125,
        ),
        Problem(
            name="star98",
            title="star98, linear regression",
            program=EXAMPLES["linear"].program,
            kind="values",
            epochs=20,
            estimator="LinearRegression",
            source=star98,
            defines={"m": 12},
        ),
        _of_values("friedman1", "made-up", lambda: generated("friedman1", n_samples=1000, noise=1.0), 10),
        _of_values("friedman2", "made-up", lambda: generated("friedman2", n_samples=1000, noise=50.0), 4),
        _of_values("friedman3", "made-up", lambda: generated("friedman3", n_samples=1000, noise=0.1), 4),
        _of_classes("moons", "made-up", lambda: generated("moons", n_samples=1000, noise=0.2), 2, 2),
        _of_classes("circles", "made-up", lambda: generated("circles", n_samples=1000, noise=0.1, factor=0.5), 2, 2),
        _of_classes(
            "quantiles",
            "made-up",
            lambda: generated("gaussian_quantiles", n_samples=1000, n_features=5, n_classes=3),
            5,
            3,
        ),
        _of_classes("hastie", "made-up", hastie, 10, 2),
        _of_classes(
            "mixture",
            "made-up",
            lambda: generated("classification", n_samples=1500, n_features=20, n_informative=10, n_classes=4),
            20,
            4,
        ),
        _of_classes("rare", "made-up, one rare measurement", rare, 12, 4),
        _of_values("engel", "food of households", engel, 1),
    )
}
