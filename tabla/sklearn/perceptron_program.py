"""Programs of multilayer perceptrons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabla.sklearn.errors import error_of, iterators_of
from tabla.sklearn.program import Program

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
