"""Formulas of two words in each notation that can say them, and how far their words may lie from float64.

A formula is written in TABLA, Tensor Comprehensions and Tile, and made a model of ONNX. Its words are those of the
graph of each notation. `Estimate` computes, beside the real value, how far a word may lie from it: half a unit for each
rounding, the stated bound for each function, and what each step makes of the errors before it. It knows neither the
graph nor the lowering.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tabla import tile
from tabla.base.source import Source, TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.verify import verify
from tabla.languages.onnx import inference, read_proto
from tabla.languages.tabla import parse as parse_tabla
from tabla.languages.tabla.lower import lower as lower_tabla
from tabla.languages.tc import parse as parse_tc
from tabla.languages.tc.lower import lower as lower_tc
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower as lower_tile
from tests.graph.error_bounds import error_bound

Reals = NDArray[np.float64]
Words = NDArray[np.int64]
NOTATIONS = ("tabla", "tc", "tile", "onnx")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Real values, how far words may lie from them, and where that holds: no step before has saturated.

    `units` is the number of words from 0 to 1, and `ends` are the least and the largest real number of the format.
    """

    value: Reals
    error: Reals
    sure: NDArray[np.bool_]
    fmt: Format

    @property
    def unit(self) -> float:
        """The distance of two neighbouring words."""
        return 1 / self.fmt.one

    def made(self, value: Reals, error: Reals, *others: Estimate, where: Any = True) -> Estimate:
        """Return the result of a step on this estimate and others, which holds where theirs do, and `where` is set.

        It is sure for further steps if no word of it saturates.
        """
        sure = self.sure & where & np.isfinite(value) & np.isfinite(error)
        for other in others:
            sure = sure & other.sure
        return Estimate(np.asarray(value), np.asarray(error), sure, self.fmt)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Where no word of it saturates."""
        low, high = self.fmt.lowest / self.fmt.one, self.fmt.highest / self.fmt.one
        return (self.value - self.error >= low) & (self.value + self.error <= high)

    def word(self) -> Estimate:
        """Return the operand of a step, which is sure only where no word of it saturates."""
        return Estimate(self.value, self.error, self.sure & self.inside, self.fmt)

    def function(self, real: Callable[[Any], Any], units: float, where: Any = True) -> Estimate:
        """Return a function that rises or falls between value - error and value + error, within so many units."""
        value = real(self.value)
        ends = (real(self.value - self.error), real(self.value + self.error))
        off = np.maximum(np.abs(ends[0] - value), np.abs(ends[1] - value))
        return self.made(value, off * (1 + 1e-9) + units * self.unit, where=where)

    def times(self, other: Estimate) -> Estimate:
        """Return a product, rounded once."""
        error = np.abs(self.value) * other.error + np.abs(other.value) * self.error + self.error * other.error
        return self.made(self.value * other.value, error + self.unit / 2, other)

    def over(self, other: Estimate) -> Estimate:
        """Return a quotient, rounded once."""
        below = np.abs(other.value) - other.error
        value = self.value / other.value
        error = (self.error + np.abs(value) * other.error) / below + self.unit / 2
        return self.made(value, error, other, where=below > 0)

    def plus(self, other: Estimate, sign: int = 1) -> Estimate:
        """Return a sum, which may be rounded."""
        return self.made(self.value + sign * other.value, self.error + other.error + self.unit / 2, other)

    def scaled(self, constant: Fraction) -> Estimate:
        """Return the product with a constant, which may be the nearest word or have all bits of a word.

        It may round a sum of products twice, of which the first rounding is doubled at most.
        """
        number = float(constant)
        off = abs(number) * 2.0 ** -(self.fmt.width - 5)
        if self.fmt.holds(constant):
            off += abs(self.fmt.nearest(constant) / self.fmt.one - number)
        error = (np.abs(self.value) + self.error) * off + self.error * abs(number)
        return self.made(self.value * number, error + 1.5 * self.unit)

    def divided(self, divisor: Fraction) -> Estimate:
        """Return the quotient by a constant, which scales, or is a word if its inverse is too large for a product."""
        found, near = self.scaled(1 / divisor), self.fmt.nearest(divisor)
        if abs(1 / divisor) <= self.fmt.one or not near:
            return found
        # Decision 22, "What is left to a word".
        off = float(abs(Fraction(self.fmt.one, near) - 1 / divisor))
        return self.made(found.value, found.error + (np.abs(self.value) + self.error) * off)

    def least(self, other: Estimate, sign: int = 1) -> Estimate:
        """Return the smaller of two words, or with the sign -1 the larger."""
        value = sign * np.minimum(sign * self.value, sign * other.value)
        return self.made(value, np.maximum(self.error, other.error), other)

    def compared(self, other: Estimate, test: Callable[[Any, Any], Any]) -> Estimate:
        """Return 1 where a test holds, and 0 elsewhere. It is not sure where the errors decide."""
        error = self.error + other.error
        clear = (np.abs(self.value - other.value) > error) | (error == 0)
        return self.made(test(self.value, other.value) * 1.0, 0 * error, other, where=clear)

    def power(self, exponent: Fraction) -> Estimate:
        """Return a power by a constant: products of values or of their reciprocals, and perhaps of a root."""
        if (2 * exponent).denominator != 1:
            # In formats of few integer bits the logarithm saturates where the value is near 0.
            real = self.function(np.log, error_bound("log", self.fmt), where=self.value - self.error > 0).word()
            return real.scaled(exponent).word().function(np.exp, error_bound("exp", self.fmt))
        if not exponent:
            return self.made(np.ones_like(self.value), np.zeros_like(self.error))
        one = Estimate(np.ones_like(self.value), np.zeros_like(self.error), self.sure, self.fmt)
        whole, half = divmod(int(abs(2 * exponent)), 2)
        own = one.over(self) if exponent < 0 else self
        found: Estimate | None = own if whole else None
        # Decision 14: up to 16 factor by factor, and else digit by digit, each step a square.
        for digit in f"{whole:b}"[1:] if whole > 16 else "-" * (whole - 1):
            assert found is not None
            found = found.times(own if digit == "-" else found)
            found = found.times(own) if digit == "1" else found
        if half:
            root = self.function(np.sqrt, 0.5, where=self.value - self.error >= 0)
            root = one.over(root) if exponent < 0 else root
            found = root if found is None else found.times(root)
        assert found is not None
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """An operator: how each notation writes it, with ``{0}`` and ``{1}`` for its operands.

    `estimate` is what it makes of estimates. ONNX has the name of a node. What a notation does not have is "". With
    `constant` the second operand is a number.
    """

    estimate: Callable[..., Estimate]
    tabla: str = ""
    tc: str = ""
    tile: str = ""
    onnx: str = ""
    count: int = 1
    constant: bool = False

    def written(self, notation: str) -> str:
        """Return how a notation writes it."""
        return {"tabla": self.tabla, "tc": self.tc, "tile": self.tile, "onnx": self.onnx}[notation]


def _unit(name: str, real: Callable[[Any], Any], where: Callable[[Estimate], Any] = lambda _: True) -> Any:
    return lambda a: a.function(real, error_bound(name, a.fmt), where(a))


def _wave(name: str, real: Callable[[Any], Any]) -> Any:
    return lambda a: a.made(real(a.value), a.error + error_bound(name, a.fmt) * a.unit)


def _soft_plus(a: Estimate) -> Estimate:
    """exp is off by its bound, 1 + exp is from 1 to 2, and so log makes nothing of it larger."""
    return a.made(np.logaddexp(0, a.value), a.error + (error_bound("exp", a.fmt) + error_bound("log", a.fmt)) * a.unit)


def _hypotenuse(a: Estimate, b: Estimate) -> Estimate:
    squares = a.times(a).plus(b.times(b))
    return squares.word().function(lambda x: np.sqrt(np.maximum(x, 0)), 0.5)


def _angle(y: Estimate, x: Estimate) -> Estimate:
    """A point that is off by e at a radius r is off by an angle below asin(e / r). On the negative x axis the sign of y
    decides. Quotient and constant are off by half a unit each.
    """
    radius, off = np.hypot(y.value, x.value), np.hypot(y.error, x.error)
    exact = (y.error == 0) & (x.error == 0)
    turned = np.arcsin(np.where(off < radius, off / np.where(radius > 0, radius, 1), 0))
    sure = exact | ((off < radius) & ((x.value > x.error) | (np.abs(y.value) > y.error)))
    value = np.arctan2(y.value + 0.0, x.value)
    return y.made(value, turned + (1 + error_bound("atan", y.fmt)) * y.unit, x, where=sure)


def _reciprocal_root(a: Estimate) -> Estimate:
    return a.power(Fraction(-1, 2))


def _gaussian(a: Estimate) -> Estimate:
    # The slope of exp(-x * x) is below 0.86.
    return a.made(np.exp(-(a.value**2)), 0.86 * a.error + error_bound("gaussian", a.fmt) * a.unit)


def _remainder(a: Estimate, b: Estimate) -> Estimate:
    exact = (a.error == 0) & (b.error == 0)
    value = np.where(b.value == 0, a.value, np.fmod(a.value, np.where(b.value == 0, 1, b.value)))
    return a.made(value, 0 * a.error, b, where=exact)


def _choice(a: Estimate, b: Estimate) -> Estimate:
    """``a < b ? a * b : b - a``."""
    test = a.compared(b, np.less)
    one, other = a.times(b), b.plus(a, -1)
    value = np.where(test.value > 0, one.value, other.value)
    found = a.made(value, np.where(test.value > 0, one.error, other.error), test)
    return Estimate(found.value, found.error, found.sure & one.inside & other.inside, a.fmt)


MEANINGS: Mapping[str, Meaning] = {
    **{
        sign: Meaning(estimate=step, tabla=text, tc=text, tile=text, onnx=name, count=2)
        for sign, name, step in (
            ("+", "Add", Estimate.plus),
            ("-", "Sub", lambda a, b: a.plus(b, -1)),
            ("*", "Mul", Estimate.times),
            ("/", "Div", Estimate.over),
        )
        for text in [f"({{0}} {sign} {{1}})"]
    },
    "times": Meaning(
        estimate=Estimate.scaled,
        tabla="({0} * {1})",
        tc="({0} * {1})",
        tile="({0} * {1})",
        onnx="Mul",
        count=2,
        constant=True,
    ),
    "over": Meaning(
        estimate=Estimate.divided,
        tabla="({0} / {1})",
        tc="({0} / {1})",
        tile="({0} / {1})",
        onnx="Div",
        count=2,
        constant=True,
    ),
    "plus": Meaning(
        estimate=lambda a, c: a.made(a.value + float(c), a.error + a.unit),
        tabla="({0} + {1})",
        tc="({0} + {1})",
        tile="({0} + {1})",
        onnx="Add",
        count=2,
        constant=True,
    ),
    "power": Meaning(
        estimate=Estimate.power, tc="pow({0}, {1})", tile="tile.pow({0}, {1})", onnx="Pow", count=2, constant=True
    ),
    "negative": Meaning(
        estimate=lambda a: a.made(-a.value, a.error), tabla="(-{0})", tc="(-{0})", tile="(-{0})", onnx="Neg"
    ),
    "absolute": Meaning(
        estimate=lambda a: a.made(np.abs(a.value), a.error),
        tabla="abs({0})",
        tc="fabs({0})",
        tile="tile.abs({0})",
        onnx="Abs",
    ),
    "min": Meaning(
        estimate=Estimate.least,
        tabla="min({0}, {1})",
        tc="fmin({0}, {1})",
        tile="tile.min({0}, {1})",
        onnx="Min",
        count=2,
    ),
    "max": Meaning(
        estimate=lambda a, b: a.least(b, -1),
        tabla="max({0}, {1})",
        tc="max({0}, {1})",
        tile="tile.max({0}, {1})",
        onnx="Max",
        count=2,
    ),
    "exp": Meaning(estimate=_unit("exp", np.exp), tabla="exp({0})", tc="exp({0})", tile="tile.exp({0})", onnx="Exp"),
    "log": Meaning(
        estimate=_unit("log", np.log, lambda a: a.value - a.error > 0),
        tabla="log({0})",
        tc="log({0})",
        tile="tile.log({0})",
        onnx="Log",
    ),
    "sqrt": Meaning(
        estimate=_unit("sqrt", np.sqrt, lambda a: a.value - a.error >= 0),
        tabla="sqrt({0})",
        tc="sqrt({0})",
        tile="tile.sqrt({0})",
        onnx="Sqrt",
    ),
    "tanh": Meaning(
        estimate=_unit("tanh", np.tanh), tabla="tanh({0})", tc="tanh({0})", tile="tile.tanh({0})", onnx="Tanh"
    ),
    "softplus": Meaning(
        estimate=_soft_plus, tabla="softplus({0})", tc="softplus({0})", tile="tile.softplus({0})", onnx="Softplus"
    ),
    "sigmoid": Meaning(
        estimate=_unit("sigmoid", lambda x: 0.5 + 0.5 * np.tanh(x / 2)),
        tabla="sigmoid({0})",
        tile="tile.sigmoid({0})",
        onnx="Sigmoid",
    ),
    "sin": Meaning(estimate=_wave("sin", np.sin), tc="sin({0})", tile="tile.sin({0})"),
    "cos": Meaning(estimate=_wave("cos", np.cos), tc="cos({0})", tile="tile.cos({0})"),
    "erf": Meaning(
        estimate=_unit("erf", np.vectorize(math.erf, otypes=[float])), tc="erf({0})", tile="tile.erf({0})", onnx="Erf"
    ),
    "gaussian": Meaning(estimate=_gaussian, tabla="gaussian({0})"),
    "sig_sym": Meaning(estimate=_unit("tanh", np.tanh), tabla="sig_sym({0})"),
    "hypot": Meaning(estimate=_hypotenuse, tc="hypot({0}, {1})", count=2),
    "atan2": Meaning(
        estimate=_angle, tabla="atan2({0}, {1})", tc="atan2({0}, {1})", tile="tile.atan2({0}, {1})", count=2
    ),
    "rsqrt": Meaning(estimate=_reciprocal_root, tc="rsqrt({0})"),
    "reciprocal": Meaning(
        estimate=lambda a: a.power(Fraction(-1)), onnx="Reciprocal", tc="(1.0 / {0})", tile="(1 / {0})"
    ),
    "%": Meaning(estimate=_remainder, tc="({0} % {1})", count=2),
    "floor": Meaning(
        estimate=lambda a: a.made(np.floor(a.value), 0 * a.error, where=a.error == 0), tile="tile.floor({0})"
    ),
    "ceil": Meaning(
        estimate=lambda a: a.made(np.ceil(a.value), 0 * a.error, where=a.error == 0), tile="tile.ceil({0})"
    ),
    "round": Meaning(
        estimate=lambda a: a.made(np.round(a.value), 0 * a.error, where=a.error == 0), tile="tile.round({0})"
    ),
    **{
        sign: Meaning(
            estimate=lambda a, b, test=test: a.compared(b, test),
            tabla=f"({{0}} {sign} {{1}})",
            tc=f"double({{0}} {sign} {{1}})",
            tile=f'tile.cast({{0}} {sign} {{1}}, "float")',
            count=2,
        )
        for sign, test in (
            ("<", np.less),
            ("<=", np.less_equal),
            (">", np.greater),
            (">=", np.greater_equal),
            ("==", np.equal),
            ("!=", np.not_equal),
        )
    },
    "choice": Meaning(
        estimate=_choice,
        tc="(({0} < {1}) ? {0} * {1} : {1} - {0})",
        tile="tile.select({0} < {1}, {0} * {1}, {1} - {0})",
        count=2,
    ),
}


@dataclass(frozen=True, slots=True)
class Formula:
    """An operator with its operands: formulas, the names a and b, and numbers."""

    operator: str
    operands: tuple[Formula | str | Fraction, ...]

    def __str__(self) -> str:
        return f"{self.operator}({', '.join(map(str, self.operands))})"

    @property
    def meaning(self) -> Meaning:
        """What the operator means."""
        return MEANINGS[self.operator]

    def parts(self) -> Iterator[Formula]:
        """Yield this formula and all formulas in it."""
        yield self
        for operand in self.operands:
            if isinstance(operand, Formula):
                yield from operand.parts()

    @property
    def notations(self) -> tuple[str, ...]:
        """The notations that have all of its operators."""
        return tuple(each for each in NOTATIONS if all(part.meaning.written(each) for part in self.parts()))

    def text(self, notation: str, name: str) -> str:
        """Return the formula in a notation whose tensors have the subscript `name`."""
        written = []
        for operand in self.operands:
            match operand:
                case Formula():
                    written.append(operand.text(notation, name))
                case str():
                    written.append(f"{operand}{name}")
                case number:
                    digits = np.format_float_positional(float(number), trim="0")
                    written.append(f"({digits})" if number < 0 else digits)
        return self.meaning.written(notation).format(*written)

    def estimate(self, given: Mapping[str, Estimate]) -> Estimate:
        """Return its real values, and how far words may lie from them."""
        operands: list[Estimate | Fraction] = []
        for operand in self.operands:
            match operand:
                case Formula():
                    operands.append(operand.estimate(given).word())
                case str():
                    operands.append(given[operand])
                case number:
                    operands.append(number)
        return self.meaning.estimate(*operands)

    def graph(self, notation: str, fmt: Format, count: int) -> Graph:
        """Return the graph for so many pairs of words. What cannot run is a `TablaError`."""
        match notation:
            case "tabla":
                names = sorted(self.names())
                heads = " ".join(f"model_input {name}[{count}];" for name in names)
                text = f"{heads} iterator i[0:{count}]; y[i] = {self.text(notation, '[i]')};"
                graph = lower_tabla(parse_tabla(Source.from_text(text)), number_format=fmt, results=["y"])
            case "tc":
                text = (
                    f"def f(double(N) a, double(N) b) -> (y) {{ y(i) = {self.text(notation, '(i)')} where i in 0:N }}"
                )
                graph = lower_tc(parse_tc(Source.from_text(text)).function(), {"N": count}, number_format=fmt)
            case "tile":
                names = sorted(self.names())
                function = eval(f"lambda {', '.join(names)}: {self.text(notation, '')}", {"tile": tile})
                graph = lower_tile(trace(function, {name: (count,) for name in names}, {}), number_format=fmt)
            case _:
                made = inference(read_proto(self._model(count), "model", "model.onnx"), {})
                graph = lower_tile(made.program, number_format=fmt, keep=tuple(made.models))
        verify(graph)
        return graph

    def names(self) -> set[str]:
        """Return the tensors that it reads."""
        return {operand for part in self.parts() for operand in part.operands if isinstance(operand, str)}

    def _model(self, count: int) -> Any:
        nodes, arrays, results = list[Any](), list[Any](), dict[int, str]()
        for part in reversed(list(self.parts())):
            taken = []
            for operand in part.operands:
                match operand:
                    case Formula():
                        taken.append(results[id(operand)])
                    case str():
                        taken.append(operand)
                    case number:
                        taken.append(f"c{len(arrays)}")
                        arrays.append(numpy_helper.from_array(np.array(float(number)), taken[-1]))
            results[id(part)] = "y" if part is self else f"t{len(nodes)}"
            nodes.append(helper.make_node(part.meaning.onnx, taken, [results[id(part)]]))
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["N", count]) for name in sorted(self.names())
        ]
        output = helper.make_tensor_value_info("y", TensorProto.DOUBLE, ["N", count])
        graph = helper.make_graph(nodes, "g", inputs, [output], arrays)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def words_of(graph: Graph, fmt: Format, given: Mapping[str, Words]) -> Words:
    """Return the words of a graph's only result."""
    read = {name: given[name] for name, tensor in graph.tensors.items() if tensor.role == "input"}
    found = np.asarray(evaluate_fixed(graph, fmt, read).values[graph.results[0][1]])
    return np.broadcast_to(found, next(iter(given.values())).shape)


