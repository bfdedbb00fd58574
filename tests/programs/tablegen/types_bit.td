class B { bit a = 1; bit b = 0; bit c = ?; bit d = true; bit e = false; bit f; }
def X : B;
