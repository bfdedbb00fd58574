"""Multilayer perceptrons: `MLPClassifier` and `MLPRegressor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tabla.parameters import checked_whole
from tabla.simulation import EVALUATION
from tabla.sklearn.checks import check_choice, positive
from tabla.sklearn.estimator import FixedPointEstimator
from tabla.sklearn.outcomes import FixedPointRegressor, WithProbabilities
from tabla.sklearn.perceptron_program import ACTIVATIONS, biases_name, perceptron_program, weights_name
from tabla.sklearn.program import Program
from tabla.sklearn.scaling import Scaling, mapped_back
from tabla.source import TablaError, TablaValueError
from tabla.training.arrays import initial_models

Reals = NDArray[np.float64]


class _Perceptron(FixedPointEstimator):
    """Hidden layers between the inputs and the outputs.

    `coefs_` has the weights of each layer, [inputs, outputs], and `intercepts_` the biases, in the units of the data.
    """

    def _loss_name(self) -> str:
        """Return the name of the loss in :mod:`tabla.sklearn.perceptron_program`."""
        raise NotImplementedError

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (16,),
        activation: str = "relu",
        *,
        alpha: float = 0.0001,
        pes: int = 16,
        format: str = "auto16",
        model_guard: int | None = None,
        minibatch: int = 1,
        learning_rate_init: float | str = "auto",
        max_iter: int = 200,
        engine: str | None = EVALUATION,
        standardise: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.alpha = alpha
        self.pes = pes
        self.format = format
        self.model_guard = model_guard
        self.minibatch = minibatch
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.engine = engine
        self.standardise = standardise
        self.random_state = random_state

    @property
    def _hidden(self) -> tuple[int, ...]:
        sizes = self.hidden_layer_sizes
        if isinstance(sizes, Sequence | np.ndarray) and not isinstance(sizes, str) and np.ndim(sizes):
            listed: tuple[object, ...] = tuple(sizes)
        else:
            listed = (sizes,)
        return tuple(checked_whole("hidden_layer_sizes", size, rule="size") for size in listed)

    def _checks(self) -> None:
        if not self._hidden:
            raise TablaValueError(
                "hidden_layer_sizes: there is no hidden layer", hint="use a linear model, or hidden_layer_sizes=(16,)"
            )
        check_choice("activation", self.activation, ACTIVATIONS)
        positive("alpha", self.alpha, or_zero=True)

    def _program(self, features: int, outputs: int, learning_rate: str) -> Program:
        return perceptron_program(
            self._loss_name(),
            features=features,
            hidden=self._hidden,
            outputs=outputs,
            activation=self.activation,
            decays=self._penalty(1) > 0,
            learning_rate=learning_rate,
        )

    def _initial(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Reals]:
        try:
            return initial_models(shapes, self._seed)
        except TablaError as fault:
            raise TablaValueError(f"hidden_layer_sizes: {fault.message}", hint="use smaller layers") from None

    def _penalty(self, samples: int) -> float:
        # That of scikit-learn's solver "sgd": alpha for each step, divided by the samples of the step.
        return float(self.alpha) / int(self.minibatch)

    def _curvature(self, squares: float) -> float:
        # No second derivative of the cross entropy of a softmax by its decision values is above one half.
        steepest = 0.5 if self._loss_name() == "softmax" else 1.0
        return steepest * (squares + sum(self._hidden))

    def _publish(self, models: Mapping[str, Reals]) -> None:
        layers = len(self._hidden) + 1
        weights = [models[weights_name(layer)] for layer in range(1, layers + 1)]
        biases = [models[biases_name(layer)] for layer in range(1, layers + 1)]
        # The inputs are standardised in front of the first layer, and the labels behind the last one.
        first, last = Scaling.identity(len(weights[0])), Scaling.identity(weights[-1].shape[1])
        weights[0], biases[0] = mapped_back(weights[0], biases[0], self._inputs, first)
        weights[-1], biases[-1] = mapped_back(weights[-1], biases[-1], last, self._labels)
        self.coefs_, self.intercepts_ = [array.T for array in weights], biases
        self.n_layers_, self.n_outputs_ = layers + 1, len(biases[-1])
        loss = self._loss_name()
        self.out_activation_ = "identity" if loss == "squared" else loss


class MLPClassifier(_Perceptron, WithProbabilities):
    """Multilayer perceptron that tells classes apart. Those of more than two have the softmax of their decision values
    as probabilities.

    `hidden_layer_sizes`, `activation` and `alpha` are those of scikit-learn's class of this name.
    """

    def _loss_name(self) -> str:
        return self._cross_entropy


class MLPRegressor(_Perceptron, FixedPointRegressor):
    """Multilayer perceptron that predicts a number by the squared error.

    `hidden_layer_sizes`, `activation` and `alpha` are those of scikit-learn's class of this name.
    """

    def _loss_name(self) -> str:
        return "squared"
