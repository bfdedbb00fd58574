defm ? : M;
