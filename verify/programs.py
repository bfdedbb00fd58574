"""The texts among the inputs of the builds: programs of three notations, records, and programs with faults."""

from __future__ import annotations

TABLA = {
    "functions.t": """\
model_input x[3], y; iterator i[0:3];
a = exp(-y) + tanh(y) * sig_sym(y) - gaussian(y + 1);
b = log(x[0]) / sqrt(x[1]);
c = min(x[0], y) - max(x[1] * y, 2) + abs(y - 1);
d = norm[i](x[i]) + norm[i](-x[i] * y);
e = pi[i](x[i] - y) * pi[i](2);
f = (x[0] < y) + (y >= 0.5) * x[1] - (x[0] == x[1]);
g = sigmoid(sigmoid(0) + y);
""",
    "constants.t": """\
third = 1 / 3; m = 3000; n = m / 1000;
model_input x[n]; iterator i[0:n];
a[i] = third * 3 * x[i] + third * x[i] + third + 0.001 * x[i];
b = 7;
c[1] = 0.1;
""",
    "ordinals.t": """\
model_input x[4]; n = 3; iterator i[1:4]; iterator j[0:2];
a[i] = i * x[i] + (2 * i - n) + 0.5 * i * 2;
b[i][j] = (i + j) * (i - j) + x[i] - i;
c = sum[j](j * j + j * 0.25 + 1);
s = 0;
s = s + max[i](x[i]) * x[0];
v[j] = x[j] + s;
v[j] = v[j] * v[1 - j];
""",
    "variables.t": """\
$n ?= 5
$k = !calc($n 2 *)
$name = weights
m = $n; k = $k;
model_input x[m]; model_output y; model $name[m]; gradient g[m] -> $name; iterator i[0:m];
h = sum[i]($name[i] * x[i]) * (k / 16);
e = h - y;
g[i] = e * x[i];
""",
    "classes.t": """\
m = 3; classes = 3; mu = 0.125;
model_input x[m]; model_output y[classes]; model w[classes][m], b[classes];
gradient g[classes][m] -> w, gb[classes] -> b;
iterator i[0:m]; iterator k[0:classes];
h[k] = sigmoid(sum[i](w[k][i] * x[i]) + b[k]);
e[k] = h[k] - y[k];
g[k][i] = e[k] * x[i];
gb[k] = e[k];
""",
    "infer.t": """\
m = 3;
model_input x[m]; model w[m]; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
large = 1000 * h;
""",
}

KERNELS = {
    "sobel.tc": """\
def sobel(float(H,W) In) -> (G) {
  X(h, w) = In(h - 1, w + 1) + 2 * In(h, w + 1) + In(h + 1, w + 1)
    - In(h - 1, w - 1) - 2 * In(h, w - 1) - In(h + 1, w - 1)
  Y(h, w) = In(h + 1, w - 1) + 2 * In(h + 1, w) + In(h + 1, w + 1)
    - In(h - 1, w - 1) - 2 * In(h - 1, w) - In(h - 1, w + 1)
  G(h, w) = hypot(X(h, w), Y(h, w))
}
""",
    "products.tc": """\
$t = float
def scale($t(N) x, $t a) -> (y) {
  y(i) = a * x(i)
}
def mm($t(M,K) A, $t(K,N) B) -> (C, s) {
  twice(m,n) = 2 * A(m,0) * B(0,n)
  C(m,n) +=! A(m,k) * B(k,n)
  s +=! C(m,n)
}
""",
    "lookup.tc": """\
def lookup(float(V,D) table, int32(B) at) -> (y, far, digit) {
  y(b, d) = table(at(b), d)
  far(b) = at(b) * 100 - 1
  digit(b) = at(b) / 2 % 10
}
""",
    "extremes.tc": """\
def extremes(float(N,D) X, bool(D) M) -> (least, at, pooled, share) {
  least(n) min=! X(n, d)
  at(n) min=! X(n, d) == least(n) ? d : D
  pooled(n, i) max=! X(n, 2 * i + k) where k in 0:2
  t(n) +=! M(d) ? exp(X(n, d)) : 0.0
  share(n, d) = exp(X(n, d)) / t(n)
}
""",
    "conv.tc": """\
def conv(float(C,H,W) In, float(O,C,KH,KW) F) -> (Y) {
  Y(o, h, w) +=! In(c, h + 2 * kh, w + kw) * F(o, c, kh, kw)
}
""",
}

