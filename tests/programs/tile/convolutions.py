"""Convolutions of all kinds, and pooling."""

from tabla.tile import *


def conv_strided(I, K):
    X, KX, CI, CO = TensorDims(4)
    x, k, ci, co = TensorIndexes(4)
    I.bind_dims(X, CI)
    K.bind_dims(KX, CI, CO)
    O = TensorOutput((X - KX) // 2 + 1, CO)
    O[x, co] += I[2 * x + k, ci] * K[k, ci, co]
    return O


def conv_same(I, K):
    X, KX = TensorDims(2)
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    K.bind_dims(KX)
    O = TensorOutput(X)
    O[x] += I[x + k - KX // 2] * K[k]
    return O


def conv_dilated(I, K, d):
    X, KX = TensorDims(2)
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    K.bind_dims(KX)
    O = TensorOutput(X - d * (KX - 1))
    O[x] += I[x + d * k] * K[k]
    return O


def conv_2d(I, K):
    X, Y, KX, KY = TensorDims(4)
    x, y, kx, ky = TensorIndexes(4)
    I.bind_dims(X, Y)
    K.bind_dims(KX, KY)
    O = TensorOutput(X - KX + 1, Y - KY + 1)
    O[x, y] += I[x + kx, y + ky] * K[kx, ky]
    return O


def conv_2d_same(I, K):
    X, Y, KX, KY, CI, CO = TensorDims(6)
    x, y, kx, ky, ci, co = TensorIndexes(6)
    I.bind_dims(X, Y, CI)
    K.bind_dims(KX, KY, CI, CO)
    O = TensorOutput(X, Y, CO)
    O[x, y, co] += I[x + kx - 1, y + ky - 1, ci] * K[kx, ky, ci, co]
    return O


def conv_depthwise(I, K):
    X, KX, C = TensorDims(3)
    x, k, c = TensorIndexes(3)
    I.bind_dims(X, C)
    K.bind_dims(KX, C)
    O = TensorOutput(X - KX + 1, C)
    O[x, c] += I[x + k, c] * K[k, c]
    return O


def conv_grouped(I, K):
    X, KX, G, CI, CO = TensorDims(5)
    x, k, g, ci, co = TensorIndexes(5)
    I.bind_dims(X, G, CI)
    K.bind_dims(KX, G, CI, CO)
    O = TensorOutput(X - KX + 1, G, CO)
    O[x, g, co] += I[x + k, g, ci] * K[k, g, ci, co]
    return O


def conv_transposed(I, K):
    X, KX = TensorDims(2)
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    K.bind_dims(KX)
    O = TensorOutput(2 * (X - 1) + KX)
    O[2 * x + k] += I[x] * K[k]
    return O


def conv_transposed_2d(I, K):
    X, Y, KX, KY = TensorDims(4)
    x, y, kx, ky = TensorIndexes(4)
    I.bind_dims(X, Y)
    K.bind_dims(KX, KY)
    O = TensorOutput(X + KX - 1, Y + KY - 1)
    O[x + kx, y + ky] += I[x, y] * K[kx, ky]
    return O


def conv_transposed_cut(I, K):
    """Truncated at both ends, as 'same' padding does."""
    X, KX = TensorDims(2)
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    K.bind_dims(KX)
    O = TensorOutput(X)
    O[x + k - 1] += I[x] * K[k]
    return O


def zero_stuffed(I):
    """A quotient in a subscript divides exactly: every other element stays 0."""
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    O = TensorOutput(2 * N)
    O[i] += I[i // 2]
    return O


def conv_input_gradient(D, K):
    """The gradient of a strided convolution, with an exact quotient."""
    X, KX = TensorDims(2)
    x, k = TensorIndexes(2)
    D.bind_dims(X)
    K.bind_dims(KX)
    I = TensorOutput(3 * X + 1)
    I[x] += D[(x - k) // 3] * K[k]
    return I


def max_pool_ragged(I):
    X, Y = TensorDims(2)
    x, y, i, j = TensorIndexes(4)
    I.bind_dims(X, Y)
    O = TensorOutput((X + 1) // 2, (Y + 2) // 3)
    O[x, y] >= I[2 * x + i, 3 * y + j]
    O.add_constraint(i < 2)
    O.add_constraint(j < 3)
    return O


def max_pool_overlapping(I):
    X = TensorDim()
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    O = TensorOutput(X)
    O[x] >= I[x + k - 1]
    O.add_constraint(k < 3)
    return O


def min_pool(I):
    X = TensorDim()
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    O = TensorOutput((X + 2) // 3)
    O[x] <= I[3 * x + k]
    O.add_constraint(k < 3)
    return O


def max_pool_padded(I):
    """The output is longer than what the input reaches: 0 there."""
    X = TensorDim()
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    O = TensorOutput(X)
    O[x] >= I[2 * x + k]
    O.add_constraint(k < 2)
    return O


def average_pool(I):
    X, C = TensorDims(2)
    x, c, k = TensorIndexes(3)
    I.bind_dims(X, C)
    O = TensorOutput(X // 2, C)
    O[x, c] += I[2 * x + k, c]
    O.add_constraint(k < 2)
    return O / 2


def average_pool_ragged(I):
    """Every window divided by what it holds."""
    X = TensorDim()
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    Ones = select(I == I, 1.0, 0.0)
    S = TensorOutput((X + 1) // 2)
    S[x] += I[2 * x + k]
    S.add_constraint(k < 2)
    Count = TensorOutput((X + 1) // 2)
    Count[x] += Ones[2 * x + k]
    Count.add_constraint(k < 2)
    return S / Count


def im2col(I):
    X = TensorDim()
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    O = TensorOutput(X - 2, 3)
    O[x, k] = I[x + k]
    return O


def fir(X, H):
    """A causal filter: what is before the start is 0."""
    N, T = TensorDims(2)
    n, t = TensorIndexes(2)
    X.bind_dims(N)
    H.bind_dims(T)
    Y = TensorOutput(N)
    Y[n] += X[n - t] * H[t]
    return Y
