"""What each function of ``tests/programs/tile_cpp`` computes, said in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tabla.base.source import Source
from tabla.languages.tile import Program
from tabla.languages.tile_cpp.trace import File, load, trace
from tests.languages.tile.references import Reference as TileReference

Array = np.ndarray[Any, Any]
PROGRAMS = Path(__file__).parents[2] / "programs" / "tile_cpp"


@dataclass(frozen=True, slots=True)
class Reference(TileReference):
    """A function with its arguments, what it gives, and the ranges of integers to draw."""

    whole: dict[str, tuple[int, int]] = field(default_factory=dict)

    def draw(self, seed: int) -> dict[str, Array]:
        """Inputs from a seed; reals are multiples of 1/256, so that words hold them exactly."""
        drawn = TileReference.draw(self, seed)
        random = np.random.default_rng([seed, 1])
        return drawn | {
            name: random.integers(low, high, self.shapes[name]).astype(np.float64)
            for name, (low, high) in self.whole.items()
        }


@cache
def file_of(name: str) -> File:
    """A file of programs."""
    return load(Source.from_path(PROGRAMS / f"{name}.cpp"))


def traced(name: str) -> Program:
    """The program of a reference."""
    file, _, function = name.partition(":")
    reference = REFERENCES[name]
    return trace(file_of(file), file_of(file).function(function), reference.shapes, reference.arguments)


def tutorial() -> dict[str, str]:
    """The functions of the tutorial by name, each as a text of its own, since three of them are called ``avg``."""
    functions: dict[str, str] = {}
    for part in (PROGRAMS / "tutorial.cpp").read_text().split("\nTensor "):
        text = f"Tensor {part.removeprefix('Tensor ')}"
        name = text.partition("(")[0].removeprefix("Tensor ")
        functions[f"{name}_{sum(other.startswith(name) for other in functions)}" if name == "avg" else name] = text
    return functions


def windows(image: Array, kernel: Array, steps: tuple[int, ...], spec: str) -> Array:
    """One result for each place at which a dilated kernel lies wholly on an image, whose first axes are those of
    `steps`.
    """
    axes = len(steps)
    reach = [step * (size - 1) for step, size in zip(steps, kernel.shape, strict=False)]
    sizes = [image.shape[a] - reach[a] for a in range(axes)]
    results = []
    for at in np.ndindex(*sizes):
        part = image[tuple(slice(at[a], at[a] + reach[a] + 1, steps[a]) for a in range(axes))]
        results.append(np.einsum(spec, part, kernel))
    return np.array(results).reshape(*sizes, *np.shape(results[0]))


def pooled(image: Array, window: int, how: Callable[..., Any]) -> Array:
    sizes = tuple(-(-size // window) for size in image.shape)
    out = np.empty(sizes)
    for at in np.ndindex(*sizes):
        out[at] = how(image[tuple(slice(window * a, window * a + window) for a in at)])
    return out


def complex_conv(I: Array, K: Array, s: tuple[int, int], d: tuple[int, int]) -> Array:
    N, X0, X1, G, _ = I.shape
    K0, K1, _, _, CO = K.shape
    Y = [-(-X0 // s[0]), -(-X1 // s[1])]
    reach = [(y - 1) * t + e * (k - 1) + 1 - x for y, t, e, k, x in zip(Y, s, d, (K0, K1), (X0, X1), strict=True)]
    P = [int(each / 2) for each in reach]  # toward zero, as in C++
    out = np.zeros((N, *Y, G, CO))
    for n, x0, x1, g, k0, k1 in np.ndindex(N, *Y, G, K0, K1):
        at = (s[0] * x0 + d[0] * k0 - P[0], s[1] * x1 + d[1] * k1 - P[1])
        if 0 <= at[0] < X0 and 0 <= at[1] < X1:
            out[n, x0, x1, g] += I[n, at[0], at[1], g] @ K[k0, k1, g]
    return out


def interleaved(I: Array, P: Array) -> Array:
    out = np.array(np.broadcast_to(P, 2 * len(I)))
    out[::2] = I
    return out


def strided(I: Array, K: Array, stride: int) -> Array:
    starts = range(0, len(I) - len(K) + 1, stride)
    return np.array([np.einsum("kc,kcd->d", I[x : x + len(K)], K) for x in starts])


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def softmax(I: Array) -> Array:
    e = np.exp(I - I.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def largest(A: Array, k: int) -> tuple[Array, Array]:
    order = np.argsort(-A, kind="stable")[:k]
    return A[order], order


REFERENCES: Mapping[str, Reference] = {
    "reductions:sum_of_rows": Reference({"I": (3, 4)}, lambda I: I.sum(1)),
    "reductions:product_of_columns": Reference({"I": (3, 4)}, lambda I: I.prod(0)),
    "reductions:least_of_columns": Reference({"I": (3, 4)}, lambda I: I.min(0)),
    "reductions:transpose": Reference({"I": (3, 4)}, lambda I: I.T),
    "reductions:every_second": Reference({"I": (7,)}, lambda I: I[::2]),
    "reductions:stuffed": Reference({"I": (4,)}, lambda I: np.stack([I, 0 * I], 1).reshape(-1)),
    "reductions:reversed": Reference({"I": (5,)}, lambda I: I[::-1]),
    "reductions:outer": Reference({"A": (3,), "B": (4,)}, lambda A, B: np.outer(A, B)),
    "reductions:tropical": Reference({"A": (3, 4), "B": (4, 2)}, lambda A, B: (A[:, :, None] + B).max(1)),
    "reductions:gram": Reference({"A": (3, 4)}, lambda A: A @ A.T),
    "reductions:trace": Reference({"A": (4, 4)}, lambda A: np.trace(A)),
    "reductions:lower_triangle": Reference({"A": (4, 5)}, lambda A: np.tril(A).sum(1)),
    "reductions:with_default": Reference({"I": (3,), "P": (6,)}, interleaved),
    "reductions:argmax_value": Reference({"I": (3, 4), "X": (4,)}, lambda I, X: np.maximum(X[I.argmax(1)], 0)),
    "reductions:built": Reference({"I": (3, 4)}, lambda I: I.sum(0)),
    "reductions:length": Reference({"I": (3, 4)}, lambda I: np.sqrt((I * I).sum())),
    "convolutions:same_1d": Reference({"I": (6,), "K": (3,)}, lambda I, K: np.convolve(I, K[::-1], "same")),
    "convolutions:strided_1d": Reference({"I": (8, 2), "K": (3, 2, 3)}, lambda I, K: strided(I, K, 2)),
    "convolutions:transposed_1d": Reference({"I": (5,), "K": (3,)}, lambda I, K: np.convolve(I, K)),
    "convolutions:depthwise": Reference(
        {"I": (4, 5, 2), "K": (2, 3, 2)}, lambda I, K: windows(I, K, (1, 1), "xyc,xyc->c")
    ),
    "convolutions:max_pool_2d": Reference({"I": (5, 4)}, lambda I: pooled(I, 2, np.max), {"w": 2}),
    "convolutions:mean_pool": Reference({"I": (6,)}, lambda I: pooled(I, 2, np.mean)),
    "convolutions:complex_conv_2d": Reference(
        {"I": (1, 5, 6, 2, 2), "K": (3, 2, 2, 2, 1)},
        lambda I, K: complex_conv(I, K, (2, 3), (1, 2)),
        {"s": (2, 3), "d": (1, 2)},
    ),
    "convolutions:sparse_windows": Reference({"I": (9,)}, lambda I: I[0::3] + I[1::3]),
    "convolutions:window_sum": Reference(
        {"I": (3, 4, 3)}, lambda I: windows(I, np.ones((2, 2, 2)), (1, 1, 1), "xyz,xyz->"), {"width": 2}
    ),
    "layers:dense": Reference({"X": (3,), "W": (2, 3), "B": (2,)}, lambda X, W, B: W @ X + B),
    "layers:relu": Reference({"I": (2, 3)}, lambda I: np.maximum(I, 0)),
    "layers:clamped": Reference({"I": (2, 3)}, lambda I: np.clip(I, -0.5, 0.25), {"high": 0.25}),
    "layers:softmax": Reference({"I": (2, 3)}, softmax),
    "layers:perceptron": Reference(
        {"X": (3,), "W1": (4, 3), "B1": (4,), "W2": (2, 4), "B2": (2,)},
        lambda X, W1, B1, W2, B2: sigmoid(W2 @ np.tanh(W1 @ X + B1) + B2),
    ),
    "layers:norm": Reference({"I": (5,)}, lambda I: (I - I.mean()) / np.sqrt(I.var() + 0.01)),
    "layers:both": Reference({"A": (3,), "B": (2, 3)}, lambda A, B: (A + B, A - 2 * B)),
    "layers:between": Reference({"A": (6,)}, lambda A: np.where(abs(A) < 0.5, A, 0.25)),
    "layers:polynomial": Reference({"A": (4,)}, lambda A: 0.5 - A + 2 * A**2, {"c": (0.5, -1, 2)}),
    "layers:powers": Reference({"A": (4,)}, lambda A: A**3 + np.sqrt(abs(A)) - 0.5),
    "layers:waves": Reference({"A": (4,)}, lambda A: np.sin(A) * np.cos(A) + np.exp(-A) - np.log(A * A + 1)),
    "layers:steps": Reference({"A": (6,)}, lambda A: np.floor(A * 2) + np.ceil(A) / 2 + np.round(A * 4) / 4),
    "layers:equal_to_first": Reference(
        {"A": (6,), "B": (6,)},
        lambda A, B: np.where(A == B, 1, np.where(A != 0, -1, 0)),
        whole={"A": (-1, 2), "B": (-1, 2)},
    ),
    "layers:truncated_integers": Reference({"A": (6,)}, lambda A: np.trunc(np.trunc(A * 4) / 3) - np.trunc(A)),
    "layers:coordinates": Reference({"A": (2, 3)}, lambda A: A + np.arange(2)[:, None] - 2 * np.arange(3)),
    "layers:reshaped": Reference({"A": (2, 3)}, lambda A: A.reshape(3, 2)),
    "layers:rows": Reference(
        {"T": (4, 2), "where": (3,)}, lambda T, where: T[where.astype(int)], whole={"where": (0, 4)}
    ),
    "layers:columns": Reference(
        {"T": (2, 4), "where": (3,)}, lambda T, where: T[:, where.astype(int)], whole={"where": (0, 4)}
    ),
    "layers:largest": Reference({"A": (5,)}, lambda A: largest(A, 3), {"k": 3}),
    "layers:mixture": Reference({"A": (3,)}, lambda A: A * 1.75 + A + A**2, {"scaled": True, "powers": (1, 2, 4, 1)}),
}
"""By file and function."""

TUTORIAL: Mapping[str, Reference] = {
    "sum_over_axis": Reference({"I": (3, 4)}, lambda I: I.sum(0)),
    "max_over_axis": Reference({"I": (3, 4)}, lambda I: I.max(0)),
    "matmul": Reference({"A": (3, 4), "B": (4, 2)}, lambda A, B: A @ B),
    "global_min": Reference({"I": (2, 3, 2)}, lambda I: I.min()),
    "avg_1": Reference({"I": (3, 4)}, lambda I: I.mean()),
    "avg_2": Reference({"I": (3, 4)}, lambda I: I.mean()),
    "wrong_max_pool_1d": Reference({"I": (6,)}, lambda I: np.full(3, I.max())),
    "max_pool_1d": Reference({"I": (5,)}, lambda I: pooled(I, 2, np.max)),
    "skip": Reference({"I": (3, 4)}, lambda I: np.array([I[0].sum(), 0, I[2].sum(), 0])),
    "csum": Reference({"I": (5,)}, lambda I: I.cumsum()),
    "conv_1d": Reference(
        {"I": (2, 5, 3), "K": (2, 3, 2)},
        lambda I, K: np.array([windows(each, K, (1,), "xc,xcd->d") for each in I]),
    ),
    "conv_2d": Reference(
        {"I": (1, 5, 6, 2), "K": (2, 2, 2, 3)},
        lambda I, K: np.array([windows(each, K, (2, 3), "xyc,xycd->d") for each in I]),
    ),
}
"""The functions of the tutorial that mean something."""
