"""Kernels in Tile after the subjects of its public tests, each with what it computes in numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabla.tile import *

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class TileKernel:
    """A function, the shapes of its tensors, the results in numpy, other arguments, and ranges of integers to draw."""

    function: Callable[..., Any]
    shapes: dict[str, tuple[int, ...]]
    results: Callable[..., Any]
    whole: dict[str, tuple[int, int]] = field(default_factory=dict)
    low: float = -1.5
    high: float = 1.5

    def draw(self, seed: int) -> dict[str, Array]:
        """Inputs from a seed: multiples of 1/256, so that words hold them exactly."""
        random = np.random.default_rng(seed)
        drawn = {
            name: np.asarray(np.round(random.uniform(self.low, self.high, shape) * 256) / 256)
            for name, shape in self.shapes.items()
        }
        for name, (low, high) in self.whole.items():
            drawn[name] = random.integers(low, high, self.shapes[name]).astype(np.float64)
        return drawn


def double_dot(A, B, C):
    I, J, K, L = TensorDims(4)
    i, j, k, l = TensorIndexes(4)
    A.bind_dims(I, J)
    B.bind_dims(J, K)
    C.bind_dims(K, L)
    T, O = TensorOutput(I, K), TensorOutput(I, L)
    T[i, k] += A[i, j] * B[j, k]
    O[i, l] += T[i, k] * C[k, l]
    return O


def contract_two_axes(A, B):
    I, J, K, L = TensorDims(4)
    i, j, k, l = TensorIndexes(4)
    A.bind_dims(I, J, K)
    B.bind_dims(J, K, L)
    O = TensorOutput(I, L)
    O[i, l] += A[i, j, k] * B[j, k, l]
    return O


def sum_of_outer_sum(A, B):
    N, M = TensorDims(2)
    n, m = TensorIndexes(2)
    A.bind_dims(N)
    B.bind_dims(M)
    O = TensorOutput(N)
    O[n] += A[n] + B[m]
    return O


def elementwise(A, B):
    return A * B + A - B, A / (B * B + 1), -A


def swish_of_sum(A, B):
    X = A + B
    return X * sigmoid(X)


def conv_3x3_same(I, K):
    H, W, CI, CO = TensorDims(4)
    h, w, p, q, ci, co = TensorIndexes(6)
    I.bind_dims(H, W, CI)
    K.bind_dims(3, 3, CI, CO)
    O = TensorOutput(H, W, CO)
    O[h, w, co] += I[h + p - 1, w + q - 1, ci] * K[p, q, ci, co]
    return O


def largest_and_its_count(I):
    N = TensorDim()
    n = TensorIndex()
    I.bind_dims(N)
    M, C = TensorOutput(), TensorOutput()
    M[()] >= I[n]
    E = cast(I == M, "float")
    C[()] += E[n]
    return M, C


def mean_of_rows(I):
    N, M = TensorDims(2)
    n, m = TensorIndexes(2)
    I.bind_dims(N, M)
    S = TensorOutput(N)
    S[n] += I[n, m]
    return S / M


def layer_norm_of_rows(I):
    N, M = TensorDims(2)
    n, m = TensorIndexes(2)
    I.bind_dims(N, M)
    S, V = TensorOutput(N, 1), TensorOutput(N, 1)
    S[n, 0] += I[n, m]
    D = I - S / M
    Q = D * D
    V[n, 0] += Q[n, m]
    return D / sqrt(V / M + 0.125)


def lars_step(X, G, V):
    i = TensorIndex()
    N = TensorDim()
    X.bind_dims(N)
    A, B = X * X, G * G
    XX, GG = TensorOutput(), TensorOutput()
    XX[()] += A[i]
    GG[()] += B[i]
    rate = sqrt(XX) / (sqrt(GG) + 0.5)
    step = 0.5 * V + rate * G * 0.25
    return X - step, step


def repeated(I):
    N, M = TensorDims(2)
    n, m, k = TensorIndexes(3)
    I.bind_dims(N, M)
    O = TensorOutput(N, 3 * M)
    O[n, 3 * m + k] = I[n, m]
    O.add_constraint(k < 3)
    return O


def default_around(I, P):
    N = TensorDim()
    n = TensorIndex()
    I.bind_dims(N)
    O = TensorOutput(2 * N)
    O[2 * n] = I[n]
    O.use_default(P)
    return O


def sum_into(I, P):
    N, M = TensorDims(2)
    n, m = TensorIndexes(2)
    I.bind_dims(N, M)
    O = TensorOutput(N)
    O[n] += I[n, m]
    O.init(P)
    return O


def polygon_box(I):
    return select(I > 0.5, 1 - I, select(I < -0.5, 1 + I, I))


def transposed(I):
    A, B, C = TensorDims(3)
    a, b, c = TensorIndexes(3)
    I.bind_dims(A, B, C)
    O = TensorOutput(C, A, B)
    O[c, a, b] = I[a, b, c]
    return O


def winograd_1d(I, K):
    """Two results of a filter of three taps with four products."""
    d0, d1, d2, d3 = (_element(I, at) for at in range(4))
    g0, g1, g2 = (_element(K, at) for at in range(3))
    m1 = (d0 - d2) * g0
    m2 = (d1 + d2) * ((g0 + g1 + g2) * 0.5)
    m3 = (d2 - d1) * ((g0 - g1 + g2) * 0.5)
    m4 = (d1 - d3) * g2
    return m1 + m2 + m3, m2 - m3 - m4


def _element(I, at):
    O = TensorOutput()
    O[()] = I[at]
    return O


def spread_out(I):
    N = TensorDim()
    n = TensorIndex()
    I.bind_dims(N)
    O = TensorOutput(2 * N - 1)
    O[2 * n] = I[n]
    return O


def transposed_convolution(I, K):
    N, M = TensorDims(2)
    n, k = TensorIndexes(2)
    I.bind_dims(N)
    K.bind_dims(M)
    O = TensorOutput(2 * N + M - 2)
    O[2 * n + k] += I[n] * K[k]
    return O


def sums_of_four_ways(I):
    N, M = TensorDims(2)
    n, m = TensorIndexes(2)
    I.bind_dims(N, M)
    A, B, C, D = TensorOutput(N), TensorOutput(M), TensorOutput(), TensorOutput(N)
    A[n] += I[n, m]
    B[m] >= I[n, m]
    C[()] <= I[n, m]
    D[n] *= I[n, m]
    return A, B, C, D


def windows_sum(I):
    N = TensorDim()
    n, k = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(N)
    O[n] += I[n - k]
    O.add_constraint(k < 3)
    return O


def row_numbers(I):
    return I + index([4, 3], 0), I * index([4, 3], 1)


def rows_by_number(T, At):
    return gather(T, At)


def columns_by_number(T, At):
    return gather(T, At).axis(1)


def rows_added_at(V, At):
    return scatter(V, At, 4)


def sorted_positions(I):
    return argsort(I)


def largest_two(I):
    return topk(I, 2)


def new_shape(I):
    return reshape(I, [6, 2]) * 2


def shares(I):
    N, M = TensorDims(2)
    n, m = TensorIndexes(2)
    I.bind_dims(N, M)
    X, S = TensorOutput(N, 1), TensorOutput(N, 1)
    X[n, 0] >= I[n, m]
    E = exp(I - X)
    S[n, 0] += E[n, m]
    return E / S


def rounded(I):
    return floor(I), ceil(I), round(I)


def curves(I):
    return sin(I), cos(I), tanh(I), erf(I), atan(I)


def numbers_anywhere(I):
    return 2 - I, 0.5 / (I * I + 1), I**2, 1 + I * 3 - 0.25


def bits(A, B):
    return cast(A, "int8") & 6, cast(B, "int8") & cast(A, "int8")


def not_written(I):
    N, M = TensorDims(2)
    n, m = TensorIndexes(2)
    I.bind_dims(N, M)
    O = TensorOutput(N + 1, M + 2)
    O[n + 1, m + 1] = I[n, m]
    return O


def cross_entropy(P, T):
    n = TensorIndex()
    N = TensorDim()
    P.bind_dims(N)
    L = T * log(P)
    O = TensorOutput()
    O[()] += L[n]
    return -O


def larger_of_pairs(A, B):
    return max(A, B), min(A, B), abs(A - B)


def antidiagonals(A):
    N = TensorDim()
    i, j = TensorIndexes(2)
    A.bind_dims(N, N)
    O = TensorOutput(2 * N - 1)
    O[i + j] += A[i, j]
    return O


def _same(I: Array, K: Array) -> Array:
    padded = np.pad(I, ((1, 1), (1, 1), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(0, 1))
    return np.einsum("hwcpq,pqco->hwo", view, K)


def _norm(I: Array) -> Array:
    centred = I - I.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 0.125)


def _lars(X: Array, G: Array, V: Array) -> tuple[Array, Array]:
    step = 0.5 * V + np.linalg.norm(X) / (np.linalg.norm(G) + 0.5) * G * 0.25
    return X - step, step


def _spread(I: Array, last: int) -> Array:
    out = np.zeros(2 * len(I) - last)
    out[::2] = I
    return out


def _sigmoid(X: Array) -> Array:
    return 1 / (1 + np.exp(-X))


def _softmax(I: Array) -> Array:
    E = np.exp(I - I.max(1, keepdims=True))
    return E / E.sum(1, keepdims=True)


def _scattered(V: Array, At: Array) -> Array:
    out = np.zeros((4, *V.shape[1:]))
    np.add.at(out, At.astype(int), V)
    return out


def _bits(A: Array, B: Array) -> tuple[Array, Array]:
    a, b = A.astype(int), B.astype(int)
    return a & 6, b & a


def _erf(I: Array) -> Array:
    return np.vectorize(math.erf)(I)


K = TileKernel
TILE_KERNELS = {
    kernel.function.__name__: kernel
    for kernel in (
        K(double_dot, {"A": (3, 4), "B": (4, 2), "C": (2, 3)}, lambda A, B, C: A @ B @ C),
        K(contract_two_axes, {"A": (3, 2, 4), "B": (2, 4, 3)}, lambda A, B: np.tensordot(A, B, 2)),
        K(sum_of_outer_sum, {"A": (4,), "B": (3,)}, lambda A, B: 3 * A + B.sum()),
        K(elementwise, {"A": (3, 4), "B": (4,)}, lambda A, B: (A * B + A - B, A / (B * B + 1), -A)),
        K(swish_of_sum, {"A": (3, 4), "B": (3, 1)}, lambda A, B: (A + B) * _sigmoid(A + B)),
        K(conv_3x3_same, {"I": (4, 5, 2), "K": (3, 3, 2, 3)}, _same),
        K(largest_and_its_count, {"I": (7,)}, lambda I: (I.max(), (I.max() == I).sum())),
        K(mean_of_rows, {"I": (3, 8)}, lambda I: I.mean(1)),
        K(layer_norm_of_rows, {"I": (3, 8)}, _norm),
        K(lars_step, {"X": (5,), "G": (5,), "V": (5,)}, _lars),
        K(repeated, {"I": (2, 3)}, lambda I: I.repeat(3, 1)),
        K(default_around, {"I": (4,), "P": (8,)}, lambda I, P: np.where(np.arange(8) % 2, P, I.repeat(2))),
        K(sum_into, {"I": (4, 3), "P": (4,)}, lambda I, P: P + I.sum(1)),
        K(polygon_box, {"I": (9,)}, lambda I: np.where(I > 0.5, 1 - I, np.where(I < -0.5, 1 + I, I))),
        K(transposed, {"I": (2, 3, 4)}, lambda I: I.transpose(2, 0, 1)),
        K(winograd_1d, {"I": (4,), "K": (3,)}, lambda I, K: tuple(np.correlate(I, K, "valid"))),
        K(spread_out, {"I": (5,)}, lambda I: _spread(I, 1)),
        K(transposed_convolution, {"I": (4,), "K": (3,)}, lambda I, K: np.convolve(_spread(I, 1), K)[:9]),
        K(sums_of_four_ways, {"I": (4, 3)}, lambda I: (I.sum(1), I.max(0), I.min(), I.prod(1))),
        K(windows_sum, {"I": (7,)}, lambda I: np.convolve(I, np.ones(3))[:7]),
        K(row_numbers, {"I": (4, 3)}, lambda I: (I + np.arange(4)[:, None], I * np.arange(3))),
        K(rows_by_number, {"T": (5, 3), "At": (4,)}, lambda T, At: T[At.astype(int)], {"At": (0, 5)}),
        K(columns_by_number, {"T": (3, 5), "At": (4,)}, lambda T, At: T[:, At.astype(int)], {"At": (0, 5)}),
        K(rows_added_at, {"V": (5, 2), "At": (5,)}, _scattered, {"At": (0, 4)}),
        K(sorted_positions, {"I": (7,)}, lambda I: I.argsort(kind="stable")),
        K(largest_two, {"I": (7,)}, lambda I: (np.sort(I)[:-3:-1], np.argsort(-I, kind="stable")[:2])),
        K(new_shape, {"I": (3, 4)}, lambda I: I.reshape(6, 2) * 2),
        K(shares, {"I": (3, 4)}, _softmax),
        K(rounded, {"I": (9,)}, lambda I: (np.floor(I), np.ceil(I), np.floor(I + 0.5))),
        K(curves, {"I": (6,)}, lambda I: (np.sin(I), np.cos(I), np.tanh(I), _erf(I), np.arctan(I))),
        K(numbers_anywhere, {"I": (5,)}, lambda I: (2 - I, 0.5 / (I * I + 1), I**2, 1 + I * 3 - 0.25)),
        K(bits, {"A": (6,), "B": (6,)}, _bits, low=0, high=9),
        K(not_written, {"I": (2, 3)}, lambda I: np.pad(I, 1)[:3]),
        K(cross_entropy, {"P": (5,), "T": (5,)}, lambda P, T: -(T * np.log(P)).sum(), low=0.25, high=1.0),
        K(larger_of_pairs, {"A": (5,), "B": (5,)}, lambda A, B: (np.maximum(A, B), np.minimum(A, B), np.abs(A - B))),
        K(antidiagonals, {"A": (4, 4)}, lambda A: np.array([np.fliplr(A).trace(3 - d) for d in range(7)])),
    )
}
