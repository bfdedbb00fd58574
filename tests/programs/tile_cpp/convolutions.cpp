// Windows: strides, dilations, padding, pools, in one and several axes.

Tensor same_1d(const Tensor& I, const Tensor& K) {
  TensorDim N, KN;
  TensorIndex n, k;
  I.bind_dims(N);
  K.bind_dims(KN);
  auto O = TensorOutput(N);
  O(n) += I(n + k - KN / 2) * K(k);
  return O;
}

Tensor strided_1d(const Tensor& I, const Tensor& K, int stride = 2) {
  TensorDim X, KX, CI, CO;
  TensorIndex x, k, ci, co;
  I.bind_dims(X, CI);
  K.bind_dims(KX, CI, CO);
  auto O = TensorOutput((X - KX) / stride + 1, CO);
  O(x, co) += I(stride * x + k, ci) * K(k, ci, co);
  return O;
}

Tensor transposed_1d(const Tensor& I, const Tensor& K) {
  TensorDim N, KN;
  TensorIndex n, k;
  I.bind_dims(N);
  K.bind_dims(KN);
  auto O = TensorOutput(N + KN - 1);
  O(n + k) += I(n) * K(k);
  return O;
}

Tensor depthwise(const Tensor& I, const Tensor& K) {
  TensorDim X, Y, C, KX, KY;
  TensorIndex x, y, c, i, j;
  I.bind_dims(X, Y, C);
  K.bind_dims(KX, KY, C);
  auto O = TensorOutput(X - KX + 1, Y - KY + 1, C);
  O(x, y, c) += I(x + i, y + j, c) * K(i, j, c);
  return O;
}

Tensor max_pool_2d(const Tensor& I, int64_t w) {
  TensorDim X, Y;
  TensorIndex x, y, i, j;
  I.bind_dims(X, Y);
  auto O = TensorOutput((X + w - 1) / w, (Y + w - 1) / w);
  O(x, y) >= I(w * x + i, w * y + j);
  O.add_constraints({i < w, j < w});
  return O;
}

Tensor mean_pool(const Tensor& I) {
  TensorDim X;
  TensorIndex x, i;
  I.bind_dims(X);
  auto S = TensorOutput(X / 2);
  S(x) += I(2 * x + i);
  S.add_constraint(i < 2);
  return S / 2;
}

// The tutorial's last example, mended: strided, dilated, padded, grouped.
Tensor complex_conv_2d(
  const Tensor& I,
  const Tensor& K,
  const std::vector<size_t>& s,  // stride coeffs
  const std::vector<size_t>& d   // dilation coeffs
) {
    // "same-lower" autopadding will be applied
    TensorDim N, G, GCI, GCO;
    std::vector<TensorDim> X(2);
    std::vector<TensorDim> KD(2);
    TensorIndex n, g, gci, gco;
    std::vector<TensorIndex> x(2);
    std::vector<TensorIndex> k(2);
    I.bind_dims(N, X[0], X[1], G, GCI);
    K.bind_dims(KD[0], KD[1], G, GCI, GCO);
    // Compute output spatial dimensions
    std::vector<TensorDim> Y(2);
    for (size_t i = 0; i < Y.size(); ++i) {
      Y[i] = (X[i] + s[i] - 1) / s[i];
    }
    // Compute the effective kernel size after dilation
    std::vector<TensorDim> EK(2);
    for (size_t i = 0; i < EK.size(); ++i) {
      EK[i] = d[i] * (KD[i] - 1) + 1;
    }
    // Compute the padding offset
    std::vector<TensorDim> P(2);
    for (size_t i = 0; i < P.size(); ++i) {
      P[i] = ((Y[i] - 1) * s[i] + EK[i] - X[i]) / 2;
    }
    // Specify the output size
    auto O = TensorOutput(N, Y[0], Y[1], G, GCO);
    // Compute the convolution
    O(n, x[0], x[1], g, gco) +=
      I(n, s[0]*x[0] + d[0]*k[0] - P[0], s[1]*x[1] + d[1]*k[1] - P[1], g, gci) *
      K(k[0], k[1], g, gci, gco);
    return O;
}

// A stride that is larger than the window leaves elements out, and a negative size is cut toward zero: -1 / 2 is 0.
Tensor sparse_windows(const Tensor& I) {
  TensorDim N;
  TensorIndex n, k;
  I.bind_dims(N);
  auto P = (2 - 3) / 2 + (N - N - 1) / 2;
  auto O = TensorOutput(N / 3);
  O(n) += I(3 * n + k - P);
  O.add_constraint(k < 2);
  return O;
}

// A window over any number of axes, all of the same width.
Tensor window_sum(const Tensor& I, size_t width) {
  std::vector<TensorDim> X(I.rank());
  std::vector<TensorIndex> x(I.rank()), k(I.rank());
  I.bind_dims(X);
  std::vector<TensorDim> sizes;
  std::vector<TensorIndex> at;
  for (size_t a = 0; a < X.size(); a++) {
    sizes.push_back(X[a] - width + 1);
    at.push_back(x[a] + k[a]);
  }
  auto O = TensorOutput(sizes);
  O(x) += I(at);
  for (const auto& index : k) {
    O.add_constraint(index < width);
  }
  return O;
}
