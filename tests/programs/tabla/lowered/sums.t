// one rounding each
model_input x[3], y[3], b; iterator i[0:3]; iterator j[1:3];
dot = sum[i](x[i] * y[i]) + b;
cross = x[0] * y[1] - x[1] * y[0] - -b;
distributed = sum[i](x[i] - y[i] * b + 1);
nested = sum[i](sum[j](x[i] * y[j]) - x[i]);
together = sum[i][j](x[i] * y[j]);
kept = sum[i](x[i] * sum[j](y[j]));
sibling = sum[i](x[i]) - sum[i](y[i]);
late[i] = x[i] * sum[j](y[j] * x[j] * b);
