"""Sums, products, extremes; triangles, bands, other semirings."""

from tabla.tile import *


def reverse_sum(I):
    N = TensorDim()
    i, k = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(N)
    O[i] += I[k]
    O.add_constraint(k - i < N)
    return O


def running_max(I):
    N = TensorDim()
    i, k = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(N)
    O[i] >= I[k]
    O.add_constraint(i - k < N)
    return O


def running_product(I):
    N = TensorDim()
    i, k = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(N)
    O[i] *= I[k]
    O.add_constraint(i - k < N)
    return O


def exclusive_running_min(I):
    """The first element has nothing before it: 0."""
    N = TensorDim()
    i, k = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(N)
    O[i] <= I[k]
    O.add_constraint(i - k - 1 < N)
    return O


def band_sum(I):
    N = TensorDim()
    i, k = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(N)
    O[i] += I[k]
    O.add_constraint(k - i + 1 < 3)
    return O


def triangular_matmul(A, B):
    N, M = TensorDims(2)
    i, j, k = TensorIndexes(3)
    A.bind_dims(N, N)
    B.bind_dims(N, M)
    O = TensorOutput(N, M)
    O[i, j] += A[i, k] * B[k, j]
    O.add_constraint(i - k < N)
    return O


def lower_triangle(A):
    """Only what lies on or under the diagonal is written."""
    N = TensorDim()
    i, j = TensorIndexes(2)
    A.bind_dims(N, N)
    O = TensorOutput(N, N)
    O[i, j] = A[i, j]
    O.add_constraint(i - j < N)
    return O


def tropical_matmul(A, B):
    I, J, K = TensorDims(3)
    i, j, k = TensorIndexes(3)
    A.bind_dims(I, K)
    B.bind_dims(K, J)
    C = TensorOutput(I, J)
    C[i, j] >= A[i, k] + B[k, j]
    return C


def shortest_paths(D):
    """Two steps of min-plus squaring."""
    N = TensorDim()
    i, j, k, m = TensorIndexes(4)
    D.bind_dims(N, N)
    Two = TensorOutput(N, N)
    Two[i, j] <= D[i, k] + D[k, j]
    Four = TensorOutput(N, N)
    Four[i, j] <= Two[i, m] + Two[m, j]
    return Four


def widest_product(A, B):
    I, J, K = TensorDims(3)
    i, j, k = TensorIndexes(3)
    A.bind_dims(I, K)
    B.bind_dims(K, J)
    C = TensorOutput(I, J)
    C[i, j] >= A[i, k] * B[k, j]
    return C


def viterbi_step(S, T, E):
    N = TensorDim()
    i, j = TensorIndexes(2)
    T.bind_dims(N, N)
    Best = TensorOutput(N)
    Best[j] >= S[i] + T[i, j]
    return Best + E


def argmax_by_cond(I):
    """The largest index of a maximum."""
    X, Y = TensorDims(2)
    x, y = TensorIndexes(2)
    I.bind_dims(X, Y)
    M = TensorOutput(X)
    M[x] >= I[x, y]
    Place = index([X, Y], 1)
    O = TensorOutput(X)
    O[x] >= cond(I[x, y], M[x], Place[x, y])
    return O


def count_of_maxima(I):
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    M = TensorOutput()
    M[()] >= I[i]
    O = TensorOutput()
    O[()] += cond(I[i], M[()], 1)
    return O


def gram(A):
    P, C = TensorDims(2)
    p, q, c = TensorIndexes(3)
    A.bind_dims(P, C)
    O = TensorOutput(P, P)
    O[p, q] += A[p, c] * A[q, c]
    return O


def polynomial_product(A, B):
    N, M = TensorDims(2)
    i, j = TensorIndexes(2)
    A.bind_dims(N)
    B.bind_dims(M)
    O = TensorOutput(N + M - 1)
    O[i + j] += A[i] * B[j]
    return O


def antidiagonal_sums(A):
    N, M = TensorDims(2)
    i, j = TensorIndexes(2)
    A.bind_dims(N, M)
    O = TensorOutput(N + M - 1)
    O[i + j] += A[i, j]
    return O


def antidiagonal_maxima(A):
    N, M = TensorDims(2)
    i, j = TensorIndexes(2)
    A.bind_dims(N, M)
    O = TensorOutput(N + M)
    O[2 * i + j] >= A[i, j]
    return O


def trace_of(A):
    i = TensorIndex()
    O = TensorOutput()
    O[()] += A[i, i]
    return O


def diagonal(A):
    N = TensorDim()
    i = TensorIndex()
    A.bind_dims(N, N)
    O = TensorOutput(N)
    O[i] = A[i, i]
    return O


def butterfly(I, K):
    """Neither index stands alone: the sums and the differences bound them together."""
    i, j = TensorIndexes(2)
    O = TensorOutput()
    O[()] += I[i + j] * K[i - j]
    return O


def product_over_axis(I):
    M, N = TensorDims(2)
    m, n = TensorIndexes(2)
    I.bind_dims(M, N)
    O = TensorOutput(N + 1)
    O[n] *= I[m, n]
    return O


def product_of_pairs(A, B):
    M, N = TensorDims(2)
    m, n = TensorIndexes(2)
    A.bind_dims(M, N)
    O = TensorOutput(N)
    O[n] *= A[m, n] + B[m]
    return O


def correlation_lags(A):
    N = TensorDim()
    i, lag = TensorIndexes(2)
    A.bind_dims(N)
    O = TensorOutput(3)
    O[lag] += A[i] * A[i + lag]
    return O


def variance(I):
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    S = TensorOutput()
    S[()] += I[i]
    Centred = I - S / N
    V = TensorOutput()
    V[()] += Centred[i] * Centred[i]
    return S / N, V / N


def distances(A, B):
    N, M, D = TensorDims(3)
    n, m, d = TensorIndexes(3)
    A.bind_dims(N, D)
    B.bind_dims(M, D)
    Difference = reshape(A, [N, 1, D]) - B
    O = TensorOutput(N, M)
    O[n, m] += Difference[n, m, d] * Difference[n, m, d]
    return sqrt(O)


def bilinear(X, A, Y):
    i, j = TensorIndexes(2)
    N, M = TensorDims(2)
    A.bind_dims(N, M)
    T = TensorOutput(N)
    T[i] += A[i, j] * Y[j]
    O = TensorOutput()
    O[()] += X[i] * T[i]
    return O


def irregular_maxima(A, B):
    """Which outputs have a valid k at all is not an interval."""
    i, k = TensorIndexes(2)
    O = TensorOutput(9)
    O[i] >= A[2 * k - i + 1] + B[3 * k - 2 * i + 4]
    return O
