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