TILE = {
    "layers.py": '''\
"""Layers of networks, and a network that learns by the gradient of its loss."""

from tabla.tile import *


def dense(X, W):
    I, J = TensorDims(2)
    i, j = TensorIndexes(2)
    W.bind_dims(I, J)
    O = TensorOutput(I)
    O[i] += W[i, j] * X[j]
    return O


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


def strided(I, K, stride):
    X, KX, C = TensorDims(3)
    x, k, c = TensorIndexes(3)
    I.bind_dims(X, C)
    K.bind_dims(KX, C)
    O = TensorOutput((X - KX) // stride + 1, C)
    O[x, c] += I[stride * x + k, c] * K[k, c]
    P = TensorOutput((X - KX) // stride // 2 + 1, C)
    P[x, c] >= O[2 * x + k, c]
    P.add_constraint(k < 2)
    return select(O < 0.0, 0.125 * O, O), P


def learn(X, Y, W1, W2, learning_rate):
    k = TensorIndex()
    P = dense(sigmoid(dense(X, W1)), W2)
    E = P - Y
    L = TensorOutput()
    L[()] += E[k] * E[k]
    descend(L / 2, [W1, W2], learning_rate)


def wrong(X):
    O = TensorOutput(3)
    O[i] += X[i]
    return O
''',
}

RECORDS = {
    "own.td": """\
def Sensor : NumberFormat<3, 13>;
def Mine : Template<8, 4> { let Format = Sensor; }
def Family : Target<"mine", "My family", "synth_mine"> { let Cells = [Takes<"LUT", "L?">]; }
def Small : Device<Family, "small", "MINE-1"> {
  let Packages = ["Q1"]; let Grades = [2, 3]; let Luts = 100; let Ffs = 200; let Dsps = 3; let Rams = 4;
}
def MyBoard : Board<"mine", "My own", Small, "Q1", 2> {
  let ClockPin = "P1"; let ClockHertz = 48000000;
  let HostTransmit = "A1"; let HostReceive = "A2"; let ResetPin = "B1";
}
""",
    "records.td": """\
class I { bits<4> a; bits<4> b = {a{0}, a{1}, ?, 1}; bits<8> c; let c{3-0} = a; }
def X : I;
class P<int n, string s = "a"> { int v = !add(n, 1); string t = s # n; }
multiclass M<int n> { def a : P<n>; def b : P<n, "b">; }
defm Q : M<2>;
foreach k = [1, 2, 3] in { def R#k : P<k> { list<P> l = [P<1>, P<1, "a">]; } }
""",
    "records_wrong.td": 'class C<int n> { assert !lt(n, 10), "too big: " # n; int v = n; }\ndef X : C<30>;\n',
}

FAULTY = {
    "syntax.t": "m = = 3;\nmodel_input x[4], ;\na = x[0] +;\nb = (x[1]];\nc = x[2];\n",
    "misspelt.t": """\
m = 4;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sum[i](w[i] * x[i]);
error = h - y;
g[i] = eror * x[i];
""",
    "bounds.t": """\
model_input x[3][4]; iterator i[0:4]; iterator j[0:3];
a[i][j] = x[i][j];
b = x[3][0];
d[j] = x[2 - j][2*j];
""",
    "habits.t": """\
float x;
model_input x[3]; iterator i[0:3];
for (i = 0; i < 3) { a = 1; }
b = (x[0] < 3) ? 1 : 0;
c = x[1] ** 2;
""",
    "too_large.t": "model_input x;\na = x + 40;\nb = x * 1e6 + 1e6;\n",
    "tiny_rate.t": "mu = 1e-9; model w; gradient g -> w;\ng = w * w;\n",
    "syntax.tc": "def f(float(N) a) -> (b) {\n  b(i) = a(i +) * 2\n  c(i) = q(i)\n}\n",
    "variables.tc": "$n = $m\n$t ?= float\ndef f($t(N) a) -> (b) { b(i) = a(i) * $n }\n",
}

TEXTS = {**TABLA, **KERNELS, **TILE, **RECORDS, **FAULTY}
