"""An estimator of each kind with a real data set of scikit-learn for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

import tabla.sklearn


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An estimator by name with some of its parameters, and the loader of a data set."""

    name: str
    data: str
    parameters: tuple[tuple[str, Any], ...] = ()

    def estimator(self, **parameters: Any) -> Any:
        """The estimator, with more parameters."""
        return getattr(tabla.sklearn, self.name)(**dict(self.parameters), **parameters)

    def samples(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """The inputs and labels, in an order of their own."""
        return _samples(self.data)

    def __str__(self) -> str:
        return f"{self.name}-{self.data}"


@cache
def _samples(name: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    inputs, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    order = np.random.default_rng(7).permutation(len(labels))
    return inputs[order], labels[order]


PROBLEMS = (
    Problem(name="LinearRegression", data="diabetes"),
    Problem(name="Ridge", data="diabetes", parameters=(("alpha", 10.03),)),
    Problem(name="LogisticRegression", data="breast_cancer"),
    Problem(name="LogisticRegression", data="iris"),
    Problem(name="LinearSVC", data="wine"),
    Problem(name="LinearSVC", data="breast_cancer", parameters=(("loss", "hinge"),)),
    Problem(name="MLPClassifier", data="iris", parameters=(("minibatch", 4), ("hidden_layer_sizes", (8,)))),
    Problem(name="MLPRegressor", data="diabetes", parameters=(("hidden_layer_sizes", (6, 4)), ("activation", "tanh"))),
)
