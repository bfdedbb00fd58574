// Support vector machine: is a tumour benign (1) or malignant (-1)?
//
// Data:   breast_cancer_signs.npz, 569 real tumours, 30 standardised measurements each
// Format: q6.12 (18 bits, as wide as the multipliers and block RAMs of an ECP5)
// Run:    tabla train svm.t --data breast_cancer_signs.npz --epochs 5 --format q6.12 --split 0.2

m = 30;
mu = 0.03125;                     // learning rate, 1/32
lambda = 0.015625;                // weight of |w|^2 beside the hinge loss, 1/64

model_input  x[m];
model_output y;
model        w[m], b;
gradient     gw[m] -> w, gb -> b;
iterator     i[0:m];

h = sum[i](w[i] * x[i]) + b;
d = (y * h < 1) * y;              // 0 outside the margin
gw[i] = lambda * w[i] - d * x[i];
gb = -d;
