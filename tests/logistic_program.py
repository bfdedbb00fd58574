"""The program of a logistic neuron, which many tests read, and change in a line or two."""

LOGISTIC = """m = 4;
mu = 0.5;
model_input x[m];
model_output y;
model w[m];
gradient g[m] -> w;
iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
g[i] = (h - y) * x[i];
"""
