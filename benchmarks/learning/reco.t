// A recommender by matrix factorisation. A sample updates the factors of all users and of all items.
// Sizes: -D users=N -D items=N -D factors=N

users = 138; items = 130; factors = 10;
mu = 0.0625;

model_input  x1[factors], x2[factors], r1[users], r2[items];
model_output y1[users], y2[items];
model        w1[users][factors], w2[items][factors];
gradient     g1[users][factors] -> w1, g2[items][factors] -> w2;
iterator     i[0:users];
iterator     j[0:items];
iterator     l[0:factors];

e1[i] = sum[l](w1[i][l]*x2[l])*r1[i] - y1[i];
e2[j] = sum[l](w2[j][l]*x1[l])*r2[j] - y2[j];
g1[i][l] = e1[i]*x2[l];
g2[j][l] = e2[j]*x1[l];
