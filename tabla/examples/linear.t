// Linear regression: how far will the diabetes of a patient have progressed in a year?
//
// Data:   diabetes.npz, 442 real patients, 10 measurements and the progress of the disease, all standardised
// Format: q4.12 (16 bits)
// Run:    tabla train linear.t --data diabetes.npz --epochs 10 --format q4.12 --split 0.2

m = 10;
mu = 0.0078125;                   // learning rate, 1/128

model_input  x[m];
model_output y;
model        w[m], b;
gradient     gw[m] -> w, gb -> b;
iterator     i[0:m];

h = sum[i](w[i] * x[i]) + b;
e = h - y;
gw[i] = e * x[i];
gb = e;
