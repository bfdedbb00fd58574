"""The networks of the table. Their layers have the shapes of published ones; their weights are random.

DS-CNN, MobileNetV1 0.25, ResNet-8 and the autoencoder are the four of MLPerf Tiny
(https://github.com/mlcommons/tiny, ``benchmark/training``), with normalisations already merged into the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.networks.layers import Layers

PES = 64
Write = Callable[[Path], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network of the table.

    `write` writes the model into a file. `most` is the aim for the processor time of ``gen`` as a multiple of that of
    the perceptron before there was this table; None stands for a network without an aim.
    """

    name: str
    write: Write
    most: float | None = None


def _perceptron(file: Path) -> None:
    made = Layers([784])
    x = made.dense(made.relu(made.dense("x", 784, 128)), 128, 10)
    made.write(made.add("Softmax", x, axis=1), file)


def _autoencoder(file: Path) -> None:
    made, x, wide = Layers([640]), "x", 640
    for outputs in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x, wide = made.relu(made.dense(x, wide, outputs)), outputs
    made.write(made.dense(x, wide, 640), file)


def _lenet(file: Path) -> None:
    made = Layers([1, 28, 28])
    x = made.halved(made.relu(made.convolution("x", 1, 6, (5, 5), pads=2)))
    x = made.halved(made.relu(made.convolution(x, 6, 16, (5, 5), pads=0)))
    x = made.add("Flatten", x, axis=1)
    x = made.relu(made.dense(x, 400, 120))
    x = made.relu(made.dense(x, 120, 84))
    made.write(made.dense(x, 84, 10), file)


def _cifar(file: Path) -> None:
    made, x, channels = Layers([3, 32, 32]), "x", 3
    for outputs in (16, 32, 64):
        x, channels = made.halved(made.relu(made.convolution(x, channels, outputs, (3, 3), pads=1))), outputs
    made.write(made.dense(made.add("Flatten", x, axis=1), 1024, 10), file)


def _keywords_of_a_line(file: Path) -> None:
    made, x, channels = Layers([40, 98]), "x", 40
    for outputs in (32, 32, 64):
        x, channels = made.halved(made.relu(made.convolution(x, channels, outputs, (3,), pads=1)), 1), outputs
    made.write(made.dense(made.mean(x), 64, 12), file)


def _keywords(file: Path) -> None:
    made = Layers([1, 49, 10])
    x = made.relu(made.convolution("x", 1, 64, (10, 4), stride=2))
    for _ in range(4):
        x = made.relu(made.convolution(x, 64, 64, (3, 3), groups=64))
        x = made.relu(made.convolution(x, 64, 64, (1, 1)))
    made.write(made.add("Softmax", made.dense(made.mean(x), 64, 12), axis=1), file)


def _residual(file: Path) -> None:
    made, channels = Layers([3, 32, 32]), 16
    x = made.relu(made.convolution("x", 3, 16, (3, 3)))
    for outputs, stride in ((16, 1), (32, 2), (64, 2)):
        y = made.relu(made.convolution(x, channels, outputs, (3, 3), stride=stride))
        y = made.convolution(y, outputs, outputs, (3, 3))
        if stride > 1:
            x = made.convolution(x, channels, outputs, (1, 1), stride=stride)
        x, channels = made.relu(made.add("Add", x, y)), outputs
    made.write(made.add("Softmax", made.dense(made.mean(x), 64, 10), axis=1), file)


def _separable(file: Path) -> None:
    made, channels = Layers([3, 96, 96]), 8
    x = made.relu(made.convolution("x", 3, channels, (3, 3), stride=2))
    strides = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1))
    for outputs, stride in strides:
        x = made.relu(made.convolution(x, channels, channels, (3, 3), stride=stride, groups=channels))
        x, channels = made.relu(made.convolution(x, channels, outputs, (1, 1))), outputs
    made.write(made.add("Softmax", made.dense(made.mean(x), 256, 2), axis=1), file)


def _grouped(file: Path) -> None:
    made = Layers([64, 12, 12])
    made.write(made.convolution("x", 64, 64, (3, 3), pads=0, groups=4), file)


def _normalised(made: Layers, x: str, wide: int) -> str:
    """Add the normalisation of the last axis, written out."""
    deviation = made.add("Sub", x, made.add("ReduceMean", x, axes=[-1], keepdims=1))
    variance = made.add("ReduceMean", made.add("Mul", deviation, deviation), axes=[-1], keepdims=1)
    root = made.add("Sqrt", made.add("Add", variance, made.constant(1e-2, np.float32)))
    scaled = made.add("Mul", made.add("Div", deviation, root), made.weights(wide, deviation=1.0))
    return made.add("Add", scaled, made.weights(wide, deviation=0.1))


def transformer_block(made: Layers, tokens: int, wide: int, heads: int, hidden: int) -> str:
    """Add a block of a transformer on the input of `tokens` rows of `wide` words: attention, and a perceptron with so
    many `hidden` words, each normalised. Return its result.
    """
    head = wide // heads

    def by_head(x: str, order: list[int]) -> str:
        return made.add("Transpose", made.add("Reshape", x, made.constant([0, tokens, heads, head])), perm=order)

    query, key, value = (made.linear("x", wide, wide) for _ in range(3))
    scores = made.add("MatMul", by_head(query, [0, 2, 1, 3]), by_head(key, [0, 2, 3, 1]))
    shares = made.add("Softmax", made.add("Mul", scores, made.constant(head**-0.5, np.float32)), axis=-1)
    mixed = made.add("Transpose", made.add("MatMul", shares, by_head(value, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
    mixed = made.linear(made.add("Reshape", mixed, made.constant([0, tokens, wide])), wide, wide)
    x = _normalised(made, made.add("Add", "x", mixed), wide)
    after = made.linear(made.relu(made.linear(x, wide, hidden)), hidden, wide)
    return _normalised(made, made.add("Add", x, after), wide)


def _transformer(file: Path) -> None:
    """Write a block of a transformer: 16 tokens of 32 words, two heads, and a perceptron of 128 hidden words."""
    made = Layers([16, 32])
    made.write(transformer_block(made, tokens=16, wide=32, heads=2, hidden=128), file)


NETWORKS = (
    Network(name="perceptron", write=_perceptron),
    Network(name="autoencoder", write=_autoencoder),
    Network(name="lenet", write=_lenet, most=4.0),
    Network(name="cifar", write=_cifar, most=4.0),
    Network(name="keywords-1d", write=_keywords_of_a_line, most=4.0),
    Network(name="transformer", write=_transformer, most=4.0),
    Network(name="grouped", write=_grouped),
    Network(name="keywords", write=_keywords, most=6.0),
    Network(name="resnet", write=_residual, most=6.0),
    Network(name="mobilenet", write=_separable, most=8.0),
)
