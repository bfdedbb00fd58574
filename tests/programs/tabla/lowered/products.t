// chains round from the left, signs move to the term, a factor that is a sum is a word first
model_input a, b, c;
chain = a * b * c;
signs = -a * -b + -(a * b) * c - -(a + b) * (b - c);
folded = 1 * a + b * -1 + 0 * c + (a + b) * 1;
half = a * 0.5 * b;
constants = (2 - 3) * a - 3 * 0.5;
quotient = a / b / -1 + (a + b) / 3 - 1 / c;
