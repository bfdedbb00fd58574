// two models whose gradients read each other
mu = 0.25; users = 3; items = 4; k = 2;
model_input u[users], v[items]; model_output r;
model a[users][k], b[items][k];
gradient ga -> a, gb -> b;
iterator i[0:users]; iterator j[0:items]; iterator f[0:k];
p[f] = sum[i](u[i] * a[i][f]);
q[f] = sum[j](v[j] * b[j][f]);
e = sum[f](p[f] * q[f]) - r;
ep[f] = e * p[f];
eq[f] = e * q[f];
ga[i][f] = u[i] * eq[f];
gb[j][f] = ep[f] * v[j];
