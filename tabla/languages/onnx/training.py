"""Fine-tuning: a model as a program of Tile in which some initialisers take steps against a gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from tabla.base.faults import did_you_mean
from tabla.base.source import Span, TablaError, TablaValueError
from tabla.languages.losses import LABEL, Loss, checked_loss
from tabla.languages.onnx.model import MACHINE_LEARNING, Model, Node
from tabla.languages.onnx.operators.distributions import softmax
from tabla.languages.onnx.program import Imported
from tabla.languages.onnx.tiles import made, number, pair
from tabla.languages.onnx.translate import Translation, Translator
from tabla.languages.onnx.values import Known, Tensor
from tabla.languages.tile import program as tile
from tabla.languages.tile.gradient import backwards, derivative

_SAME = ("Identity", "ZipMap", "Normalizer", "Cast", "Dropout", "Reshape", "Flatten", "Squeeze")
"""Operators behind probabilities that only pass them on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What is asked for: the initialisers that learn, or those that do not, the loss, and the learning rate.

    Without `train`, all learn that can, but those of `freeze`.
    """

    train: tuple[str, ...]
    freeze: tuple[str, ...]
    loss: str | None
    rate: Fraction | None

    def checked(self) -> tuple[Loss, Fraction]:
        """Return the loss and the rate. One that is missing or wrong is a `TablaError`."""
        if self.train and self.freeze:
            raise TablaValueError("--train and --freeze are both given", hint="say what learns, or what does not")
        return checked_loss(self.loss, self.rate, "model")


def learning(model: Model, shapes: Mapping[str, Sequence[int]], tuning: Tuning) -> Imported:
    """Return the program in which some initialisers of a model learn from the label ``label``.

    The loss is on the scores: the operand of the last Softmax or Sigmoid of the first result of real numbers, or else
    that result itself. What cannot learn is a `TablaError`.
    """
    loss, rate = tuning.checked()
    learned = _learned(model, shapes, tuning)
    translated = Translator(model, shapes, learned).run()
    weights = _weights(model, translated, learned)
    scores, probabilities, span = _decision(model, translated)
    label = tile.Input(shape=scores.shape, kind="float", name=tile.Name(LABEL), parameter=LABEL)
    predicted = scores if loss == "mse" else probabilities
    error = made("subtract", predicted, label, span=span)
    error.name.text = "error"
    backward = backwards(scores, error, weights, span)
    for node in weights:
        if backward.of(node) is None:
            _refuse(f"'{node.parameter}' cannot learn: the loss does not depend on it", "leave it out of --train")
    steps = [tile.Step(weights=node, gradient=derivative(backward, node), rate=rate, span=span) for node in weights]
    nodes = tile.ordered([*(step.gradient for step in steps), *weights])
    held = [node for node in translated.weights if node in nodes]
    program = tile.Program(
        name=model.name,
        inputs=(*translated.inputs, label, *held),
        outputs=(),
        steps=tuple(steps),
        labels=(label,),
        predicted=predicted,
    )
    return Imported(
        program=program,
        models={node.parameter: translated.models[node.parameter] for node in held},
        means=translated.means,
        deviations=translated.deviations,
        merged=translated.merged,
    )


def _learned(model: Model, shapes: Mapping[str, Sequence[int]], tuning: Tuning) -> list[str]:
    """Return the names of the arrays that learn, as the model has them."""
    # An array of a layer that would be merged can learn, too, and then the layer is not merged.
    found = Translator(model, shapes, merging=False).run()
    can = [
        name for name in _candidates(model, found) if found.names[name] in {node.parameter for node in found.weights}
    ]
    uniform = _uniform(model, shapes, found)
    can = [name for name in dict.fromkeys((*model.arrays, *can)) if name in can or name in uniform]
    by_name = {**{found.names.get(name, name): name for name in (*model.arrays, *can)}, **{n: n for n in model.arrays}}
    for option, names in (("--train", tuning.train), ("--freeze", tuning.freeze)):
        for name in names:
            if name not in by_name:
                hint = did_you_mean(name, can) or f"it can train {', '.join(can) or 'none of its arrays'}"
                raise TablaValueError(f"{option} {name}: the model has no such initialiser", hint=hint)
    if tuning.train:
        return [by_name[name] for name in dict.fromkeys(tuning.train)]
    kept = {by_name[name] for name in tuning.freeze}
    learned = [name for name in can if name not in kept]
    if not can:
        raise TablaValueError("the model has no initialiser that can learn", hint="leave --loss out to infer with it")
    if not learned:
        raise TablaValueError("--freeze leaves nothing that learns", hint="name fewer initialisers")
    return learned


def _candidates(model: Model, found: Translation) -> list[str]:
    """Return the initialisers of real numbers, and the arrays of linear models, by their names in the model."""
    own = [f"{node.name or node.operator}." for node in model.nodes if node.domain == MACHINE_LEARNING]
    linear = [name for name in found.names if name.endswith((".coefficients", ".intercepts"))]
    arrays = [name for name, array in model.arrays.items() if array.dtype.kind == "f" and name in found.names]
    return arrays + [name for name in linear if name.startswith(tuple(own)) and name not in arrays]


_LAYERS = ("Gemm", "Conv", "ConvTranspose")
"""Operators whose arrays are weights and a bias."""


def _uniform(model: Model, shapes: Mapping[str, Sequence[int]], found: Translation) -> list[str]:
    """Return the weights and biases that are one number without training, because their elements are equal.

    A bias often begins as zeros, and is none the less a bias.
    """
    of_layers = {name for node in model.nodes if node.operator in _LAYERS for name in node.inputs[1:]}
    names = []
    for name, array in model.arrays.items():
        plain = array.dtype.kind == "f" and array.ndim > 0 and (array.size > 1 or name in of_layers)
        if plain and found.names.get(name) not in {node.parameter for node in found.weights}:
            try:
                alone = Translator(model, shapes, [name], merging=False).run()
            except TablaError:  # an operator folds it, so it cannot learn
                continue
            if alone.names.get(name) in {node.parameter for node in alone.weights}:
                names.append(name)
    return names


def _weights(model: Model, translated: Translation, learned: Sequence[str]) -> list[tile.Input]:
    """Return the tensors of the arrays that learn. One that is no tensor of the program is a `TablaError`."""
    held = {node.parameter: node for node in translated.weights}
    found = []
    for name in learned:
        node = held.get(translated.names.get(name, name))
        if node is None:
            _refuse(f"'{name}' cannot learn: no result of the model depends on it", "leave it out of --train")
        if name in model.arrays and model.arrays[name].dtype.kind != "f":
            _refuse(f"'{name}' cannot learn: it holds integers", "leave it out of --train")
        found.append(node)
    return found


def _decision(model: Model, translated: Translation) -> tuple[tile.Node, tile.Node, Span | None]:
    """Return the scores and the probabilities of the first result of real numbers, and its place.

    A result that is no probability is scores. Its probabilities are a softmax over the last axis, or the sigmoid of a
    single score.
    """
    sources = {output: node for node in model.nodes for output in node.outputs}
    for result in model.outputs:
        value = translated.values[result]
        if not isinstance(value, Tensor) or value.node.kind != "float":
            continue
        name = result
        while name not in translated.decisions and name in sources and sources[name].operator in _SAME:
            name = sources[name].inputs[0]
        span = sources[name].span if name in sources else None
        if name in translated.decisions:
            scores, probabilities = translated.decisions[name]
            return scores.node, probabilities.node, span
        chance = _second_of_two(translated, sources, name)
        if chance is not None:
            zero = number(0, span=span)
            return pair(zero, translated.decisions[chance][0].node, span), value.node, span
        node = value.node
        several = bool(node.shape) and node.shape[-1] > 1
        chances = softmax(node, len(node.shape) - 1, span) if several else made("sigmoid", node, span=span)
        chances.name.text = "probabilities"
        return node, chances, span
    _refuse("the model has no result of real numbers, so there is no loss", "export it with its scores as a result")


def _second_of_two(translated: Translation, sources: Mapping[str, Node], name: str) -> str | None:
    """Return the name of p if a value is the probabilities 1 - p and p of two classes, p being a score's sigmoid.

    Return None for any other value. Such probabilities are the softmax of the scores 0 and that score.
    """
    joined = sources.get(name)
    if joined is None or joined.operator != "Concat" or len(joined.inputs) != 2:
        return None
    first, chance = joined.inputs
    rest = sources.get(first)
    if rest is None or rest.operator != "Sub" or rest.inputs[1] != chance or chance not in translated.decisions:
        return None
    one, score = translated.values.get(rest.inputs[0]), translated.decisions[chance][0]
    whole = isinstance(one, Known) and one.array.size == 1 and float(one.array.reshape(-1)[0]) == 1.0
    return chance if whole and score.shape == (1,) else None


def _refuse(message: str, hint: str) -> NoReturn:
    raise TablaError(message, hint=hint)
