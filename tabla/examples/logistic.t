// Logistic regression: is a tumour benign (1) or malignant (0)?
//
// Data:   breast_cancer.npz, 569 real tumours, 30 standardised measurements each
// Format: q7.11 (18 bits, as wide as the multipliers and block RAMs of an ECP5)
// Run:    tabla train logistic.t --data breast_cancer.npz --epochs 5 --format q7.11 --split 0.2

m = 30;
mu = 0.03125;                     // learning rate, 1/32

model_input  x[m];
model_output y;
model        w[m], b;
gradient     gw[m] -> w, gb -> b;
iterator     i[0:m];

h = sigmoid(sum[i](w[i] * x[i]) + b);
e = h - y;
gw[i] = e * x[i];
gb = e;
