"""What each program of ``tests/programs/tc`` computes, said in numpy.

A reference is a function of the program's inputs by name that gives its results in order; its inputs are drawn by
``REFERENCES[name].inputs``, a dictionary from a name to a shape (reals), or to what `whole` and `truth` make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as windows

Array = np.ndarray[Any, Any]
Draw = Callable[[np.random.Generator], Array]
REFERENCES: dict[str, Reference]


@dataclass(frozen=True, slots=True)
class Reference:
    """The inputs of a program and what it gives."""

    inputs: dict[str, tuple[int, ...] | Draw]
    results: Callable[..., tuple[Any, ...]]

    def draw(self, seed: int) -> dict[str, Array]:
        """Inputs from a seed."""
        random = np.random.default_rng(seed)
        drawn: dict[str, Array] = {}
        for name, what in self.inputs.items():
            drawn[name] = random.uniform(-1.5, 1.5, what) if isinstance(what, tuple) else np.asarray(what(random))
        return drawn


def _sparse(In: Array, F: Array, ring: Array, G: Array) -> tuple[Any, ...]:
    pairs = [(c, kc) for c in range(1, len(In)) for kc in range(F.shape[1])]
    out = sum(np.einsum("hwyx,oyx->ohw", windows(In[kc % c], F.shape[2:]), F[:, kc]) for c, kc in pairs)
    turned = np.stack([np.roll(ring, -k, axis=1) for k in range(G.shape[2])], axis=2)
    return out, np.einsum("cik,ock->oi", turned, G)


def whole(low: int, high: int, *shape: int) -> Draw:
    return lambda random: random.integers(low, high, shape)


def truth(*shape: int) -> Draw:
    return lambda random: random.random(shape) < 0.5


def positive(*shape: int) -> Draw:
    return lambda random: random.uniform(0.25, 2.0, shape)


def _sum(spec: str) -> Callable[..., tuple[Array]]:
    return lambda **inputs: (np.einsum(spec, *inputs.values()),)


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _conv2d(In: Array, F: Array, stride: tuple[int, int] = (1, 1)) -> Array:
    view = windows(In, F.shape[-2:], axis=(-2, -1))[..., :: stride[0], :: stride[1], :, :]
    return np.einsum("nchwkl,ockl->nohw", view, F)


def _layer(x: Array, W: Array, b: Array | float = 0.0) -> Array:
    return _relu(x @ W.T + b)


def _wavenet(D: Array, F: Array, G: Array, R: Array) -> tuple[Array, Array]:
    past, now = D[:, :-1], D[:, 1:]
    f, g = (W[..., 0] @ now + W[..., 1] @ past for W in (F, G))
    Z = np.tanh(f) * _sigmoid(g)
    return Z, R @ Z + now


def _lstm(x: Array, h0: Array, c0: Array, W: Array, U: Array, b: Array) -> tuple[Array, Array]:
    g = W @ x + U @ h0 + b
    c = _sigmoid(g[1]) * c0 + _sigmoid(g[0]) * np.tanh(g[2])
    return np.tanh(c) * _sigmoid(g[3]), c


def _batch_norm(In: Array, gamma: Array, beta: Array, eps: Array) -> tuple[Array, Array, Array]:
    mean, var = In.mean((0, 2, 3)), In.var((0, 2, 3))
    up = (slice(None), None, None)
    return gamma[up] * (In - mean[up]) / np.sqrt(var[up] + eps) + beta[up], mean, var


def _layer_norm(In: Array, gamma: Array, beta: Array) -> tuple[Array]:
    return (gamma * (In - In.mean(1, keepdims=True)) / np.sqrt(In.var(1, keepdims=True) + 1e-5) + beta,)


def _group_norm(In: Array, gamma: Array, beta: Array) -> tuple[Array]:
    mean, var = (f(In, axis=(2, 3, 4), keepdims=True) for f in (np.mean, np.var))
    return (gamma[..., None, None] * (In - mean) / np.sqrt(var + 1e-5) + beta[..., None, None],)


def _cross_entropy(logits: Array, label: Array) -> tuple[Array]:
    return (-np.log(_softmax(logits))[np.arange(len(label)), label].mean(),)


def _sobel(In: Array) -> tuple[Array]:
    kernel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    view = windows(In, (3, 3))
    return (np.hypot((view * kernel).sum((-2, -1)), (view * kernel.T).sum((-2, -1))),)


def _input_gradient(dY: Array, F: Array) -> tuple[Array]:
    (N, _, HO, WO), (_, C, KH, KW) = dY.shape, F.shape
    result = np.zeros((N, C, HO + KH - 1, WO + KW - 1))
    for kh in range(KH):
        for kw in range(KW):
            result[:, :, kh : kh + HO, kw : kw + WO] += np.einsum("nohw,oc->nchw", dY, F[:, :, kh, kw])
    return (result,)


def _gradients_1d(In: Array, W: Array, dO: Array) -> tuple[Array, Array]:
    return np.correlate(In, dO, "valid"), np.convolve(dO, W)


def _up(In: Array, W: Array) -> tuple[Array]:
    spread = np.zeros(2 * len(In) - 1)
    spread[::2] = In
    return (np.convolve(spread, W),)


def _causal(Q: Array, K: Array, V: Array) -> tuple[Array]:
    score = Q @ K.T / np.sqrt(Q.shape[1])
    return (_softmax(np.where(np.tri(len(Q)) > 0, score, -np.inf)) @ V,)


def _nearest(X: Array, C: Array) -> tuple[Array, Array, Array]:
    dist = ((X[:, None] - C[None]) ** 2).sum(-1)
    return dist, dist.min(1), dist.argmin(1)


def _truncated(a: Array, b: Array) -> Array:
    return np.asarray(np.trunc(a / b).astype(int))


def _integers(a: Array, b: Array) -> tuple[Array, Array, Array]:
    return _truncated(a, b), np.fmod(a, b), np.fmod(a + b * 3, 7) - np.minimum(a, b)


def _squares(x: Array, flat: Array, like: Array) -> tuple[Array, Array]:
    row, column = np.indices((3, 3))
    return x[np.arange(len(like)) ** 2 % len(x)], flat[row * (row + 1) // 2 + np.minimum(row, column)]


def _gemm(alpha: Array, beta: Array, A: Array, B: Array, C: Array) -> tuple[Array]:
    return (alpha * A @ B + beta * C,)


def _skew(x: Array) -> tuple[Any, Any, Any]:
    return x.mean(), x.var(), ((x - x.mean()) ** 3).mean()


def _kronecker_3(W0: Array, W1: Array, W2: Array, X: Array) -> tuple[Array, Array, Array]:
    second = np.einsum("mabc,zc->mabz", X, W2)
    first = np.einsum("mabz,yb->mayz", second, W1)
    return np.einsum("mayz,xa->mxyz", first, W0), first, second


def _padded(In: Array, F: Array) -> tuple[Array]:
    return ((windows(np.pad(In, 1), (3, 3)) * F).sum((-2, -1)),)


def _response(In: Array) -> tuple[Array]:
    total = windows(In * In, 3, axis=0).sum(-1)
    return (In[1:-1] / (1 + 0.1 * total) ** 0.75,)


def _pool(In: Array, kind: Callable[..., Array]) -> Array:
    C, H, W = In.shape
    return kind(In[:, : H // 2 * 2, : W // 2 * 2].reshape(C, H // 2, 2, W // 2, 2), axis=(2, 4))


def _causal_filter(In: Array, W: Array) -> tuple[Array]:
    before = np.pad(In, (2 * (len(W) - 1), 0))
    return (sum(W[k] * before[2 * (len(W) - 1 - k) :][: len(In)] for k in range(len(W))),)


def _looked_up(table: Array, at: Array) -> tuple[Array]:
    inside = (at >= 0) & (at < len(table))
    return (np.where(inside[:, None], table[np.where(inside, at, 0)], 0),)


def _edges(In: Array) -> tuple[Array, Array]:
    wide = np.pad(In, 1, "edge")
    return 2 * In - wide[:-2] - wide[2:], np.concatenate([In[:1], In, [0.5]])


R = Reference
REFERENCES = {
    "matmul": R({"A": (4, 5), "B": (5, 3)}, lambda A, B: (A @ B,)),
    "matmul_bias": R({"A": (4, 5), "B": (5, 3), "b": (3,)}, lambda A, B, b: (A @ B + b,)),
    "transposed_left": R({"A": (5, 4), "B": (5, 3)}, lambda A, B: (A.T @ B,)),
    "transposed_right": R({"A": (4, 5), "B": (3, 5)}, lambda A, B: (A @ B.T,)),
    "transposed_both": R({"A": (5, 4), "B": (3, 5)}, lambda A, B: (A.T @ B.T,)),
    "matvec": R({"A": (4, 5), "x": (5,)}, lambda A, x: (A @ x,)),
    "matmul_accumulate": R({"A": (4, 5), "B": (5, 3), "C": (4, 3)}, lambda A, B, C: (C + A @ B,)),
    "matmul_gradient": R({"A": (4, 5), "B": (5, 3), "dC": (4, 3)}, lambda A, B, dC: (dC @ B.T, A.T @ dC)),
    "batched_matmul": R({"X": (2, 4, 5), "Y": (2, 5, 3)}, lambda X, Y: (X @ Y,)),
    "batched_matmul_gradient": R(
        {"X": (2, 4, 5), "Y": (2, 5, 3), "dZ": (2, 4, 3)},
        lambda X, Y, dZ: (dZ @ Y.transpose(0, 2, 1), X.transpose(0, 2, 1) @ dZ),
    ),
    "batched_transposed": R({"X": (2, 4, 5), "Y": (2, 3, 5)}, _sum("bnm,bkm->bnk")),
    "gemm": R({"alpha": (), "beta": (), "A": (4, 5), "B": (5, 3), "C": (4, 3)}, _gemm),
    "outer_product": R({"x": (4,), "y": (5,)}, lambda x, y: (np.outer(x, y),)),
    "dot": R({"x": (7,), "y": (7,)}, lambda x, y: (x @ y,)),
    "bilinear": R({"X": (2, 3), "Y": (2, 4), "W": (5, 3, 4)}, lambda X, Y, W: (np.einsum("bm,omn,bn->bo", X, W, Y),)),
    "lower_triangular": R({"L": (6, 6), "x": (6,)}, lambda L, x: (np.tril(L) @ x,)),
    "trace": R({"A": (5, 5)}, lambda A: (np.trace(A),)),
    "gram": R({"X": (4, 6)}, lambda X: (X @ X.T,)),
    "tensordot": R({"A": (2, 3, 4), "B": (3, 4, 5)}, lambda A, B: (np.tensordot(A, B, 2),)),
    "tensordot_grouped": R({"I0": (2, 3, 4, 2, 3), "I1": (2, 4, 2, 3)}, _sum("nabch,nbch->nach")),
    "kronecker": R({"A": (2, 3), "B": (4, 5)}, _sum("mn,pq->mpnq")),
    "kronecker_flat": R({"A": (2, 3), "B": (4, 5)}, lambda A, B: (np.kron(A, B),)),
    "kronecker_3": R({"W0": (2, 3), "W1": (3, 2), "W2": (4, 2), "X": (5, 3, 2, 2)}, _kronecker_3),
    "hadamard_3": R({"A": (6,), "B": (6,), "C": (6,)}, lambda A, B, C: (A * B * C,)),
    "hadamard_reduced": R({"U": (2, 3, 4), "V": (2, 3, 4), "W": (2, 3, 4)}, _sum("bdn,bdn,bdn->bd")),
    "block_diagonal": R({"X": (2, 3, 4), "W": (3, 4, 5)}, _sum("bgn,gnm->bmg")),
    "moments_of_rows": R({"In": (3, 8)}, lambda In: (In.mean(1), In.var(1))),
    "conv1d": R({"In": (9,), "W": (3,)}, lambda In, W: (np.correlate(In, W, "valid"),)),
    "convolution_true": R({"In": (9,), "W": (3,)}, lambda In, W: (np.convolve(In, W, "valid"),)),
    "conv1d_strided": R({"In": (10,), "W": (3,)}, lambda In, W: (np.correlate(In, W, "valid")[::2],)),
    "conv1d_dilated": R({"In": (12,), "W": (3,)}, lambda In, W: (windows(In, 7)[:, ::3] @ W,)),
    "conv1d_channels": R(
        {"In": (2, 3, 8), "W": (4, 3, 3), "bias": (4,)},
        lambda In, W, bias: (np.einsum("bclk,ock->bol", windows(In, 3, axis=2), W) + bias[:, None],),
    ),
    "conv2d": R({"In": (2, 3, 6, 7), "F": (4, 3, 3, 2)}, lambda In, F: (_conv2d(In, F),)),
    "conv2d_bias_relu": R(
        {"In": (2, 3, 5, 6), "F": (4, 3, 3, 3), "b": (4,)},
        lambda In, F, b: (_relu(_conv2d(In, F) + b[:, None, None]),),
    ),
    "conv2d_strided": R({"In": (2, 3, 7, 9), "F": (4, 3, 3, 2)}, lambda In, F: (_conv2d(In, F, (2, 3)),)),
    "conv2d_dilated": R(
        {"In": (3, 7, 8), "F": (4, 3, 3, 2)},
        lambda In, F: (np.einsum("chwkl,ockl->ohw", windows(In, (5, 3), axis=(1, 2))[..., ::2, ::2], F),),
    ),
    "conv2d_grouped": R(
        {"In": (2, 2, 3, 5, 5), "K": (2, 4, 3, 3, 3)},
        lambda In, K: (np.einsum("ngchwkl,gfckl->ngfhw", windows(In, (3, 3), axis=(3, 4)), K),),
    ),
    "conv2d_depthwise": R(
        {"In": (3, 5, 6), "F": (3, 3, 3)},
        lambda In, F: (np.einsum("chwkl,ckl->chw", windows(In, (3, 3), axis=(1, 2)), F),),
    ),
    "conv2d_padded": R({"In": (4, 5), "F": (3, 3)}, _padded),
    "conv2d_same": R({"In": (4, 5), "F": (3, 3)}, _padded),
    "conv1d_causal": R({"In": (9,), "W": (3,)}, _causal_filter),
    "conv2d_input_gradient": R({"dY": (2, 3, 3, 4), "F": (3, 2, 2, 3)}, _input_gradient),
    "conv2d_weight_gradient": R(
        {"In": (2, 3, 5, 6), "dY": (2, 4, 3, 5)},
        lambda In, dY: (np.einsum("ncklhw,nohw->ockl", windows(In, dY.shape[2:], axis=(2, 3)), dY),),
    ),
    "conv2d_bias_gradient": R({"dY": (2, 3, 4, 5)}, lambda dY: (dY.sum((0, 2, 3)),)),
    "conv1d_gradients": R({"In": (8,), "W": (3,), "dO": (6,)}, _gradients_1d),
    "transposed_convolution": R({"In": (5,), "W": (3,)}, _up),
    "masked_conv1d": R({"In": (9,), "W": (4,), "M": truth(4)}, lambda In, W, M: (np.correlate(In, W * M, "valid"),)),
    "perforated_conv1d": R(
        {"In": (9,), "W": (4,), "at": whole(0, 4, 2)},
        lambda In, W, at: (windows(In, 4)[:, at] @ W[at],),
    ),
    "wavenet_block": R({"D": (3, 6), "F": (3, 3, 2), "G": (3, 3, 2), "R": (3, 3)}, _wavenet),
    "blur_twice": R({"In": (5, 6)}, lambda In: (windows(In, (3, 3)).mean((-2, -1)),)),
    "sobel": R({"In": (5, 6)}, _sobel),
    "finite_difference": R({"u": (8,), "c": ()}, lambda u, c: (u[1:-1] + c * (u[:-2] - 2 * u[1:-1] + u[2:]),)),
    "average_pool": R({"In": (2, 5, 6)}, lambda In: (_pool(In, np.mean),)),
    "average_pool_sized": R({"In": (2, 4, 6), "window": (2, 2)}, lambda In, window: (_pool(In, np.mean),)),
    "max_pool": R({"In": (2, 4, 6)}, lambda In: (_pool(In, np.max),)),
    "max_pool_overlapping": R({"In": (9,)}, lambda In: (windows(In, 3)[::2].max(1),)),
    "min_pool": R({"In": (9,)}, lambda In: (windows(In, 4).min(1),)),
    "global_average": R({"In": (2, 3, 4, 5)}, lambda In: (In.mean((2, 3)),)),
    "batch_norm": R({"In": (2, 3, 4, 2), "gamma": (3,), "beta": (3,), "eps": positive()}, _batch_norm),
    "layer_norm": R({"In": (3, 6), "gamma": (6,), "beta": (6,)}, _layer_norm),
    "group_norm": R({"In": (2, 2, 3, 2, 4), "gamma": (2, 3), "beta": (2, 3)}, _group_norm),
    "rms_norm": R(
        {"In": (3, 6), "g": (6,)},
        lambda In, g: (In * g / np.sqrt((In * In).mean(1, keepdims=True) + 1e-6),),
    ),
    "l2_normalise": R({"X": (3, 5)}, lambda X: (X / np.linalg.norm(X, axis=1, keepdims=True),)),
    "central_moments": R({"x": (9,)}, _skew),
    "batch_norm_inference": R(
        {"In": (4, 3), "mean": (3,), "var": positive(3), "g": (3,), "b": (3,)},
        lambda In, mean, var, g, b: (g * (In - mean) / np.sqrt(var + 1e-5) + b,),
    ),
    "local_response_norm": R({"In": (6, 3)}, _response),
    "softmax": R({"In": (3, 5)}, lambda In: (_softmax(In),)),
    "log_softmax": R({"In": (3, 5)}, lambda In: (np.log(_softmax(In)),)),
    "cross_entropy": R({"logits": (4, 5), "label": whole(0, 5, 4)}, _cross_entropy),
    "mean_squared_error": R({"y": (6,), "t": (6,)}, lambda y, t: (((y - t) ** 2).mean(), 2 * (y - t) / len(y))),
    "hinge": R({"y": (6,), "t": (6,)}, lambda y, t: (np.maximum(0, 1 - t * y).sum(),)),
    "relu": R({"In": (3, 4)}, lambda In: (_relu(In),)),
    "leaky_relu": R({"In": (7,)}, lambda In: (np.where(In > 0, In, 0.1 * In),)),
    "sigmoid": R({"In": (7,)}, lambda In: (_sigmoid(In),)),
    "gelu": R(
        {"In": (7,)},
        lambda In: (0.5 * In * (1 + np.tanh(np.sqrt(2 / np.pi) * (In + 0.044715 * In**3))),),
    ),
    "mlp1": R({"In": (3, 4), "W": (5, 4), "b": (5,)}, lambda In, W, b: (_layer(In, W, b),)),
    "mlp3": R(
        {"In": (3, 4), "W1": (5, 4), "b1": (5,), "W2": (6, 5), "b2": (6,), "W3": (2, 6), "b3": (2,)},
        lambda In, W1, b1, W2, b2, W3, b3: (_layer(_layer(_layer(In, W1, b1), W2, b2), W3, b3),),
    ),
    "fc_relu_2": R({"In": (3, 4), "W1": (5, 4), "W2": (6, 5)}, lambda In, W1, W2: (_layer(_layer(In, W1), W2),)),
    "fc_relu_4": R(
        {"In": (3, 4), "W1": (4, 4), "W2": (4, 4), "W3": (4, 4), "W4": (4, 4)},
        lambda In, W1, W2, W3, W4: (_layer(_layer(_layer(_layer(In, W1), W2), W3), W4),),
    ),
    "attention": R(
        {"Q": (4, 3), "K": (5, 3), "V": (5, 2)}, lambda Q, K, V: (_softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V,)
    ),
    "causal_attention": R({"Q": (4, 3), "K": (4, 3), "V": (4, 2)}, _causal),
    "multi_head_scores": R({"Q": (2, 3, 2, 4), "K": (2, 3, 2, 4)}, _sum("bthd,buhd->bhtu")),
    "lstm_cell": R({"x": (3,), "h0": (2,), "c0": (2,), "W": (4, 2, 3), "U": (4, 2, 2), "b": (4, 2)}, _lstm),
    "lookup_checked": R({"table": (5, 3), "at": whole(-2, 8, 12)}, _looked_up),
    "edges": R({"In": (7,)}, _edges),
    "embedding": R({"LUT": (6, 3), "In": whole(0, 6, 2, 4)}, lambda LUT, In: (LUT[In],)),
    "embedding_bag": R({"LUT": (6, 3), "In": whole(0, 6, 2, 4)}, lambda LUT, In: (LUT[In].sum(1),)),
    "embedding_two": R(
        {"LUT1": (6, 3), "I1": whole(0, 6, 2, 4), "LUT2": (5, 3), "I2": whole(0, 5, 2, 3)},
        lambda LUT1, I1, LUT2, I2: (LUT1[I1].sum(1), LUT2[I2].sum(1)),
    ),
    "gather": R({"X": (6,), "In": whole(0, 6, 3, 4)}, lambda X, In: (X[In],)),
    "gather_two": R({"X": (6,), "In": whole(0, 6, 4), "J": whole(0, 4, 4)}, lambda X, In, J: (X[In[J]],)),
    "one_hot": R({"label": whole(0, 4, 5), "classes": (4,)}, lambda label, classes: (np.eye(4)[label],)),
    "permute": R({"In": (2, 3, 4)}, lambda In: (In.transpose(2, 0, 1),)),
    "reverse": R({"In": (6,)}, lambda In: (In[::-1],)),
    "concat": R({"A": (2, 3), "B": (4, 3)}, lambda A, B: (np.concatenate([A, B]),)),
    "copy": R({"In": (3, 4)}, lambda In: (In,)),
    "cast": R({"In": (7,)}, lambda In: (np.trunc(In * 10), np.trunc(In * 10) / 10)),
    "upsample": R({"In": (3, 4)}, lambda In: (In.repeat(2, 0).repeat(2, 1),)),
    "downsample": R({"In": (7,)}, lambda In: (In[0:6:2] + In[1:6:2],)),
    "flatten": R({"In": (3, 4)}, lambda In: (In.ravel(),)),
    "unflatten": R({"In": (12,), "shape": (3, 4)}, lambda In, shape: (In.reshape(3, 4),)),
    "shift_rows": R(
        {"In": (3, 5), "by": whole(0, 9, 3)},
        lambda In, by: (np.stack([np.roll(row, -n) for row, n in zip(In, by, strict=True)]),),
    ),
    "argmin": R({"X": (4, 6)}, lambda X: (X.min(1), X.argmin(1))),
    "min_distance": R({"X": (4, 3), "C": (5, 3)}, _nearest),
    "histogram": R({"x": whole(0, 5, 20), "bins": (5,)}, lambda x, bins: (np.bincount(x, minlength=5),)),
    "scatter_add": R(
        {"x": (8,), "at": whole(0, 4, 8), "like": (4,)},
        lambda x, at, like: (np.bincount(at, weights=x, minlength=4),),
    ),
    "cumulative_sum": R({"x": (7,)}, lambda x: (np.cumsum(x),)),
    "cumulative_product": R({"x": (7,)}, lambda x: (np.cumprod(x),)),
    "running_max": R({"x": (7,)}, lambda x: (np.maximum.accumulate(x),)),
    "count_positive": R({"x": (3, 7)}, lambda x: ((x > 0).sum(1),)),
    "any_above": R({"x": (5, 3), "t": positive()}, lambda x, t: ((x > t).any(1),)),
    "integers": R({"a": whole(-20, 20, 9), "b": whole(1, 6, 9)}, _integers),
    "factorials": R(
        {"n": whole(1, 5, 6), "x": (6,)},
        lambda n, x: (n.prod(), np.cumprod(n) // n, np.fmod(x * 4, x * x + 0.5)),
    ),
    "digits": R({"n": whole(0, 1000, 7), "table": (10,)}, lambda n, table: (n // 10 % 10, table[n % 10])),
    "sparse_convolution": R({"In": (4, 4, 5), "F": (3, 4, 2, 2), "ring": (4, 5), "G": (3, 4, 2)}, _sparse),
    "table_of_squares": R({"x": (5,), "flat": (6,), "like": (9,)}, _squares),
    "power_series": R({"x": (6,), "c": (5,)}, lambda x, c: (sum(c[k] * x**k for k in range(len(c))),)),
    "polynomial": R({"x": (6,)}, lambda x: (0.5 * x**3 - 1.25 * x**2 + 3 * x - 0.2,)),
    "clamp": R({"x": (9,), "lo": whole(-1, 0), "hi": positive()}, lambda x, lo, hi: (np.clip(x, lo, hi),)),
    "complex_product": R(
        {"ar": (5,), "ai": (5,), "br": (5,), "bi": (5,)},
        lambda ar, ai, br, bi: (((ar + 1j * ai) * (br + 1j * bi)).real, ((ar + 1j * ai) * (br + 1j * bi)).imag),
    ),
    "fourier": R({"x": (8,)}, lambda x: (np.fft.fft(x).real, np.fft.fft(x).imag)),
    "vandermonde": R({"x": (5,), "powers": (4,)}, lambda x, powers: (np.vander(x, 4, increasing=True),)),
    "distances": R({"X": (4, 3)}, lambda X: (np.abs(X[:, None] - X[None]).sum(-1),)),
    "ranks": R({"x": (8,)}, lambda x: (x.argsort().argsort(),)),
}
