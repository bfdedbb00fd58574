// Elementwise operators and functions, and what networks are made of.
namespace layers {

static Tensor dense(const Tensor& X, const Tensor& W, const Tensor& B) {
  TensorDim I, J;
  TensorIndex i, j;
  X.bind_dims(I);
  W.bind_dims(J, I);
  auto P = TensorOutput(J);
  P(j) += W(j, i) * X(i);
  return P + B;
}

Tensor relu(const Tensor& I) { return select(I < 0.0, Tensor{0.0}, I); }

Tensor clamped(const Tensor& I, float low = -0.5f, float high = 0.5f) { return max(min(I, high), low); }

Tensor softmax(const Tensor& I) {
  TensorDim X, Y;
  TensorIndex x, y;
  I.bind_dims(X, Y);
  auto M = TensorOutput(X, 1);
  M(x, 0) >= I(x, y);
  auto E = exp(I - M);
  auto N = TensorOutput(X, 1);
  N(x, 0) += E(x, y);
  return E / N;
}

Tensor perceptron(const Tensor& X, const Tensor& W1, const Tensor& B1, const Tensor& W2, const Tensor& B2) {
  auto H = tanh(dense(X, W1, B1));
  return sigmoid(dense(H, W2, B2));
}

Tensor norm(const Tensor& I, double epsilon = 0.01) {
  TensorDim N;
  TensorIndex n;
  I.bind_dims(N);
  Tensor S = TensorOutput(), V = TensorOutput();
  S() += I(n);
  auto C = I - S / N;
  auto C2 = C * C;
  V() += C2(n);
  return C / sqrt(V / N + epsilon);
}

std::vector<Tensor> both(const Tensor& A, const Tensor& B) {
  return {A + B, A - 2 * B};
}

// C++ binds comparisons tighter than '&', and Python does not.
Tensor between(const Tensor& A) { return select(A > -0.5 & A < 0.5, A, 0.25); }

Tensor polynomial(const Tensor& A, const std::vector<double>& c) {
  Tensor sum = A * 0;
  for (int k = c.size() - 1; k >= 0; --k) {
    sum = sum * A + c[k];
  }
  return sum;
}

Tensor powers(const Tensor& A) { return pow(A, 3) + pow(abs(A), 0.5) - pow(2, 3) / 16; }

Tensor waves(const Tensor& A) { return sin(A) * cos(A) + exp(-A) - log(A * A + 1); }

Tensor steps(const Tensor& A) { return floor(A * 2) + ceil(A) * 0.5 + round(A * 4) / 4; }

Tensor equal_to_first(const Tensor& A, const Tensor& B) { return select(A == B, 1.0, select(A != 0.0, -1.0, 0.0)); }

Tensor truncated_integers(const Tensor& A) {
  auto N = as_int(A * 4, 32);
  return N / 3 - cast(A, DType::INT8);
}

Tensor coordinates(const Tensor& A) {
  TensorDim M, N;
  A.bind_dims(M, N);
  return A + index({M, N}, 0) - 2 * index(A, 1);
}

Tensor reshaped(const Tensor& A) {
  TensorDim M, N;
  A.bind_dims(M, N);
  return reshape(A, {N, M});
}

Tensor rows(const Tensor& T, const Tensor& where) { return gather(T, where); }

Tensor columns(const Tensor& T, const Tensor& where) { return gather(T, where).axis(1); }

std::vector<Tensor> largest(const Tensor& A, int k = 2) {
  auto [values, where] = topk(A, k);
  return {values, where};
}

// A choice by a number, an early return, nested loops, and a vector of vectors.
Tensor mixture(const Tensor& A, bool scaled, const std::vector<int>& powers) {
  if (!scaled && powers.empty()) return A;
  std::vector<std::vector<double>> table{{1.0, 0.5}, {0.25, 0.125}};
  double sum = 0;
  for (const auto& row : table)
    for (auto value : row) {
      if (value < 0.2) continue;
      sum += value;
    }
  auto O = scaled ? A * sum : A;
  for (auto p : powers) {
    if (p > 3) break;
    O = O + pow(A, p);
  }
  return O;
}

// A network that learns.
void network(const Tensor& X, const Tensor& Y, const Tensor& W1, const Tensor& W2, float learning_rate = 0.5) {
  TensorDim I, J, K;
  TensorIndex i, j, k;
  W1.bind_dims(I, J);
  W2.bind_dims(K, I);
  auto A = TensorOutput(I);
  A(i) += W1(i, j) * X(j);
  auto H = sigmoid(A);
  auto B = TensorOutput(K);
  B(k) += W2(k, i) * H(i);
  auto E = sigmoid(B) - Y;
  auto L = TensorOutput();
  L() += E(k) * E(k);
  descend(L / 2, {W1, W2}, learning_rate);
}

}  // namespace layers
