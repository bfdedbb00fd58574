"""Multilayer perceptrons: `MLPClassifier` and `MLPRegressor`.

The texts of their programs are made here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tabla.base.parameters import SIZE, checked_whole
from tabla.base.source import TablaError, TablaValueError
from tabla.build.arrays import initial_models
from tabla.host.engines.session import EVALUATION
from tabla.sklearn.checks import check_choice, positive
from tabla.sklearn.errors import error_of, iterators_of
from tabla.sklearn.estimator import FixedPointEstimator
from tabla.sklearn.outcomes import FixedPointRegressor, WithProbabilities
from tabla.sklearn.program import Program
from tabla.sklearn.scaling import Scaling, mapped_back

# By the name of an activation: the statements that compute a layer's values a{n} from its sums z{n}, and the factor by
# which the error that comes back is multiplied: the slope of the activation.
_ACTIVATIONS = {
    "identity": (("a{n}[j{n}] = z{n}[j{n}];",), ""),
    "logistic": (("a{n}[j{n}] = sigmoid(z{n}[j{n}]);",), " * (a{n}[j{n}] * (1 - a{n}[j{n}]))"),
    "tanh": (("a{n}[j{n}] = tanh(z{n}[j{n}]);",), " * (1 - a{n}[j{n}] * a{n}[j{n}])"),
    "relu": (("s{n}[j{n}] = z{n}[j{n}] > 0;", "a{n}[j{n}] = s{n}[j{n}] * z{n}[j{n}];"), " * s{n}[j{n}]"),
}
ACTIVATIONS = tuple(sorted(_ACTIVATIONS))
"""The names of the activations of hidden layers."""


def weights_name(layer: int) -> str:
    """Return the name of the model with the weights of a layer, counted from 1."""
    return f"w{layer}"


def biases_name(layer: int) -> str:
    """Return the name of the model with the biases of a layer, counted from 1."""
    return f"b{layer}"


def perceptron_program(
    loss: str,
    *,
    features: int,
    hidden: Sequence[int],
    outputs: int,
    activation: str,
    decays: bool,
    learning_rate: str,
) -> Program:
    """Return the program of a perceptron with at least one hidden layer.

    `loss` is ``squared`` (half the squared error), ``logistic`` or ``softmax``. With `decays` a sample has
    the input ``decay``, and shrinks the weights by that part of the learning rate.
    """
    sizes = {"m": features, **{f"n{layer}": size for layer, size in enumerate(hidden, 1)}, "k": outputs}
    constants = "; ".join(f"{name} = 2" for name in sizes)
    text = [
        f"{constants}; mu = 0.0625;  // features, sizes of layers, outputs and the learning rate",
        "",
        *_declarations(len(hidden), decays),
        *iterators_of(loss),
        "",
        *_forward(len(hidden), activation),
        *error_of(loss),
        *_backward(len(hidden), activation),
        *_gradients(len(hidden), decays),
    ]
    values = {name: str(size) for name, size in sizes.items()} | {"mu": learning_rate}
    return Program(name=f"perceptron_{loss}_loss", text="\n".join([*text, ""]), constants=tuple(sorted(values.items())))


def _index(layer: int, layers: int) -> str:
    """Return the index of the values of a layer; layer 0 is the input, and the last one the output."""
    return "i" if not layer else "o" if layer > layers else f"j{layer}"


def _size(layer: int, layers: int) -> str:
    return "m" if not layer else "k" if layer > layers else f"n{layer}"


def _values(layer: int) -> str:
    return f"a{layer}" if layer else "x"


def _error(layer: int, layers: int) -> str:
    """Return the name of the derivative of the loss by the sums of a layer."""
    return "e" if layer > layers else f"d{layer}"


def _declarations(layers: int, decays: bool) -> Iterator[str]:
    numbers = range(1, layers + 2)
    shapes = {n: (_size(n, layers), _size(n - 1, layers)) for n in numbers}
    models = [f"{weights_name(n)}[{rows}][{below}], {biases_name(n)}[{rows}]" for n, (rows, below) in shapes.items()]
    gradients = [
        f"gw{n}[{rows}][{columns}] -> {weights_name(n)}, gb{n}[{rows}] -> {biases_name(n)}"
        for n, (rows, columns) in shapes.items()
    ]
    yield f"model_input  x[m]{', decay' * decays};"
    yield "model_output y[k];"
    yield f"model        {', '.join(models)};"
    yield f"gradient     {', '.join(gradients)};"
    for n in range(layers + 2):
        yield f"iterator     {_index(n, layers)}[0:{_size(n, layers)}];"


def _forward(layers: int, activation: str) -> Iterator[str]:
    statements, _ = _ACTIVATIONS[activation]
    for n in range(1, layers + 2):
        row, column = _index(n, layers), _index(n - 1, layers)
        sums = f"sum[{column}]({weights_name(n)}[{row}][{column}] * {_values(n - 1)}[{column}])"
        yield f"{'h' if n > layers else f'z{n}'}[{row}] = {sums} + {biases_name(n)}[{row}];"
        if n <= layers:
            yield from (statement.format(n=n) for statement in statements)


def _backward(layers: int, activation: str) -> Iterator[str]:
    _, slope = _ACTIVATIONS[activation]
    for n in range(layers, 0, -1):
        here, there = _index(n, layers), _index(n + 1, layers)
        error = f"sum[{there}]({weights_name(n + 1)}[{there}][{here}] * {_error(n + 1, layers)}[{there}])"
        yield f"d{n}[{here}] = {error}{slope.format(n=n)};"


def _gradients(layers: int, decays: bool) -> Iterator[str]:
    for n in range(1, layers + 2):
        row, column = _index(n, layers), _index(n - 1, layers)
        place, error = f"[{row}][{column}]", f"{_error(n, layers)}[{row}]"
        shrinking = f" + decay * {weights_name(n)}{place}" * decays
        yield f"gw{n}{place} = {error} * {_values(n - 1)}[{column}]{shrinking};"
        yield f"gb{n}[{row}] = {error};"


Reals = NDArray[np.float64]


class _Perceptron(FixedPointEstimator):
    """Hidden layers between the inputs and the outputs.

    `coefs_` has the weights of each layer, [inputs, outputs], and `intercepts_` the biases, in the units of the data.
    """

    def _loss_name(self) -> str:
        """Return the name of the loss in :mod:`tabla.sklearn.perceptron`."""
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
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
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
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
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
        return tuple(checked_whole("hidden_layer_sizes", size, SIZE) for size in listed)

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
