"""Layers of networks, losses, activations."""

from tabla.tile import *


def dense(X, W):
    I, J = TensorDims(2)
    i, j = TensorIndexes(2)
    W.bind_dims(I, J)
    O = TensorOutput(I)
    O[i] += W[i, j] * X[j]
    return O


def mlp(X, W1, B1, W2, B2):
    Hidden = sigmoid(dense(X, W1) + B1)
    return dense(Hidden, W2) + B2


def relu_layer(X, W):
    return max(dense(X, W), 0.0)


def softmax(I):
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    M = TensorOutput()
    M[()] >= I[i]
    E = exp(I - M)
    S = TensorOutput()
    S[()] += E[i]
    return E / S


def softmax_rows(I):
    B, N = TensorDims(2)
    b, i = TensorIndexes(2)
    I.bind_dims(B, N)
    M = TensorOutput(B, 1)
    M[b, 0] >= I[b, i]
    E = exp(I - M)
    S = TensorOutput(B, 1)
    S[b, 0] += E[b, i]
    return E / S


def log_softmax(I):
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    M = TensorOutput()
    M[()] >= I[i]
    Shifted = I - M
    E = exp(Shifted)
    S = TensorOutput()
    S[()] += E[i]
    return Shifted - log(S)


def layer_norm(I, G, B):
    N = TensorDim()
    i = TensorIndex()
    I.bind_dims(N)
    S = TensorOutput()
    S[()] += I[i]
    Centred = I - S / N
    V = TensorOutput()
    V[()] += Centred[i] * Centred[i]
    return G * (Centred / sqrt(V / N + 0.01)) + B


def batch_norm(I, Mean, Deviation, G, B):
    return (I - Mean) / Deviation * G + B


def attention(Q, K, V):
    N, M, D, E = TensorDims(4)
    n, m, d, e = TensorIndexes(4)
    Q.bind_dims(N, D)
    K.bind_dims(M, D)
    V.bind_dims(M, E)
    S = TensorOutput(N, M)
    S[n, m] += Q[n, d] * K[m, d]
    P = softmax_rows(S / 2)
    O = TensorOutput(N, E)
    O[n, e] += P[n, m] * V[m, e]
    return O


def gelu(I):
    return 0.5 * I * (1.0 + tanh(0.8 * (I + 0.045 * I * I * I)))


def swish(I):
    return I * sigmoid(I)


def leaky_relu(I):
    return select(I > 0, I, 0.125 * I)


def clip(I):
    return min(max(I, -0.5), 0.5)


def huber(H, Y):
    N = TensorDim()
    i = TensorIndex()
    H.bind_dims(N)
    D = abs(H - Y)
    L = select(D < 0.5, 0.5 * D * D, 0.5 * (D - 0.25))
    O = TensorOutput()
    O[()] += L[i]
    return O


def hinge(H, Y):
    return select(Y * H < 1.0, 1.0 - Y * H, 0.0)


def cosine_similarity(A, B):
    i = TensorIndex()
    Dot, Left, Right = TensorOutput(), TensorOutput(), TensorOutput()
    Dot[()] += A[i] * B[i]
    Left[()] += A[i] * A[i]
    Right[()] += B[i] * B[i]
    return Dot / sqrt(Left * Right)


def normalise(I):
    i = TensorIndex()
    S = TensorOutput()
    S[()] += I[i] * I[i]
    return I / sqrt(S)


def gaussian_kernel(A, B):
    N, M = TensorDims(2)
    A.bind_dims(N)
    B.bind_dims(M)
    D = reshape(A, [N, 1]) - B
    return exp(-D * D)


def powers(I):
    return pow(I, 3) + I**2 - pow(abs(I) + 0.5, 0.5) + pow(I * I + 0.5, -1)


def general_power(A, B):
    return pow(A + 1.5, B)


def comparisons(A, B):
    return (A < B) + 2 * (A <= B) + 4 * (A == B) - (A != B) - 2 * (A > B) + 3 * (A >= B)


def broadcasting(A, B, C):
    """Shapes (3, 1), (4,) and ()."""
    return A * B + C, A - B, select(A < B, C, A)


def several_outputs(I):
    m, n = TensorIndexes(2)
    M, N = TensorDims(2)
    I.bind_dims(M, N)
    Rows, Columns = TensorOutput(M), TensorOutput(N)
    Rows[m] += I[m, n]
    Columns[n] += I[m, n]
    return Rows, Columns, I


def rotary(X, Y):
    """Pairs turned by an angle that grows with their position."""
    N, D = TensorDims(2)
    X.bind_dims(N, D)
    Y.bind_dims(N, D)
    A = cast(index([N, D], 0), "float") * 0.75
    return X * cos(A) - Y * sin(A), X * sin(A) + Y * cos(A)


def oscillator(X):
    return sin(3 * X) + cos(X - 0.5)
