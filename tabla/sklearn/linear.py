"""Linear models: `LinearRegression`, `Ridge`, `LogisticRegression` and `LinearSVC`.

Their programs have one layer: a weighted sum of the measurements for each output.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.host.engines.session import EVALUATION
from tabla.sklearn.checks import check_choice, positive
from tabla.sklearn.errors import error_of, iterators_of
from tabla.sklearn.estimator import FixedPointEstimator
from tabla.sklearn.outcomes import FixedPointClassifier, FixedPointRegressor, WithProbabilities
from tabla.sklearn.program import Program
from tabla.sklearn.scaling import mapped_back


def linear_program(
    loss: str, *, features: int, outputs: int, intercept: bool, decays: bool, learning_rate: str
) -> Program:
    """Return the program that learns ``h = w x + b`` by a loss.

    `loss` is ``squared`` (half the squared error), ``logistic``, ``softmax``, ``hinge`` or ``squared_hinge``. Without
    `intercept` there is no b. With `decays` a sample has the input ``decay``, and shrinks the weights by that part of
    the learning rate.
    """
    b, gb = (", b[k]", ", gb[k] -> b") if intercept else ("", "")
    lines = [
        f"model_input  x[m]{', decay' * decays};",
        "model_output y[k];",
        f"model        w[k][m]{b};",
        f"gradient     gw[k][m] -> w{gb};",
        "iterator     i[0:m];",
        "iterator     o[0:k];",
        *iterators_of(loss),
        "",
        f"h[o] = sum[i](w[o][i] * x[i]){' + b[o]' * intercept};",
        *error_of(loss),
        f"gw[o][i] = e[o] * x[i]{' + decay * w[o][i]' * decays};",
        *(["gb[o] = e[o];"] * intercept),
    ]
    sizes = "m = 2; k = 1; mu = 0.0625;  // features, outputs and the learning rate"
    return Program(
        name=f"{loss}_loss",
        text="\n".join([sizes, "", *lines, ""]),
        constants=(("k", str(outputs)), ("m", str(features)), ("mu", learning_rate)),
    )


Reals = NDArray[np.float64]
_CURVATURES = {"squared": 1.0, "logistic": 0.25, "softmax": 0.5, "hinge": 1.0, "squared_hinge": 2.0}


class _Linear(FixedPointEstimator):
    """One weighted sum of the inputs for each output."""

    def _loss_name(self) -> str:
        """Return the name of the loss in :mod:`tabla.sklearn.linear`."""
        raise NotImplementedError

    def _program(self, features: int, outputs: int, learning_rate: str) -> Program:
        return linear_program(
            self._loss_name(),
            features=features,
            outputs=outputs,
            intercept=bool(self.fit_intercept),
            decays=self._penalty(1) > 0,
            learning_rate=learning_rate,
        )

    def _curvature(self, squares: float) -> float:
        return _CURVATURES[self._loss_name()] * squares

    def _mapped_back(self, models: Mapping[str, Reals]) -> tuple[Reals, Reals]:
        weights = models["w"]
        return mapped_back(weights, models.get("b", np.zeros(len(weights))), self._inputs, self._labels)


class _LinearRegressor(_Linear, FixedPointRegressor):
    """Learns by the squared error. `coef_` has the shape [features], and `intercept_` is a number."""

    def _loss_name(self) -> str:
        return "squared"

    def _publish(self, models: Mapping[str, Reals]) -> None:
        weights, biases = self._mapped_back(models)
        self.coef_, self.intercept_ = weights[0], float(biases[0])


class _LinearClassifier(_Linear, FixedPointClassifier):
    """`coef_` has the shape [outputs, features], and `intercept_` [outputs]; two classes have one output."""

    _penalty_parameter = "C"

    def decision_function(self, X: ArrayLike) -> Reals:
        """Return the decision values of X, which has the shape [samples, features].

        They are the words of the accelerator, times the unit of the format. Two classes have one for each sample, and
        more classes one each, [samples, classes].
        """
        return self._decision_values(X)

    def _publish(self, models: Mapping[str, Reals]) -> None:
        self.coef_, self.intercept_ = self._mapped_back(models)

    def _checks(self) -> None:
        positive("C", self.C)

    def _penalty(self, samples: int) -> float:
        return 1 / (float(self.C) * samples)


class LinearRegression(_LinearRegressor):
    """Linear regression by the squared error, learnt sample by sample.

    `fit_intercept` is that of scikit-learn's class of this name. All estimators share the other parameters, which
    :class:`tabla.sklearn.estimator.FixedPointEstimator` explains.
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        pes: int = 16,
        format: str = "auto16",
        model_guard: int | None = None,
        minibatch: int = 1,
        learning_rate_init: float | str = "auto",
        max_iter: int = 100,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        engine: str | None = EVALUATION,
        standardise: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.pes = pes
        self.format = format
        self.model_guard = model_guard
        self.minibatch = minibatch
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.engine = engine
        self.standardise = standardise
        self.random_state = random_state


