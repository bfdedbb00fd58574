"""The page of operators of both notations: whether the machine has each one, how exact it is, and how fast.

``python -m manual.operators`` writes ``docs/operators.md``. Each figure is measured when the page is made: the cycles
by schedules, and the errors by evaluating a function at every word of the format.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tabla import tile
from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.kernel.evaluate import evaluate as evaluate_kernel
from tabla.languages.tc import parse
from tabla.languages.tc.builtins import ARITY, OWN
from tabla.languages.tc.evaluate import evaluate as evaluate_tc
from tabla.languages.tc.lower import lower as lower_tc
from tabla.languages.tile import trace
from tabla.languages.tile.kernel import translated
from tabla.languages.tile.lower import lower as lower_tile
from tabla.languages.tile.program import Elementwise
from tabla.schedule.compile import schedule_graph

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operators.md"
WORDS = (16, 28)
"""Each kernel is scheduled for both numbers of words. Cycles a word: the difference in cycles over that in words."""
NUMBER = Format.parse("q6.10")
# Eight words a beat, so that no operator waits for its operands.
TEMPLATE = Options(pes=1, stream_words=8).chosen_template()
_INPUTS = "double(N) a, double(N) b, int32(N) m, int32(N) n, bool(N) p, bool(N) q"
_KINDS = {"a": "f8", "b": "f8", "m": "i4", "n": "i4", "p": "?", "q": "?"}
Arrays = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True, slots=True)
class Row:
    """One operator. `make` gives the graph for a number of elements, and `real` its value in float64.

    `error` is what the page says of the error, or None where it is measured at every word of the only operand. The
    words of the tensors in `integers` are integers. `uses` has the names of the Tile operators in the row.
    """

    written: str
    make: Callable[[int], Graph]
    real: Callable[[Arrays], np.ndarray[Any, Any]]
    error: str | None
    integers: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()

    @property
    def on_machine(self) -> bool:
        """Whether it can be lowered."""
        try:
            self.make(WORDS[0])
        except TablaError:
            return False
        return True

    @property
    def cycles(self) -> float:
        """The cycles that each further word takes, on one processing element."""
        few, many = (self.scheduled(count) for count in WORDS)
        return (many - few) / (WORDS[1] - WORDS[0])

    def scheduled(self, count: int) -> int:
        """Return the cycles of the kernel for `count` elements."""
        return schedule_graph(self.make(count), TEMPLATE, NUMBER).cycles

    @property
    def largest_error(self) -> float:
        """The largest error over all words of the operand."""
        words = np.arange(NUMBER.lowest, NUMBER.highest + 1)
        return self.error_of({name: words for name in self.operands})

    @property
    def operands(self) -> list[str]:
        """The names of the tensors that are read."""
        return [tensor.name for tensor in self.make(WORDS[0]).tensors.values() if tensor.role == "input"]

    def error_of(self, words: Arrays) -> float:
        """Return the largest distance from the real value clamped into the format, in units in the last place.

        Words whose real value is not finite are left out, such as the root of a negative number.
        """
        arrays = {name: array if name in self.integers else array / NUMBER.one for name, array in words.items()}
        with np.errstate(all="ignore"):
            real = np.asarray(self.real(arrays), np.float64) * (1 if "y" in self.integers else NUMBER.one)
        graph = self.make(len(next(iter(words.values()))))
        found = evaluate_fixed(graph, NUMBER, words).values[graph.results[0][1]]
        defined = np.isfinite(real)
        clamped = np.clip(real[defined], NUMBER.lowest, NUMBER.highest)
        return float(np.abs(found[defined] - clamped).max())

    @property
    def line(self) -> str:
        """The row of the table."""
        if not self.on_machine:
            return f"| `{self.written}` | yes | no | | |"
        error = f"{np.ceil(self.largest_error * 100) / 100:.2f}" if self.error is None else self.error
        return f"| `{self.written}` | yes | yes | {error} | {self.cycles:.2f} |"


def comprehension(written: str, value: str = "", error: str | None = "0", statement: str = "") -> Row:
    """Return the row of an operator of Tensor Comprehensions in the statement ``y(i) = value``."""
    body = statement or f"y(i) = {value or written}"
    function = parse(Source.from_text(f"def f({_INPUTS}) -> (y) {{ {body} }}")).function()

    def make(count: int) -> Graph:
        return run_passes(lower_tc(function, {"N": count}, number_format=NUMBER), NUMBER)

    def real(arrays: Arrays) -> np.ndarray[Any, Any]:
        count = len(next(iter(arrays.values())))
        given = {name: arrays.get(name, np.zeros(count)) for name in function.inputs}
        return evaluate_tc(function, {name: array.astype(_KINDS[name]) for name, array in given.items()})["y"]

    integers = frozenset(name for name, tensor in function.tensors.items() if tensor.scalar.integral)
    return Row(written.replace("|", "\\|"), make, real, error, integers)


def elementwise(written: str, function: Callable[..., Any], error: str | None = "0") -> Row:
    """Return the row of an operator of Tile, in a function of one or two tensors."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]

    def make(count: int) -> Graph:
        program = trace(function, {name: (count,) for name in names}, {})
        return run_passes(lower_tile(program, number_format=NUMBER), NUMBER)

    def real(arrays: Arrays) -> np.ndarray[Any, Any]:
        program = trace(function, {name: array.shape for name, array in arrays.items()}, {})
        found = translated(program, name="f")
        values = evaluate_kernel(found.kernel, {tensor: arrays[name] for name, tensor in found.parameters.items()})
        return next(values[tensor] for tensor in found.results.values())

    example = trace(function, {name: (WORDS[0],) for name in names}, {})
    uses = frozenset(node.operator for node in example.nodes() if isinstance(node, Elementwise))
    return Row(written.replace("|", "\\|"), make, real, error, uses=uses)