def exactly(words: Words, fmt: Format) -> Estimate:
    """Return words as reals without an error."""
    return Estimate(words / fmt.one, np.zeros(len(words)), np.ones(len(words), dtype=bool), fmt)


def wrong(formula: Formula, fmt: Format, given: Mapping[str, Words]) -> str:
    """Return what is wrong with the words of a formula, or "" if nothing is.

    All notations have the same words, and these lie within the estimate of the real values, clamped into the format. A
    formula that one notation refuses is refused by the others, too, and the result is "refused".
    """
    found: dict[str, Words] = {}
    refusals: dict[str, str] = {}
    for notation in formula.notations:
        try:
            found[notation] = words_of(formula.graph(notation, fmt, len(given["a"])), fmt, given)
        except TablaError as fault:
            refusals[notation] = fault.message
    if refusals:
        return "refused" if not found else f"{', '.join(found)} run, and {refusals} do not"
    first = next(iter(found))
    for notation, words in found.items():
        for at in np.flatnonzero(words != found[first])[:1]:
            where = ", ".join(f"{name} = {array[at]}" for name, array in given.items())
            return f"{first} has {found[first][at]}, and {notation} {words[at]}, for {where}"
    with np.errstate(all="ignore"):
        estimate = formula.estimate({name: exactly(array, fmt) for name, array in given.items()})
    real = np.clip(estimate.value, fmt.lowest / fmt.one, fmt.highest / fmt.one)
    off = np.abs(found[first] / fmt.one - real)
    for at in np.flatnonzero(estimate.sure & ~(off <= estimate.error * (1 + 1e-9)))[:1]:
        where = ", ".join(f"{name} = {array[at]}" for name, array in given.items())
        return f"{found[first][at] / fmt.one} for {real[at]}, allowed {estimate.error[at]}, for the words {where}"
    return ""
