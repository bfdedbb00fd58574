"""Where elements go: transposes, padding, strides, reshapes."""

from tabla.tile import *


def transpose(I):
    M, N = TensorDims(2)
    i, j = TensorIndexes(2)
    I.bind_dims(M, N)
    O = TensorOutput(N, M)
    O[j, i] = I[i, j]
    return O


def flip(I):
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    O = TensorOutput(N)
    O[N - 1 - i] = I[i]
    return O


def pad(I):
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    O = TensorOutput(N + 3)
    O[i + 1] = I[i]
    return O


def crop(I):
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    O = TensorOutput(N - 3)
    O[i - 1] = I[i]
    return O


def repeat(I):
    N = TensorDim()
    i, j = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(3 * N)
    O[3 * i + j] = I[i]
    O.add_constraint(j < 3)
    return O


def every_third(I):
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    O = TensorOutput((N + 2) // 3)
    O[i] = I[3 * i]
    return O


def interleave(A, B):
    N = TensorDim()
    i = TensorIndex()
    A.bind_dims(N)
    B.bind_dims(N)
    Even, Odd = TensorOutput(2 * N), TensorOutput(2 * N)
    Even[2 * i] = A[i]
    Odd[2 * i + 1] = B[i]
    return Even + Odd


def concatenate(A, B):
    N, M = TensorDims(2)
    i = TensorIndex()
    A.bind_dims(N)
    B.bind_dims(M)
    Left, Right = TensorOutput(N + M), TensorOutput(N + M)
    Left[i] = A[i]
    Right[i + N] = B[i]
    return Left + Right


def space_to_depth(I):
    X, Y = TensorDims(2)
    x, y, i, j = TensorIndexes(4)
    I.bind_dims(X, Y)
    O = TensorOutput(X // 2, Y // 2, 4)
    O[x, y, 2 * i + j] = I[2 * x + i, 2 * y + j]
    O.add_constraint(i < 2)
    O.add_constraint(j < 2)
    return O


def reshapes(I):
    """(4, 6) to (8, 3), and by a flat tensor to (3, 8) and (2, 12)."""
    return reshape(I, [8, 3]), reshape(I, [3, 8]), reshape(2 * I, [2, 1, 12])


def outer(A, B):
    N, M = TensorDims(2)
    i, j = TensorIndexes(2)
    A.bind_dims(N)
    B.bind_dims(M)
    O = TensorOutput(N, M)
    O[i, j] = A[i] * B[j]
    return O


def kronecker(A, B):
    N, M, P, Q = TensorDims(4)
    i, j, k, m = TensorIndexes(4)
    A.bind_dims(N, M)
    B.bind_dims(P, Q)
    O = TensorOutput(N * P, M * Q)
    O[P * i + k, Q * j + m] = A[i, j] * B[k, m]
    return O


def toeplitz(A):
    i, j = TensorIndexes(2)
    O = TensorOutput(4, 4)
    O[i, j] = A[i - j + 3]
    return O


def ramp_plus(I):
    """Coordinates as values."""
    return I + index(I, 0) - 2 * index(I, 1)


def batched_matmul(A, B):
    N, I, J, K = TensorDims(4)
    n, i, j, k = TensorIndexes(4)
    A.bind_dims(N, I, K)
    B.bind_dims(N, K, J)
    return Contraction().outShape(N, I, J).outAccess(n, i, j).sum(A[n, i, k] * B[n, k, j]).build()


def nothing_valid(I):
    """The constraint leaves no index values at all."""
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    O = TensorOutput(N)
    O[i] += I[i]
    O.add_constraint(i - N < N)
    return O


def scalar_affairs(I, N):
    """Numbers on either side, sizes as numbers."""
    X = TensorDim()
    I.bind_dims(X)
    return (3 - I) / X + 1 / (I * I + N) - X * I + -(2 * I)


def embedding(Table, Where):
    """Rows by number; a number that is no row gives zeros."""
    return gather(Table, round_down(Where))


def round_down(T):
    """-1 to 4 by comparing."""
    return -1 + (T >= 0) + (T >= 0.25) + (T >= 0.5) + (T >= 0.75) + (T >= 1)