_STEPS = "each step rounded"
_CONCERNING = {
    "pow": _STEPS,
    "hypot": _STEPS,
    "atan2": "at most 2",
    "fdivide": "0.5",
    "tan": "large near its poles",
}


@cache
def tensor_comprehensions() -> tuple[Row, ...]:
    """Return the rows of Tensor Comprehensions."""
    return tuple(_tensor_comprehensions())


def _tensor_comprehensions() -> Iterator[Row]:
    for sign, error in (("+", "0"), ("-", "0"), ("*", "0.5"), ("/", "0.5"), ("%", "0")):
        yield comprehension(f"a {sign} b", f"a(i) {sign} b(i)", error)
    yield comprehension("-a", "-a(i)")
    for sign in ("+", "-", "*", "/", "%"):
        yield comprehension(f"m {sign} n (integers)", f"m(i) {sign} n(i)")
    for sign in ("<", "<=", ">", ">=", "==", "!="):
        yield comprehension(f"a {sign} b", f"a(i) {sign} b(i)")
    for sign in ("&&", "||"):
        yield comprehension(f"p {sign} q", f"p(i) {sign} q(i)")
    yield comprehension("!p", "!p(i)")
    yield comprehension("p ? a : b", "p(i) ? a(i) : b(i)")
    yield comprehension("int32(a)", "int32(a(i))")
    yield comprehension("double(m)", "double(m(i))")
    for name in ("min", "max"):
        yield comprehension(f"{name}(a, b)", f"{name}(a(i), b(i))")
    yield comprehension("b(m), a position that is data", "b(m(i))")
    yield comprehension("pow(a, 3)", "pow(a(i), 3)", _STEPS)
    for operator, error in (("+=!", "0"), ("*=!", _STEPS), ("min=!", "0"), ("max=!", "0")):
        yield comprehension(f"y {operator} a", statement=f"y {operator} a(i)", error=error)
    yield comprehension("y +=! a * b", statement="y +=! a(i) * b(i)", error="0.5")
    for name, arity in sorted((ARITY | OWN).items()):
        arguments = ", ".join(("a", "b", "a", "b")[:arity])
        value = f"{name}({', '.join(f'{argument}(i)' for argument in arguments.split(', '))})"
        exact = "0" if name in ("fmin", "fmax", "fabs") else _CONCERNING.get(name, None if arity == 1 else "")
        yield comprehension(f"{name}({arguments})", value, exact)


