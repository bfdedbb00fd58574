// Recommender: learns the tastes of users and the character of films from some of the ratings (matrix factorisation).
//
// Data:   ratings.npz, made up from a seed: 30 users, 40 films; a sample is one user with the user's ratings.
//         u has a 1 for the user, r is 1 where a rating is known, y is the rating minus the mean (0 where unknown);
//         ratings_test.npz has other ratings of the same users
// Format: q5.13 (18 bits, as wide as the multipliers and block RAMs of an ECP5)
// Run:    tabla train recommender.t --data ratings.npz --test ratings_test.npz --epochs 40 --format q5.13

users = 30; films = 40; tastes = 4;
mu = 0.0625;                      // learning rate, 1/16

model_input  u[users], r[films];
model_output y[films];
model        U[users][tastes], F[films][tastes];
gradient     gU[users][tastes] -> U, gF[films][tastes] -> F;
iterator     i[0:users];
iterator     j[0:films];
iterator     k[0:tastes];

t[k] = sum[i](u[i] * U[i][k]);                // the tastes of the user
h[j] = r[j] * sum[k](t[k] * F[j][k]);         // the predicted ratings of the user
e[j] = h[j] - y[j];
s[k] = sum[j](e[j] * F[j][k]);
gF[j][k] = e[j] * t[k];
gU[i][k] = u[i] * s[k];
