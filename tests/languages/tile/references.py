"""What each program of ``tests/programs/tile`` computes, said in numpy.

``REFERENCES["file:function"]`` has the shapes of the tensors, other arguments, and a function of the arrays by name
that gives the results in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tabla.languages.tile import Program, load, trace

Array = np.ndarray[Any, Any]
PROGRAMS = Path(__file__).parents[2] / "programs" / "tile"


@dataclass(frozen=True, slots=True)
class Reference:
    """A program with its arguments, and what it gives."""

    shapes: dict[str, tuple[int, ...]]
    results: Callable[..., Any]
    arguments: dict[str, Any] = field(default_factory=dict)

    def draw(self, seed: int) -> dict[str, Array]:
        """Inputs from a seed; multiples of 1/256, so that words hold them exactly."""
        random = np.random.default_rng(seed)
        return {n: np.asarray(np.round(random.uniform(-1.5, 1.5, s) * 256) / 256) for n, s in self.shapes.items()}

    def expected(self, arrays: dict[str, Array]) -> tuple[Array, ...]:
        """The results."""
        found = self.results(**arrays)
        return tuple(np.asarray(each) for each in (found if isinstance(found, tuple) else (found,)))


def traced(name: str) -> Program:
    """The program of a reference."""
    file, _, function = name.partition(":")
    reference = REFERENCES[name]
    return trace(load(PROGRAMS / f"{file}.py", function), reference.shapes, reference.arguments)


def padded(array: Array, low: int, high: int, axis: int = 0) -> Array:
    widths = [(0, 0)] * array.ndim
    widths[axis] = (low, high)
    return np.pad(array, widths)


def conv(image: Array, kernel: Array, stride: int = 1, dilation: int = 1) -> Array:
    """One axis, valid."""
    reach = dilation * (len(kernel) - 1)
    starts = range(0, len(image) - reach, stride)
    return np.array([sum(image[s + dilation * k] * kernel[k] for k in range(len(kernel))) for s in starts])


def conv_channels(image: Array, kernel: Array, stride: int = 1) -> Array:
    """``[x, ci]`` and ``[k, ci, co]``."""
    starts = range(0, len(image) - len(kernel) + 1, stride)
    return np.array([np.einsum("kc,kcd->d", image[s : s + len(kernel)], kernel) for s in starts])


def conv_2d(image: Array, kernel: Array) -> Array:
    kx, ky = kernel.shape[:2]
    rows, columns = image.shape[0] - kx + 1, image.shape[1] - ky + 1
    spec = "xy,xy->" if image.ndim == 2 else "xyc,xycd->d"
    return np.array(
        [[np.einsum(spec, image[x : x + kx, y : y + ky], kernel) for y in range(columns)] for x in range(rows)]
    )


def dilated(I: Array, K: Array) -> Array:
    wide = np.zeros((2 * (K.shape[0] - 1) + 1, 3 * (K.shape[1] - 1) + 1, *K.shape[2:]))
    wide[::2, ::3] = K
    return np.array([conv_2d(each, wide) for each in I])


def complex_conv(I: Array, K: Array, s: tuple[int, int] = (2, 3), d: tuple[int, int] = (1, 2)) -> Array:
    N, X0, X1, G, _ = I.shape
    K0, K1, _, _, CO = K.shape
    Y = [-(-X0 // s[0]), -(-X1 // s[1])]
    P = [((y - 1) * t + e * (k - 1) + 1 - x) // 2 for y, t, e, k, x in zip(Y, s, d, (K0, K1), (X0, X1), strict=True)]
    out = np.zeros((N, *Y, G, CO))
    for n, x0, x1, g, k0, k1 in np.ndindex(N, *Y, G, K0, K1):
        at = (s[0] * x0 + d[0] * k0 - P[0], s[1] * x1 + d[1] * k1 - P[1])
        if 0 <= at[0] < X0 and 0 <= at[1] < X1:
            out[n, x0, x1, g] += I[n, at[0], at[1], g] @ K[k0, k1, g]
    return out


def pooled(I: Array, window: int, how: Callable[[Array], Any], count: int) -> Array:
    parts = [I[window * n : window * (n + 1)] for n in range(count)]
    return np.array([how(part) if len(part) else 0.0 for part in parts])


def transposed_2d(I: Array, K: Array) -> Array:
    out = np.zeros((I.shape[0] + K.shape[0] - 1, I.shape[1] + K.shape[1] - 1))
    for x, y in np.ndindex(*I.shape):
        out[x : x + K.shape[0], y : y + K.shape[1]] += I[x, y] * K
    return out


def input_gradient(D: Array, K: Array) -> Array:
    out = np.zeros(3 * len(D) + 1)
    for x, k in np.ndindex(len(D), len(K)):
        if 3 * x + k < len(out):
            out[3 * x + k] += D[x] * K[k]
    return out


def stuffed(I: Array) -> Array:
    return np.stack([I, np.zeros_like(I)], axis=1).reshape(-1)


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def softmax(I: Array, axis: int | None = None) -> Array:
    e = np.exp(I - I.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def norm(I: Array, G: Array, B: Array) -> Array:
    return G * (I - I.mean()) / np.sqrt(I.var() + 0.01) + B


def tropical(A: Array, B: Array, how: str = "max") -> Array:
    return np.asarray(getattr((A[:, :, None] + B[None]), how)(axis=1))


def diagonal_sums(A: Array) -> Array:
    flipped = A[:, ::-1]
    return np.array([np.trace(flipped, offset=A.shape[1] - 1 - d) for d in range(sum(A.shape) - 1)])


def scattered_maxima(A: Array) -> Array:
    out: dict[int, float] = {}
    for i, j in np.ndindex(*A.shape):
        if 2 * i + j < sum(A.shape):
            out[2 * i + j] = max(out.get(2 * i + j, -9.0), A[i, j])
    return np.array([out.get(n, 0.0) for n in range(sum(A.shape))])


def butterfly(I: Array, K: Array) -> float:
    pairs = np.ndindex(len(I), len(K))
    return float(sum(I[s] * K[d] for s, d in pairs if (s + d) % 2 == 0))


def irregular(A: Array, B: Array) -> Array:
    out = []
    for i in range(9):
        at = [(2 * k - i + 1, 3 * k - 2 * i + 4) for k in range(-9, 19)]
        sums = [A[a] + B[b] for a, b in at if 0 <= a < len(A) and 0 <= b < len(B)]
        out.append(max(sums) if sums else 0.0)
    return np.array(out)


def last_argmax(I: Array) -> Array:
    return np.array([max(np.flatnonzero(row == row.max())) for row in I])


def rotary(X: Array, Y: Array) -> tuple[Array, Array]:
    angle = 0.75 * np.arange(len(X))[:, None]
    return X * np.cos(angle) - Y * np.sin(angle), X * np.sin(angle) + Y * np.cos(angle)


def comparisons(A: Array, B: Array) -> Array:
    return (A < B) + 2.0 * (A <= B) + 4 * (A == B) - 1.0 * (A != B) - 2 * (A > B) + 3 * (A >= B)


def embedded(Table: Array, Where: Array) -> Array:
    places = np.clip(np.floor(Where * 4), -1, 4).astype(int)
    return np.array([[Table[p] if 0 <= p < 4 else np.zeros(3) for p in row] for row in places])


def depth(I: Array) -> Array:
    X, Y = I.shape
    return I.reshape(X // 2, 2, Y // 2, 2).transpose(0, 2, 1, 3).reshape(X // 2, Y // 2, 4)


def variance(I: Array) -> tuple[float, float]:
    return float(I.mean()), float(I.var())


def running_min(I: Array) -> Array:
    return np.array([0.0, *np.minimum.accumulate(I)[:-1]])


def _seed() -> dict[str, Reference]:
    return {
        "sum_over_axis": Reference({"I": (3, 4)}, lambda I: I.sum(0)),
        "sum_over_axis_padded": Reference({"I": (3, 4)}, lambda I: np.append(I.sum(0), 0)),
        "max_over_axis": Reference({"I": (3, 4)}, lambda I: I.max(0)),
        "matmul": Reference({"A": (4, 6), "B": (6, 3)}, lambda A, B: A @ B),
        "global_min": Reference({"I": (3, 2, 4)}, lambda I: I.min()),
        "avg": Reference({"I": (3, 4)}, lambda I: I.mean(0)),
        "avg_stages": Reference({"I": (3, 4)}, lambda I: I.mean()),
        "avg_merge": Reference({"I": (3, 4)}, lambda I: I.mean()),
        "wrong_max_pool_1d": Reference({"I": (8,)}, lambda I: np.full(4, I.max())),
        "max_pool_1d": Reference({"I": (7,)}, lambda I: pooled(I, 2, np.max, 4)),
        "skip": Reference({"I": (5, 6)}, lambda I: np.append(np.where(np.arange(5) % 2, 0, I.sum(1)), 0)),
        "csum": Reference({"I": (6,)}, lambda I: np.cumsum(I)),
        "conv_1d": Reference(
            {"I": (2, 8, 3), "K": (3, 3, 4)}, lambda I, K: np.array([conv_channels(each, K) for each in I])
        ),
        "conv_2d_dilated": Reference({"I": (1, 6, 8, 2), "K": (2, 3, 2, 2)}, dilated),
        "complex_conv_2d": Reference(
            {"I": (1, 5, 7, 2, 2), "K": (3, 2, 2, 2, 1)}, complex_conv, {"s0": 2, "s1": 3, "d0": 1, "d1": 2}
        ),
    }


def _convolutions() -> dict[str, Reference]:
    return {
        "conv_strided": Reference({"I": (9, 2), "K": (3, 2, 3)}, lambda I, K: conv_channels(I, K, 2)),
        "conv_same": Reference({"I": (8,), "K": (3,)}, lambda I, K: conv(padded(I, 1, 1), K)),
        "conv_dilated": Reference({"I": (9,), "K": (3,)}, lambda I, K: conv(I, K, 1, 3), {"d": 3}),
        "conv_2d": Reference({"I": (5, 6), "K": (2, 3)}, lambda I, K: conv_2d(I, K)),
        "conv_2d_same": Reference(
            {"I": (4, 5, 2), "K": (3, 3, 2, 2)}, lambda I, K: conv_2d(padded(padded(I, 1, 1), 1, 1, 1), K)
        ),
        "conv_depthwise": Reference(
            {"I": (7, 3), "K": (3, 3)}, lambda I, K: np.array([conv(I[:, c], K[:, c]) for c in range(3)]).T
        ),
        "conv_grouped": Reference(
            {"I": (6, 2, 2), "K": (3, 2, 2, 2)},
            lambda I, K: np.stack([conv_channels(I[:, g], K[:, g]) for g in range(2)], axis=1),
        ),
        "conv_transposed": Reference({"I": (5,), "K": (3,)}, lambda I, K: np.convolve(stuffed(I)[:-1], K)),
        "conv_transposed_2d": Reference({"I": (3, 4), "K": (2, 3)}, transposed_2d),
        "conv_transposed_cut": Reference({"I": (6,), "K": (3,)}, lambda I, K: np.convolve(I, K)[1:-1]),
        "zero_stuffed": Reference({"I": (5,)}, stuffed),
        "conv_input_gradient": Reference({"D": (4,), "K": (4,)}, input_gradient),
        "max_pool_ragged": Reference(
            {"I": (5, 7)},
            lambda I: np.array([[I[2 * x : 2 * x + 2, 3 * y : 3 * y + 3].max() for y in range(3)] for x in range(3)]),
        ),
        "max_pool_overlapping": Reference(
            {"I": (7,)}, lambda I: np.array([I[max(0, x - 1) : x + 2].max() for x in range(7)])
        ),
        "min_pool": Reference({"I": (7,)}, lambda I: pooled(I, 3, np.min, 3)),
        "max_pool_padded": Reference({"I": (5,)}, lambda I: pooled(I, 2, np.max, 5)),
        "average_pool": Reference({"I": (7, 2)}, lambda I: I[:6].reshape(3, 2, 2).mean(1)),
        "average_pool_ragged": Reference({"I": (7,)}, lambda I: pooled(I, 2, np.mean, 4)),
        "im2col": Reference({"I": (6,)}, lambda I: np.array([I[x : x + 3] for x in range(4)])),
        "fir": Reference({"X": (7,), "H": (3,)}, lambda X, H: np.convolve(X, H)[:7]),
    }


def _reductions() -> dict[str, Reference]:
    return {
        "reverse_sum": Reference({"I": (6,)}, lambda I: np.cumsum(I[::-1])[::-1]),
        "running_max": Reference({"I": (6,)}, lambda I: np.maximum.accumulate(I)),
        "running_product": Reference({"I": (5,)}, lambda I: np.cumprod(I)),
        "exclusive_running_min": Reference({"I": (6,)}, running_min),
        "band_sum": Reference({"I": (7,)}, lambda I: conv(padded(I, 1, 1), np.ones(3))),
        "triangular_matmul": Reference({"A": (4, 4), "B": (4, 3)}, lambda A, B: np.tril(A) @ B),
        "lower_triangle": Reference({"A": (4, 4)}, lambda A: np.tril(A)),
        "tropical_matmul": Reference({"A": (3, 4), "B": (4, 3)}, tropical),
        "shortest_paths": Reference(
            {"D": (4, 4)}, lambda D: tropical(tropical(D, D, "min"), tropical(D, D, "min"), "min")
        ),
        "widest_product": Reference({"A": (3, 4), "B": (4, 2)}, lambda A, B: (A[:, :, None] * B[None]).max(1)),
        "viterbi_step": Reference({"S": (4,), "T": (4, 4), "E": (4,)}, lambda S, T, E: (S[:, None] + T).max(0) + E),
        "argmax_by_cond": Reference({"I": (4, 5)}, last_argmax),
        "count_of_maxima": Reference({"I": (6,)}, lambda I: (I == I.max()).sum()),
        "gram": Reference({"A": (3, 4)}, lambda A: A @ A.T),
        "polynomial_product": Reference({"A": (4,), "B": (3,)}, lambda A, B: np.convolve(A, B)),
        "antidiagonal_sums": Reference({"A": (3, 4)}, diagonal_sums),
        "antidiagonal_maxima": Reference({"A": (4, 3)}, scattered_maxima),
        "trace_of": Reference({"A": (4, 4)}, lambda A: np.trace(A)),
        "diagonal": Reference({"A": (4, 4)}, lambda A: np.diag(A)),
        "butterfly": Reference({"I": (5,), "K": (4,)}, butterfly),
        "product_over_axis": Reference({"I": (3, 4)}, lambda I: np.append(I.prod(0), 0)),
        "product_of_pairs": Reference({"A": (3, 4), "B": (3,)}, lambda A, B: (A + B[:, None]).prod(0)),
        "correlation_lags": Reference({"A": (6,)}, lambda A: np.array([A[: 6 - n] @ A[n:] for n in range(3)])),
        "variance": Reference({"I": (8,)}, variance),
        "irregular_maxima": Reference({"A": (2,), "B": (2,)}, irregular),
        "distances": Reference({"A": (3, 2), "B": (4, 2)}, lambda A, B: np.linalg.norm(A[:, None] - B[None], axis=2)),
        "bilinear": Reference({"X": (3,), "A": (3, 4), "Y": (4,)}, lambda X, A, Y: X @ A @ Y),
    }


def _layers() -> dict[str, Reference]:
    return {
        "dense": Reference({"X": (5,), "W": (4, 5)}, lambda X, W: W @ X),
        "mlp": Reference(
            {"X": (5,), "W1": (4, 5), "B1": (4,), "W2": (3, 4), "B2": (3,)},
            lambda X, W1, B1, W2, B2: W2 @ sigmoid(W1 @ X + B1) + B2,
        ),
        "relu_layer": Reference({"X": (5,), "W": (4, 5)}, lambda X, W: np.maximum(W @ X, 0)),
        "softmax": Reference({"I": (6,)}, softmax),
        "softmax_rows": Reference({"I": (3, 4)}, lambda I: softmax(I, 1)),
        "log_softmax": Reference({"I": (6,)}, lambda I: np.log(softmax(I))),
        "layer_norm": Reference({"I": (8,), "G": (8,), "B": (8,)}, norm),
        "batch_norm": Reference(
            {"I": (4, 3), "Mean": (3,), "Deviation": (3,), "G": (3,), "B": (3,)},
            lambda I, Mean, Deviation, G, B: (I - Mean) / Deviation * G + B,
        ),
        "attention": Reference({"Q": (3, 4), "K": (5, 4), "V": (5, 2)}, lambda Q, K, V: softmax(Q @ K.T / 2, 1) @ V),
        "gelu": Reference({"I": (6,)}, lambda I: 0.5 * I * (1 + np.tanh(0.8 * (I + 0.045 * I**3)))),
        "swish": Reference({"I": (6,)}, lambda I: I * sigmoid(I)),
        "leaky_relu": Reference({"I": (6,)}, lambda I: np.where(I > 0, I, I / 8)),
        "clip": Reference({"I": (6,)}, lambda I: np.clip(I, -0.5, 0.5)),
        "huber": Reference(
            {"H": (6,), "Y": (6,)},
            lambda H, Y: np.where(abs(H - Y) < 0.5, 0.5 * (H - Y) ** 2, 0.5 * (abs(H - Y) - 0.25)).sum(),
        ),
        "hinge": Reference({"H": (6,), "Y": (6,)}, lambda H, Y: np.maximum(1 - Y * H, 0)),
        "cosine_similarity": Reference({"A": (5,), "B": (5,)}, lambda A, B: A @ B / np.sqrt((A @ A) * (B @ B))),
        "normalise": Reference({"I": (5,)}, lambda I: I / np.linalg.norm(I)),
        "gaussian_kernel": Reference({"A": (3,), "B": (4,)}, lambda A, B: np.exp(-((A[:, None] - B) ** 2))),
        "powers": Reference({"I": (6,)}, lambda I: I**3 + I**2 - np.sqrt(abs(I) + 0.5) + 1 / (I * I + 0.5)),
        "general_power": Reference({"A": (4,), "B": (4,)}, lambda A, B: (A + 1.5) ** B),
        "rotary": Reference({"X": (5, 2), "Y": (5, 2)}, rotary),
        "oscillator": Reference({"X": (6,)}, lambda X: np.sin(3 * X) + np.cos(X - 0.5)),
        "comparisons": Reference({"A": (4,), "B": (4,)}, comparisons),
        "broadcasting": Reference(
            {"A": (3, 1), "B": (4,), "C": ()}, lambda A, B, C: (A * B + C, A - B, np.where(A < B, C, A))
        ),
        "several_outputs": Reference({"I": (3, 4)}, lambda I: (I.sum(1), I.sum(0), I)),
    }


def _moves() -> dict[str, Reference]:
    return {
        "transpose": Reference({"I": (3, 4)}, lambda I: I.T),
        "flip": Reference({"I": (5,)}, lambda I: I[::-1]),
        "pad": Reference({"I": (4,)}, lambda I: padded(I, 1, 2)),
        "crop": Reference({"I": (7,)}, lambda I: I[1:5]),
        "repeat": Reference({"I": (3,)}, lambda I: np.repeat(I, 3)),
        "every_third": Reference({"I": (8,)}, lambda I: I[::3]),
        "interleave": Reference({"A": (4,), "B": (4,)}, lambda A, B: np.stack([A, B], 1).reshape(-1)),
        "concatenate": Reference({"A": (3,), "B": (4,)}, lambda A, B: np.concatenate([A, B])),
        "space_to_depth": Reference({"I": (4, 6)}, depth),
        "reshapes": Reference({"I": (4, 6)}, lambda I: (I.reshape(8, 3), I.reshape(3, 8), 2 * I.reshape(2, 1, 12))),
        "outer": Reference({"A": (3,), "B": (4,)}, lambda A, B: np.outer(A, B)),
        "embedding": Reference({"Table": (4, 3), "Where": (2, 3)}, embedded),
        "kronecker": Reference({"A": (2, 3), "B": (3, 2)}, lambda A, B: np.kron(A, B)),
        "toeplitz": Reference({"A": (7,)}, lambda A: np.array([[A[i - j + 3] for j in range(4)] for i in range(4)])),
        "ramp_plus": Reference({"I": (3, 4)}, lambda I: I + np.arange(3)[:, None] - 2 * np.arange(4)),
        "batched_matmul": Reference({"A": (2, 3, 4), "B": (2, 4, 2)}, lambda A, B: A @ B),
        "nothing_valid": Reference({"I": (4,)}, lambda I: np.zeros(4)),
        "scalar_affairs": Reference({"I": (4,)}, lambda I: (3 - I) / 4 + 1 / (I * I + 2) - 4 * I - 2 * I, {"N": 2}),
    }


SEED = {f"seed:{name}": each for name, each in _seed().items()}
OWN = {
    f"{file}:{name}": each
    for file, group in (
        ("convolutions", _convolutions()),
        ("reductions", _reductions()),
        ("layers", _layers()),
        ("moves", _moves()),
    )
    for name, each in group.items()
}
REFERENCES = {**SEED, **OWN}
