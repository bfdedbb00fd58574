"""Decision 2, *Models with guard bits*, in integers of Python: what programs with wide models learn.

Nothing of the compiler or of its evaluation is used here. A layer is h[k] = sum[i](w[k][i]*x[i]) + b[k], with the error
e = h - y and a gradient of one of the kinds in `KINDS`. All words are integers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

KINDS = {
    "layer": "gw[k][i] = e[k] * x[i]; gb[k] = e[k];",
    "decay": "gw[k][i] = w[k][i]; gb[k] = b[k];",
    "both": "gw[k][i] = e[k] * x[i] + w[k][i]; gb[k] = e[k] + b[k];",
}
"""The gradients of w and b, as the text of a program. The kind "scalar" is a layer whose tensors have no axes."""


def text_of(kind: str, rows: int, columns: int, rate: Fraction) -> str:
    """Return the program. Only a layer of one output and one input can be without axes, which is the kind "scalar"."""
    if kind == "scalar":
        return f"""
mu = {float(rate)!r};
model_input x; model_output y; model w, b; gradient gw -> w, gb -> b;
h = w * x + b;
e = h - y;
gw = e * x;
gb = e;
"""
    return f"""
mu = {float(rate)!r};
model_input x[{columns}]; model_output y[{rows}]; model w[{rows}][{columns}], b[{rows}];
gradient gw[{rows}][{columns}] -> w, gb[{rows}] -> b;
iterator i[0:{columns}]; iterator k[0:{rows}];
h[k] = sum[i](w[k][i] * x[i]) + b[k];
e[k] = h[k] - y[k];
{KINDS[kind]}
"""


Matrix = list[list[int]]


@dataclass
class Witness:
    """A layer of `rows` outputs and `columns` inputs in words of `width` bits, `fraction` of them behind the point.

    `weights` and `biases` are stored integers with `guard` bits more. The rate is ``sign * mantissa * 2^-shift``.
    """

    kind: str
    rows: int
    columns: int
    width: int
    fraction: int
    guard: int
    rate: Fraction
    weights: Matrix
    biases: list[int]
    overflows: int = 0
    updates: int = 0
    zero_updates: int = 0
    sign: int = field(init=False)
    shift: int = field(init=False)
    mantissa: int = field(init=False)

    def __post_init__(self) -> None:
        self.sign, size, self.shift = (1 if self.rate > 0 else -1), abs(self.rate), 0
        while size > 1:
            size, self.shift = size / 2, self.shift - 1
        while size <= Fraction(1, 2):
            size, self.shift = size * 2, self.shift + 1
        self.mantissa = floor(size * 2**self.fraction + Fraction(1, 2))

    @property
    def one(self) -> int:
        return 1 << self.fraction

    def clamped(self, number: int, width: int) -> int:
        low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
        found = min(max(number, low), high)
        self.overflows += found != number
        return found

    def rounded(self, total: int) -> int:
        """A sum of products, as a word."""
        return self.clamped((total + (self.one >> 1)) >> self.fraction, self.width)

    def moved(self, stored: int, step: int) -> int:
        """The update: s' = clamp(s + ((S + half) >> k))."""
        places = self.fraction + self.shift - self.guard
        after = self.clamped(stored + ((step + ((1 << places) >> 1)) >> places), self.width + self.guard)
        self.updates += 1
        self.zero_updates += step != 0 and after == stored
        return after

    def whole(self, word: int) -> int:
        """A gradient that is one word: its product with the rate, of which 2^-shift is left to the update."""
        if self.mantissa == self.one and self.shift == 0:
            return word << self.fraction
        return self.mantissa * word

    def learn(self, samples: list[tuple[list[int], list[int]]]) -> None:
        """Take one step along the gradients of some samples."""
        w = [[stored >> self.guard for stored in row] for row in self.weights]
        b = [stored >> self.guard for stored in self.biases]
        steps, moves = [[0] * self.columns for _ in w], [0] * self.rows
        for x, y in samples:
            for k in range(self.rows):
                total = sum(w[k][i] * x[i] for i in range(self.columns)) + (b[k] << self.fraction)
                error = self.clamped(self.rounded(total) - y[k], self.width)
                scaled = error
                if self.kind in ("layer", "scalar") and self.mantissa != self.one:
                    scaled = self.rounded(self.mantissa * error)
                for i in range(self.columns):
                    match self.kind:
                        case "layer" | "scalar":
                            steps[k][i] -= self.sign * scaled * x[i]
                        case "decay":
                            steps[k][i] -= self.sign * self.whole(w[k][i])
                        case _:
                            gradient = self.rounded(error * x[i] + (w[k][i] << self.fraction))
                            steps[k][i] -= self.sign * self.whole(gradient)
                match self.kind:
                    case "layer" | "scalar":
                        moves[k] -= self.sign * self.whole(error)
                    case "decay":
                        moves[k] -= self.sign * self.whole(b[k])
                    case _:
                        moves[k] -= self.sign * self.whole(self.clamped(error + b[k], self.width))
        self.weights = [
            [self.moved(self.weights[k][i], steps[k][i]) for i in range(self.columns)] for k in range(self.rows)
        ]
        self.biases = [self.moved(self.biases[k], moves[k]) for k in range(self.rows)]

    def value(self, stored: int) -> float:
        """The real number that a stored integer stands for."""
        return float(Fraction(stored - ((1 << self.guard) >> 1), 1 << (self.fraction + self.guard)))
