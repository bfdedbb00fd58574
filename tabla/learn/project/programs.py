"""The programs of new projects, each line with the reason for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tabla.base.kinds import Kind
from tabla.base.source import TablaValueError

LINEAR, LOGISTIC, SOFTMAX, NETWORK, AUTOENCODER = "linear", "logistic", "softmax", "network", "autoencoder"
MODELS = (LINEAR, LOGISTIC, SOFTMAX, NETWORK, AUTOENCODER)
HIDDEN = 32
"""The values of the hidden layer of a network, if the user says nothing else."""
_MOST_HIDDEN = 4096
_COMMENT = 34
"""The column at which comments begin."""
_LISTED = 6
"""So many elements of an input are listed by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The kind of a model, one of `MODELS`, and the number of values in its hidden layer, if it has one."""

    kind: str
    hidden: int = 0

    @staticmethod
    def read(text: str) -> Model:
        """Return the model that a text such as ``network:32`` names. Any other text is a `TablaValueError`."""
        kind, colon, size = text.partition(":")
        hint = f"use one of {', '.join(MODELS)}, or network:32 for a hidden layer of 32"
        if kind not in MODELS or (colon and kind not in (NETWORK, AUTOENCODER)):
            raise TablaValueError(f"there is no model '{text}'; {hint}", hint=hint)
        if colon and not (size.isdecimal() and 0 < int(size) <= _MOST_HIDDEN):
            raise TablaValueError(f"'{size}' is no size of a hidden layer from 1 to {_MOST_HIDDEN}", hint=hint)
        return Model(kind=kind, hidden=int(size) if colon else HIDDEN if kind == NETWORK else 0)


@dataclass(frozen=True, kw_only=True)
class ModelKind(Kind):
    """The name of a model, with the size of its hidden layer."""

    @property
    def range(self) -> str:
        return f"{', '.join(MODELS)}, or network:32"

    def read(self, text: str) -> Model:
        return Model.read(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a program is about.

    `head` is the kind of its last layer: linear, logistic or softmax; an autoencoder has a linear one. `hidden` is the
    size of the hidden layer, or 0. `elements` are the names of the numbers of an input. `label` is what is predicted,
    and `classes` are its classes, if it has some. `learning_rate` is a number as the program writes it.
    """

    title: str
    data: str
    head: str
    hidden: int
    elements: Sequence[str]
    label: str
    classes: Sequence[str] = ()
    learning_rate: str = "0.0625"
    autoencodes: bool = field(default=False)


def program_text(outline: Outline) -> str:
    """Return the program, with a comment at each line that says what it computes, and why this is the gradient."""
    lines = [
        f"// {outline.title}",
        "//",
        f"// Data: {outline.data}",
        "// Run:  tabla train",
        "",
        *_sizes(outline),
        "",
        *_declarations(outline),
        "",
        *(_network(outline) if outline.hidden else _single(outline)),
    ]
    return "\n".join([*lines, ""])


def _with(code: str, comment: str) -> str:
    return f"{code:<{_COMMENT}}// {comment}" if len(code) < _COMMENT else f"{code}  // {comment}"


def _several(outline: Outline) -> bool:
    """Return whether the label is a vector."""
    return outline.head == SOFTMAX or outline.autoencodes


def _outputs(outline: Outline) -> str:
    """Return the name of the number of outputs."""
    return "m" if outline.autoencodes else "k"


def _sizes(outline: Outline) -> Iterator[str]:
    yield _with(f"m = {len(outline.elements)};", "the numbers of an input: its columns, each category counting as one")
    if outline.hidden:
        yield _with(f"n = {outline.hidden};", "the values of the hidden layer")
    if outline.head == SOFTMAX:
        yield _with(f"k = {len(outline.classes)};", "the classes")
    yield _with(f"mu = {outline.learning_rate};", "the learning rate: how far a step goes against the gradient")


def _declarations(outline: Outline) -> Iterator[str]:
    listed = ", ".join(outline.elements[:_LISTED]) + (", ..." if len(outline.elements) > _LISTED else "")
    yield _with("model_input  x[m];", f"{listed}")
    label = f"y[{_outputs(outline)}]" if _several(outline) else "y"
    yield _with(f"model_output {label};", _label(outline))
    yield _with(f"model        {', '.join(_models(outline))};", "what is learned")
    yield _with(f"gradient     {', '.join(_gradients(outline))};", _STEP)
    yield _with("iterator     i[0:m];", "over the input")
    if outline.hidden:
        yield _with("iterator     j[0:n];", "over the hidden layer")
    if _several(outline):
        yield _with(f"iterator     o[0:{_outputs(outline)}];", "over the outputs")
    if outline.head == SOFTMAX:
        yield _with("iterator     c[0:k];", "over the classes, inside of a sum")


_STEP = "after each sample the machine computes model = model - mu * gradient"


