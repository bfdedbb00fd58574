// domains of one element
model_input x[1][3], y[3][1]; iterator i[0:1]; iterator j[0:3]; iterator k[0:1];
z[i][k] = sum[j](x[i][j] * y[j][k]);
