// Contractions of one and two tensors, with all aggregations.
#include "plaidml/edsl/edsl.h"

using namespace plaidml::edsl;

Tensor sum_of_rows(const Tensor& I) {
  TensorDim M, N;
  TensorIndex m, n;
  I.bind_dims(M, N);
  auto O = TensorOutput(M);
  O(m) += I(m, n);
  return O;
}

Tensor product_of_columns(const Tensor& I) {
  TensorDim M, N;
  TensorIndex m, n;
  I.bind_dims(M, N);
  auto O = TensorOutput(N);
  O(n) *= I(m, n);
  return O;
}

Tensor least_of_columns(const Tensor& I) {
  TensorDim M, N;
  TensorIndex m, n;
  I.bind_dims(M, N);
  Tensor O = TensorOutput(N);
  O(n) <= I(m, n);
  return O;
}

Tensor transpose(const Tensor& I) {
  TensorDim M, N;
  TensorIndex m, n;
  I.bind_dims(M, N);
  auto O = TensorOutput(N, M);
  O(n, m) = I(m, n);
  return O;
}

// Every second element, from the first one on.
Tensor every_second(const Tensor& I) {
  TensorDim N;
  TensorIndex n;
  I.bind_dims(N);
  auto O = TensorOutput((N + 1) / 2);
  O(n) = I(2 * n);
  return O;
}

// The reverse: zeros between.
Tensor stuffed(const Tensor& I) {
  TensorDim N;
  TensorIndex n;
  I.bind_dims(N);
  auto O = TensorOutput(2 * N);
  O(n) = I(n / 2);
  return O;
}

Tensor reversed(const Tensor& I) {
  TensorDim N;
  TensorIndex n;
  I.bind_dims(N);
  auto O = TensorOutput(N);
  O(n) = I(N - 1 - n);
  return O;
}

Tensor outer(const Tensor& A, const Tensor& B) {
  TensorDim M, N;
  TensorIndex m, n;
  A.bind_dims(M);
  B.bind_dims(N);
  auto O = TensorOutput(M, N);
  O(m, n) += A(m) * B(n);
  return O;
}

Tensor tropical(const Tensor& A, const Tensor& B) {
  TensorDim I, J, K;
  TensorIndex i, j, k;
  A.bind_dims(I, K);
  B.bind_dims(K, J);
  auto C = TensorOutput(I, J);
  C(i, j) >= A(i, k) + B(k, j);
  return C;
}

Tensor gram(const Tensor& A) {
  TensorDim P, C;
  TensorIndex p, q, c;
  A.bind_dims(P, C);
  auto O = TensorOutput(P, P);
  O(p, q) += A(p, c) * A(q, c);
  return O;
}

Tensor trace(const Tensor& A) {
  TensorDim N;
  TensorIndex n;
  A.bind_dims(N, N);
  auto O = TensorOutput();
  O() += A(n, n);
  return O;
}

// Sums over the triangle below the diagonal, which is a constraint.
Tensor lower_triangle(const Tensor& A) {
  TensorDim M, N;
  TensorIndex m, n;
  A.bind_dims(M, N);
  auto O = TensorOutput(M);
  O(m) += A(m, n);
  O.add_constraint(m - n < M);
  return O;
}

// What is not written comes from P.
Tensor with_default(const Tensor& I, const Tensor& P) {
  TensorDim N;
  TensorIndex n;
  I.bind_dims(N);
  auto O = TensorOutput(2 * N);
  O(2 * n) = I(n);
  O.use_default(P);
  return O;
}

Tensor argmax_value(const Tensor& I, const Tensor& X) {
  TensorDim M, N;
  TensorIndex m, n;
  I.bind_dims(M, N);
  auto Top = TensorOutput(M);
  Top(m) >= I(m, n);
  auto O = TensorOutput(M);
  O(m) >= cond(I(m, n), Top(m), X(n));
  return O;
}

// The builder, whose steps follow one another.
Tensor built(const Tensor& I) {
  TensorDim M, N;
  TensorIndex m, n;
  I.bind_dims(M, N);
  Tensor O = Contraction().outShape(N).outAccess(n).sum(I(m, n));
  return O;
}

// A single value needs neither a shape nor subscripts.
Tensor length(const Tensor& I) {
  std::vector<TensorIndex> at(2);
  auto Square = I * I;
  return sqrt(Contraction().sum(Square(at)).build());
}