def _label(outline: Outline) -> str:
    if outline.autoencodes:
        return "the input again: the network learns to give back what it reads"
    if outline.head == SOFTMAX:
        return f"{outline.label}: a 1 for one of {', '.join(outline.classes[:_LISTED])}" + (
            ", ..." if len(outline.classes) > _LISTED else ""
        )
    if outline.head == LOGISTIC:
        return f"{outline.label}: 0 for {outline.classes[0]}, 1 for {outline.classes[1]}"
    return f"{outline.label}, standardised"


def _models(outline: Outline) -> list[str]:
    k = _outputs(outline)
    if outline.hidden:
        return ["w1[n][m]", "b1[n]", *([f"w2[{k}][n]", f"b2[{k}]"] if _several(outline) else ["w2[n]", "b2"])]
    return [f"w[{k}][m]", f"b[{k}]"] if _several(outline) else ["w[m]", "b"]


def _gradients(outline: Outline) -> list[str]:
    return [f"g{model} -> {model.partition('[')[0]}" for model in _models(outline)]


def _head(outline: Outline, weighted: str) -> Iterator[str]:
    """Yield the last layer, from its `weighted` sum to the error e, the derivative of the loss by that sum."""
    if outline.head == SOFTMAX:
        yield _with(f"z[o] = {weighted};", "a score for each class")
        yield _with(
            "s[o] = exp(0.5 * z[o] - 0.5 * max[c](z[c]));", "the largest score is taken from all: no power overflows"
        )
        yield _with(
            "p[o] = s[o] * s[o] / sum[c](s[c] * s[c]);", "the probabilities of the classes, the softmax of the scores"
        )
        yield "// The loss is the cross entropy L = -log of the probability of the right class."
        yield _with("e[o] = p[o] - y[o];", "dL/dz: the derivative of log p[r] by z[o] is (1 if o = r) - p[o]")
    elif outline.head == LOGISTIC:
        yield _with(f"h = sigmoid({weighted});", f"the probability of {outline.classes[1]}; z is what it reads")
        yield "// The loss is the cross entropy L = -y log h - (1 - y) log(1 - h)."
        yield _with("e = h - y;", "dL/dz: the slope h (1 - h) of sigmoid cancels the denominators of dL/dh")
    elif outline.autoencodes:
        yield _with(f"r[o] = {weighted};", "what the network gives back")
        yield "// The loss is half the sum of the squared errors, L = (r - y)^2 / 2."
        yield _with("e[o] = r[o] - y[o];", "dL/dr")
    else:
        yield _with(f"h = {weighted};", "the prediction")
        yield "// The loss is half the squared error, L = (h - y)^2 / 2."
        yield _with("e = h - y;", "dL/dh")


def _single(outline: Outline) -> Iterator[str]:
    """Yield a model of one layer."""
    if _several(outline):
        yield from _head(outline, "sum[i](w[o][i] * x[i]) + b[o]")
        yield _with("gw[o][i] = e[o] * x[i];", "dL/dw: the sum of an output grows by x[i] where w[o][i] grows by 1")
        yield _with("gb[o] = e[o];", "dL/db: the sum grows as b[o] does")
    else:
        yield from _head(outline, "sum[i](w[i] * x[i]) + b")
        yield _with("gw[i] = e * x[i];", "dL/dw: the sum grows by x[i] where w[i] grows by 1")
        yield _with("gb = e;", "dL/db: the sum grows as b does")


def _network(outline: Outline) -> Iterator[str]:
    """Yield a network with one hidden layer."""
    yield _with("u[j] = sum[i](w1[j][i] * x[i]) + b1[j];", "the sums of the hidden layer")
    if outline.autoencodes:
        yield _with("a[j] = tanh(u[j]);", "its values, fewer than the input has: the network has to summarise")
        slope, why = "(1 - a[j] * a[j])", "the slope of tanh is 1 - tanh^2"
    else:
        yield _with("on[j] = u[j] > 0;", "1 where a sum is positive, and else 0")
        yield _with("a[j] = on[j] * u[j];", "the values of the hidden layer: the positive sums (ReLU)")
        slope, why = "on[j]", "the slope of ReLU is 1 or 0"
    if _several(outline):
        yield from _head(outline, "sum[j](w2[o][j] * a[j]) + b2[o]")
        yield _with(f"d[j] = sum[o](w2[o][j] * e[o]) * {slope};", f"dL/du: the error, back through w2; {why}")
        yield _with("gw2[o][j] = e[o] * a[j];", "dL/dw2: the sum of an output grows by a[j] where w2[o][j] grows by 1")
        yield _with("gb2[o] = e[o];", "dL/db2")
    else:
        yield from _head(outline, "sum[j](w2[j] * a[j]) + b2")
        yield _with(f"d[j] = w2[j] * e * {slope};", f"dL/du: the error, back through w2; {why}")
        yield _with("gw2[j] = e * a[j];", "dL/dw2: the sum grows by a[j] where w2[j] grows by 1")
        yield _with("gb2 = e;", "dL/db2")
    yield _with("gw1[j][i] = d[j] * x[i];", "dL/dw1: a hidden sum grows by x[i] where w1[j][i] grows by 1")
    yield _with("gb1[j] = d[j];", "dL/db1")