class Ridge(_LinearRegressor):
    """Linear regression with `alpha` times the squares of the weights beside the squared errors of all samples.

    The weights are those of standardised inputs.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        pes: int = 16,
        format: str = "auto16",
        model_guard: int | None = None,
        minibatch: int = 1,
        learning_rate_init: float | str = "auto",
        max_iter: int = 100,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        engine: str | None = EVALUATION,
        standardise: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.pes = pes
        self.format = format
        self.model_guard = model_guard
        self.minibatch = minibatch
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.engine = engine
        self.standardise = standardise
        self.random_state = random_state

    def _checks(self) -> None:
        positive("alpha", self.alpha, or_zero=True)

    def _penalty(self, samples: int) -> float:
        return float(self.alpha) / samples


class LogisticRegression(_LinearClassifier, WithProbabilities):
    """Logistic regression. More than two classes have the softmax of their decision values as probabilities.

    `C` is the weight of the losses of all samples beside half the squares of the weights, which are those of
    standardised inputs.
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        pes: int = 16,
        format: str = "auto16",
        model_guard: int | None = None,
        minibatch: int = 1,
        learning_rate_init: float | str = "auto",
        max_iter: int = 100,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        engine: str | None = EVALUATION,
        standardise: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.pes = pes
        self.format = format
        self.model_guard = model_guard
        self.minibatch = minibatch
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.engine = engine
        self.standardise = standardise
        self.random_state = random_state

    def _loss_name(self) -> str:
        return self._cross_entropy


class LinearSVC(_LinearClassifier):
    """Support vector machine without a kernel. Of more than two classes, each one is told from all others.

    `C` is the weight of the losses of all samples beside half the squares of the weights, which are those of
    standardised inputs; the intercept is not penalised. `loss` is ``hinge`` or ``squared_hinge``.
    """

    _no = -1.0

    def __init__(
        self,
        *,
        loss: str = "squared_hinge",
        C: float = 1.0,
        fit_intercept: bool = True,
        pes: int = 16,
        format: str = "auto16",
        model_guard: int | None = None,
        minibatch: int = 1,
        learning_rate_init: float | str = "auto",
        max_iter: int = 100,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        engine: str | None = EVALUATION,
        standardise: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.pes = pes
        self.format = format
        self.model_guard = model_guard
        self.minibatch = minibatch
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.engine = engine
        self.standardise = standardise
        self.random_state = random_state

    def _loss_name(self) -> str:
        return str(self.loss)

    def _checks(self) -> None:
        super()._checks()
        check_choice("loss", self.loss, ("hinge", "squared_hinge"))

    def _losses(self, decided: Reals, labels: Reals) -> Reals:
        margins = np.maximum(0, 1 - labels * decided)
        return np.asarray((margins if self.loss == "hinge" else np.square(margins)).sum(axis=1))
