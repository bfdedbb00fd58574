"""A graph as text: what ``--emit graph`` prints and golden tests compare. `tabla.languages.graph_text` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Gather,
    Gathered,
    Graph,
    Index,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Scatter,
    Statement,
    Term,
    is_stored,
)
from tabla.graph.rate import RATE

MOST_INLINE = 64
"""The most words of a constant that a file of a graph holds itself. An ``.npz`` file beside it holds more of them."""


def graph_text(graph: Graph, beside: str = "") -> str:
    """Return the tensors, statements, updates and results, one per line and in the graph's order. The text ends with a
    line end.

    The words of constants are in the text. With `beside`, the name of an ``.npz`` file, those of the constants that
    `words_beside` returns are in that file.
    """
    return "".join(f"{line}\n" for line in _lines(graph, beside))


def graph_file_text(graph: Graph, fmt: Format, integers: Iterable[str] = (), beside: str = "") -> str:
    """Return the text of a graph as a file has it: below its format, and the tensors whose words are integers."""
    named = sorted(graph.tensors.keys() & set(integers))
    head = [f"format {fmt}", *([f"integers {', '.join(named)}"] if named else [])]
    return "\n".join([*head, graph_text(graph, beside)])


def words_beside(graph: Graph) -> dict[str, NDArray[np.int64]]:
    """Return the words of the constants with more than `MOST_INLINE` elements."""
    return {name: words for name, words in graph.words.items() if words.size > MOST_INLINE}


def _lines(graph: Graph, beside: str) -> Iterator[str]:
    yield f"graph {graph.name}" + (f", {graph.samples} samples a step" if graph.samples > 1 else "")
    if graph.flat_gathers:
        yield "  flat gathers"
    for tensor in graph.tensors.values():
        shape = "".join(f"[{extent}]" for extent in tensor.shape)
        filled = " filled with 0" * tensor.filled
        guard = f" with {tensor.guard} guard bits" if tensor.guard else ""
        split = f" split at axis {tensor.split}" if tensor.split >= 0 else ""
        words = _words(graph.words[tensor.name], beside) if tensor.name in graph.words else ""
        yield f"  {tensor.role} {tensor.name}{shape}{filled}{guard}{split}{words}"
    if graph.statements:
        yield ""
    for statement in graph.statements:
        yield f"  {statement_text(statement)}"
    if graph.updates or graph.results:
        yield ""
    for model, following in graph.updates.items():
        yield f"  update {model} <- {following}"
    if graph.rate is not None:
        sign = "-" * (graph.rate.sign < 0)
        yield f"  rate {sign}{RATE} * 2^{-graph.rate.shift}, {_rational(graph.rate.built)} unless another one is loaded"
    for shown, tensor_name in graph.results:
        yield f"  result {shown}" + ("" if shown == tensor_name else f" = {tensor_name}")
    for note in graph.notes:
        yield f"  note: {note}"


def _words(words: NDArray[np.int64], beside: str) -> str:
    """Return the words of a constant in row-major order, or the file that has them."""
    if beside and words.size > MOST_INLINE:
        return f" words in {beside}"
    return f" words {' '.join(map(str, words.flat))}"


def statement_text(statement: Statement) -> str:
    """``h[j] = sum[i](w[j][i]*x[i]) + b[j]   for j in [0, 4), i in [0, 3) where i-j >= 0``."""
    place = "".join(f"[{subscript}]" for subscript in statement.write)
    box = (*statement.indices, *statement.reduced)
    ranges = f"   for {', '.join(map(_range, box))}" if box else ""
    where = " where " * bool(statement.constraints) + ", ".join(f"{c} >= 0" for c in statement.constraints)
    across = "   across groups" * statement.crosses
    return f"{statement.target}{place} = {_operation(statement)}{ranges}{where}{across}"


def _range(index: Index) -> str:
    return f"{index.name} in [{index.low}, {index.high})"


def _operation(statement: Statement) -> str:
    operation = statement.operation
    match operation:
        case Linear(terms=terms, shift=shift, test=test, guard=guard):
            total = _sum(terms, shift, guard)
            return total if test is None else f"({total}) {test} 0"
        case Compare(op=op, left=left, right=right):
            return f"{operand_text(left)} {op} {operand_text(right)}"
        case Function(name=name, operand=operand):
            return f"{name}({operand_text(operand)})"
        case Divide(left=left, right=right, fraction=fraction):
            quotient = f"{operand_text(left)} / {operand_text(right)}"
            return quotient if fraction is None else f"trunc({quotient})*2^-{fraction}"
        case Product(operand=operand, reduce=reduce, initial=initial, shift=shift):
            scale = f"*2^{-shift}" if shift else ""
            product = f"pi{_names(reduce)}({operand_text(operand)}{scale})"
            return product if initial is None else f"{operand_text(initial)} * {product}"
        case Extreme(op=op, operands=operands, reduce=reduce, initial=initial):
            extreme = f"{op}{_names(reduce) if reduce else ''}({', '.join(map(operand_text, operands))})"
            return extreme if initial is None else f"{op}({operand_text(initial)}, {extreme})"
        case Gather(tensor=tensor, subscripts=subscripts):
            return _gathered(tensor, subscripts)
        case Scatter(kept=kept, landings=landings, reduce=reduce):
            parts = (
                part
                for each in landings
                for part in (_gathered(kept.tensor, each.subscripts), operand_text(each.value))
            )
            return f"scatter{_names(reduce) if reduce else ''}({', '.join((operand_text(kept), *parts))})"
        case _:
            assert_never(operation)


def _gathered(tensor: str, subscripts: Sequence[Affine | Gathered]) -> str:
    return tensor + "".join(f"[{_subscript(subscript)}]" for subscript in subscripts)


def _subscript(subscript: Affine | Gathered) -> str:
    if isinstance(subscript, Affine):
        return str(subscript)
    offset = str(subscript.offset)
    more = "" if offset == "0" else offset if offset.startswith("-") else f"+{offset}"
    return f"{operand_text(subscript.table)}{more}"


def _sum(terms: Sequence[Term], shift: int, guard: int) -> str:
    """Terms with their signs; a shift shows at every product, because it scales nothing else. ``stored(w[i])`` is the
    word of a wide model with its guard bits.
    """
    parts = []
    for position, term in enumerate(terms):
        product = "*".join(map(operand_text, term.factors))
        if guard and is_stored(term):
            product = f"stored({product})"
        if shift and len(term.factors) == 2:
            product += f"*2^{-shift}"
        body = f"sum{_names(term.reduce)}({product})" if term.reduce else product
        sign = "-" if term.sign < 0 else "+"
        parts.append(f" {sign} {body}" if position else f"-{body}" if term.sign < 0 else body)
    return "".join(parts)


def _names(reduce: Sequence[str]) -> str:
    return f"[{', '.join(reduce)}]"


def operand_text(operand: Operand) -> str:
    """``w[j][i+1]``, ``0.1``, ``(-0.5)``, ``(3/7)``, ``<2*i+1>`` for the value of indices, ``<(i)/2^10>``."""
    match operand:
        case Read(tensor=tensor, subscripts=subscripts):
            return tensor + "".join(f"[{subscript}]" for subscript in subscripts)
        case Constant(value=value):
            text = _rational(value)
            return text if text.replace(".", "").isdigit() else f"({text})"
        case Ordinal(value=value, fraction=fraction):
            return f"<({value})/2^{fraction}>" if fraction else f"<{value}>"
        case _:
            assert_never(operand)


def _rational(value: Fraction) -> str:
    """Decimal if that is exact and short, else a fraction, so that the text says exactly what the graph holds."""
    places = next((places for places in range(13) if value * 10**places % 1 == 0), None)
    if places is None:
        return str(value)
    digits = f"{abs(value.numerator) * 10**places // value.denominator:0{places + 1}d}"
    whole, fraction = digits[: len(digits) - places], digits[len(digits) - places :]
    return f"{'-' * (value < 0)}{whole}{'.' * bool(fraction)}{fraction}"