@cache
def tile_operators() -> tuple[Row, ...]:
    """Return the rows of Tile."""
    return tuple(_tile_operators())


def _tile_operators() -> Iterator[Row]:
    yield elementwise("A + B", lambda A, B: A + B)
    yield elementwise("A - B", lambda A, B: A - B)
    yield elementwise("A * B", lambda A, B: A * B, "0.5")
    yield elementwise("A / B", lambda A, B: A / B, "0.5")
    yield elementwise("A ** 3", lambda A: A**3, _STEPS)
    yield elementwise("pow(A, B)", lambda A, B: tile.pow(A, B), _STEPS)
    yield elementwise("atan2(A, B)", lambda A, B: tile.atan2(A, B), _CONCERNING["atan2"])
    yield elementwise("-A", lambda A: -A)
    yield elementwise("A == B", lambda A, B: A == B)
    yield elementwise("A != B", lambda A, B: A != B)
    yield elementwise("A < B", lambda A, B: A < B)
    yield elementwise("A <= B", lambda A, B: A <= B)
    yield elementwise("A > B", lambda A, B: A > B)
    yield elementwise("A >= B", lambda A, B: A >= B)
    yield elementwise("abs(A)", lambda A: tile.abs(A))
    yield elementwise("max(A, B)", lambda A, B: tile.max(A, B))
    yield elementwise("min(A, B)", lambda A, B: tile.min(A, B))
    yield elementwise("select(A < 0, A, B)", lambda A, B: tile.select(A < 0, A, B))
    yield elementwise('cast(A, "int8")', lambda A: tile.cast(A, "int8"))
    for name in ("round", "floor", "ceil"):
        yield elementwise(f"{name}(A)", _calling(name))
    yield elementwise("J % K", lambda A, B: _whole(A) % _whole(B))
    yield elementwise("J & K", lambda A, B: _whole(A) & _whole(B))
    yield elementwise("J & 6", lambda A: _whole(A) & 6)
    yield elementwise("J | K", lambda A, B: _whole(A) | _whole(B))
    yield elementwise("J ^ K", lambda A, B: _whole(A) ^ _whole(B))
    yield elementwise("~J", lambda A: ~_whole(A))
    yield elementwise("J << 2", lambda A: _whole(A) << 2)
    yield elementwise("J >> 2", lambda A: _whole(A) >> 2)
    yield elementwise("J << K", lambda A, B: _whole(A) << _whole(B))
    yield elementwise("J >> K", lambda A, B: _whole(A) >> _whole(B))
    yield elementwise("O[()] += A[i]", _aggregated(lambda to, A, i: to.contract("sum", (), A[i])))
    yield elementwise("O[()] *= A[i]", _aggregated(lambda to, A, i: to.contract("product", (), A[i])), _STEPS)
    yield elementwise("O[()] >= A[i]", _aggregated(lambda to, A, i: to.contract("max", (), A[i])))
    yield elementwise("O[()] <= A[i]", _aggregated(lambda to, A, i: to.contract("min", (), A[i])))
    yield elementwise("O[()] += A[i] * B[i]", _of_pairs(lambda A, B: A * B), "0.5")
    yield elementwise("O[()] += A[i] + B[i]", _of_pairs(lambda A, B: A + B))
    yield elementwise("O[()] += cond(A[i], B[i], A[i])", _of_pairs(lambda A, B: tile.cond(A, B, A)))
    yield elementwise("O[i] = A[N - 1 - i]", _reversed)
    yield elementwise("reshape(A, [N // 2, 2])", lambda A: tile.reshape(A, [A.shape[0] // 2, 2]))
    yield elementwise("ident(A)", lambda A: tile.ident(A))
    yield elementwise("A * index(A, 0)", lambda A: A * tile.index([A.shape[0]], 0), "0.5")
    yield elementwise("A * shape(A)", lambda A: A * tile.shape(A), "0.5")
    yield elementwise("gather(T, J), 8 rows", lambda B: tile.gather(tile.ident(np.arange(8) / 4), B))
    yield elementwise("scatter(A, J, 8)", lambda A, B: tile.scatter(A, B, 8))
    yield elementwise("argsort(A), rows of four", lambda A: tile.argsort(_rows(A)))
    yield elementwise("topk(A, 2), rows of four", lambda A: tile.topk(_rows(A), 2))
    yield elementwise("A + prng(7, [N])", lambda A: A + tile.prng(7, [A.shape[0]]), "0.5")
    names = "sqrt exp log sin cos tan asin acos atan sinh cosh tanh sigmoid softplus erf erfc"
    for name in names.split():
        yield elementwise(f"{name}(A)", _calling(name), _CONCERNING.get(name))


def _aggregated(statement: Callable[..., None]) -> Callable[..., Any]:
    def made(A: tile.Tensor) -> tile.Tensor:
        to = tile.TensorOutput()
        statement(to, A, tile.TensorIndex())
        return to

    return made


def _of_pairs(combined: Callable[..., Any]) -> Callable[..., Any]:
    def made(A: tile.Tensor, B: tile.Tensor) -> tile.Tensor:
        i, to = tile.TensorIndex(), tile.TensorOutput()
        to[()] += combined(A[i], B[i])
        return to

    return made


def _rows(A: tile.Tensor) -> tile.Tensor:
    return tile.reshape(A, [A.shape[0] // 4, 4])


def _reversed(A: tile.Tensor) -> tile.Tensor:
    i, to = tile.TensorIndex(), tile.TensorOutput(A.shape[0])
    to[A.shape[0] - 1 - i] = A[i]
    return to


def _whole(A: tile.Tensor) -> tile.Tensor:
    return tile.cast(A, "integer")


def _calling(name: str) -> Callable[..., Any]:
    return lambda A: getattr(tile, name)(A)


HEAD = f"""# Operators and functions

This page is made by `python -m manual.operators`, and a test holds it against the code.

- *Evaluation*: `tabla eval --float` computes it.
- *Machine*: `tabla gen` makes an accelerator of it.
- *Error*: the largest distance from the real value in {NUMBER}, in units in the last place. The real value is clamped
  into the format. For a function of one operand all 65,536 words were tried, except those whose real value is not
  finite. An operation with error 0 is exact. *Each step rounded* stands where a function is made of other operations,
  each of which rounds its result; no bound is stated for these. `rsqrt` is made so, too: its error is large for words
  near 0, where it is steep. [The decision on functions](decisions/0004-functions.md) tells how functions are computed
  in other formats.
- *Cycles a word*: what one word more costs in a kernel that does nothing else, on an array of one processing element
  (PE) to which eight words come in each cycle. The PE stores one of them a cycle, so an operator of two operands takes
  two cycles. An array of more PEs has a memory and a multiplier in each, and can take fewer cycles.
"""


_TENSORS = "`A` and `B` are reals. `J` and `K` are casts of such words to integers; the cycles contain the casts."
_LETTERS = "`a` and `b` are reals, `m` and `n` integers, `p` and `q` booleans."


def page() -> str:
    """Return the whole page."""
    tables = (
        ("Tensor Comprehensions", _LETTERS, tensor_comprehensions()),
        ("Tile", _TENSORS, tile_operators()),
    )
    text = HEAD
    for name, note, rows in tables:
        text += f"\n## {name}\n\n{note}\n\n| operator | evaluation | machine | error | cycles a word |\n"
        text += "|---|---|---|---|---|\n"
        text += "".join(f"{row.line}\n" for row in rows)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    builtins.print(f"written: {PAGE}")
