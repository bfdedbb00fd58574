"""The program whose arrays and number formats the tests of `tabla explore` compare."""

MODEL = """m = 4;
mu = 0.5;
model_input x[m];
model_output y;
model w[m];
gradient g[m] -> w;
iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
g[i] = (h - y) * x[i];
"""
