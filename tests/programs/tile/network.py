"""A network of two layers, written forward; it learns by the gradient of its loss."""

from tabla.tile import *


def layer(X, W):
    I, J = TensorDims(2)
    i, j = TensorIndexes(2)
    W.bind_dims(I, J)
    O = TensorOutput(I)
    O[i] += W[i, j] * X[j]
    return sigmoid(O)


def digits(X, Y, W1, W2, learning_rate):
    k = TensorIndex()
    P = layer(layer(X, W1), W2)
    E = P - Y
    L = TensorOutput()
    L[()] += E[k] * E[k]
    descend(L / 2, [W1, W2], learning_rate)


def convolutional(X, Y, K, W, learning_rate):
    """A convolution, the larger of each and 0, the largest of every 2 x 2, a layer."""
    N, KX, C, L = TensorDims(4)
    x, y, i, j, c, k = TensorIndexes(6)
    X.bind_dims(N, N)
    K.bind_dims(KX, KX, C)
    M = (N - KX + 1) // 2
    W.bind_dims(M, M, C, L)
    A = TensorOutput(2 * M, 2 * M, C)
    A[x, y, c] += X[x + i, y + j] * K[i, j, c]
    H = max(A, 0.0)
    P = TensorOutput(M, M, C)
    P[x, y, c] >= H[2 * x + i, 2 * y + j, c]
    P.add_constraints([i < 2, j < 2])
    O = TensorOutput(L)
    O[k] += P[x, y, c] * W[x, y, c, k]
    E = sigmoid(O) - Y
    Loss = TensorOutput()
    Loss[()] += E[k] * E[k]
    descend(Loss / 2, [K, W], learning_rate)
