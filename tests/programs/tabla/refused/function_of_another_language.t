model_input x[4];
model w[4];
gradient g[4] -> w;
iterator i[0:4], j[0:4];
p[i] = softmax(x[i]);
q[i] = softmax[j](x[j]);
r[i] = relu(x[i]);
s = softmin(x[0]);
g[i] = p[i] + q[i] + r[i] + s;
