"""What a function does wrong is said at its place: the message, the characters under the caret, a cure."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.languages.tile import load, trace
from tests.languages.marked import marked_by

HEAD = """from tabla.tile import *


def f(I, J):
    N, M = TensorDims(2)
    i, j, k = TensorIndexes(3)
    I.bind_dims(N, M)
"""

# Python 3.13 says which operand a condition asks, and earlier ones name the whole expression.
CONDITION = "J" if sys.version_info >= (3, 13) else "I if not J else J"

# Lines of the function (I is 3 x 4, J has 5 elements; O = TensorOutput(N) is there), the message, what the caret marks.
FAULTS = {
    "rank": ("Z = TensorOutput() | Z[i] += I[i, j]", "'Z' has 0 dimensions and 1 subscripts", "Z[i]"),
    "source_rank": ("O[i] += I[i]", "'I' has 2 dimensions and 1 sub", "I[i]"),
    "bind_count": ("J.bind_dims(N, M)", "'J' has 1 dimensions, 2 are bound", "J.bind_dims(N, M)"),
    "bind_again": ("J.bind_dims(N)", "is 5, but 'N' is 3 already", "J.bind_dims(N)"),
    "unbound": ("X = TensorDim() | TensorOutput(X + 1)", "'X' is used before it has a size", "TensorOutput(X + 1)"),
    "twice": ("O[i] = I[i, j] | return O + 1", "element [0] of 'O' is assigned more", "O[i]"),
    "two_statements": ("O[i] += I[i, j] | O[i] += I[i, k]", "'O' is written twice", "O[i]"),
    "no_statement": ("return O + 1", "'O' is used before it is written", "O + 1"),
    "three": ("O[i] += I[i, j] * I[i, k] * J[j]", "at most two tensors", "I[i, j] * I[i, k] * J[j]"),
    "minus": ("O[i] += -I[i, j]", "only '*' or '+' of two", "-I[i, j]"),
    "input_written": ("I[i, j] += J[j]", "'I' is not an output", "I[i, j]"),
    "whole_tensor": ("O[i] += I[i, j] * J", "a whole tensor", "I[i, j] * J"),
    "element_elementwise": ("return I + J[k]", "an element of a tensor and a whole", "I + J[k]"),
    "unbounded": ("O[i] += I[i, j - k]", "nothing bounds the index variable", "O[i]"),
    "not_linear": ("O[i * j] += I[i, j]", "is not linear", "i * j"),
    "fraction": ("O[i] += I[i / 2, j]", "'/' of an index variable", "i / 2"),
    "constraint_first": ("O.add_constraint(j < 2)", "no statement to constrain", "O.add_constraint(j < 2)"),
    "constraint_late": (
        "O[i] += I[i, j] | P = -O | O.add_constraint(j < 2)", "'O' was used already", "O.add_constraint(j < 2)"
    ),
    "constraint_form": ("O[i] += I[i, j] | O.add_constraint(j <= i)", "is not a constraint", "j <= i"),
    "constraint_of_indices": ("O[i] += I[i, j] | O.add_constraint(j < i)", "depends on an index", "j < i"),
    "broadcast": ("return I + J", "shapes (3, 4) and (5,) do not broadcast", "I + J"),
    "truth": ("return I if I > 0 else J", "not known while the function is read", "I > 0"),
    "negation": ("return not I", "not known while the function is read", "not I"),
    "negation_in_condition": ("return I if not J else J", "not known while the function", CONDITION),
    "tensor_of_number": ("return I + Tensor(3.0)", "Tensor is called with a value of type float", "Tensor(3.0)"),
    "tensor_of_array": ("import numpy | Tensor(numpy.ones(3))", "a value of type ndarray", "Tensor(numpy.ones(3))"),
    "array_element": ("import numpy | O[i] += numpy.ones(3)[i]", "IndexError: only integers", "numpy.ones(3)[i]"),
    "size_of_number": ("TensorDim(3.5)", "3.5 is not a size", "TensorDim(3.5)"),
    "names": ("TensorIndexes(2, 'i')", "TensorIndexes takes a number or names", "TensorIndexes(2, 'i')"),
    "range_over": ("return [x for x in J][0]", "not run through element by element", "[x for x in J]"),
    "loop_over": ("for x in J: | \tO = x", "not run through element by element", "J"),
    "inner_range": ("return [x + y for x in [I] for y in J][0]", "not run", "[x + y for x in [I] for y in J]"),
    "range_in_range": ("return [x for x in [y for y in J]][0]", "not run", "[y for y in J]"),
    "generated": ("return sum(x for x in J)", "not run through element by element", "(x for x in J)"),
    "range_of_fault": ("return [x for x in I @ J][0]", "'@' is not an operator of tensors", "I @ J"),
    "gather_scalar": ("return gather(TensorOutput(), I)", "used before it is written", "gather(TensorOutput(), I)"),
    "index_axis": ("return index(I, 2)", "axis 2 of a shape of 2 dimensions", "index(I, 2)"),
    "index_axis_real": ("return index(I, 0.0)", "the axis 0.0 is no integer", "index(I, 0.0)"),
    "index_axis_tensor": ("return index(I, J)", "is no integer", "index(I, J)"),
    "power_of_function": ("return pow(print, 3)", "TypeError: unsupported operand type", "pow(print, 3)"),
    "power_of_zero": ("return I * pow(0, -1)", "ZeroDivisionError: ", "pow(0, -1)"),
    "absolute_of_text": ("return I * abs('x')", "TypeError: bad operand type for abs()", "abs('x')"),
    "largest_of_tensors": ("return max([I, J])", "shapes (5,) and (3, 4) do not broadcast", "max([I, J])"),
    "largest_by_a_key": ("return I * max([1, 2], key=lambda v: I @ v)", "'@' is not an operator of tensors", "I @ v"),
    "order_axis": ("return argsort(I, 'x')", "the axis 'x' is no integer", "argsort(I, 'x')"),
    "index_of_size": ("return index(5, 0)", "TypeError: 'int' object is not iterable", "index(5, 0)"),
    "reshape_to_size": ("return reshape(I, 12)", "TypeError: 'int' object is not iterable", "reshape(I, 12)"),
    "shape_of_number": ("return shape(3)", "AttributeError: 'int' object has no", "shape(3)"),
    "gradient_of_number": ("return gradient(3, [I])[0]", "AttributeError: 'int' object has no", "gradient(3, [I])"),
    "ragged": ("return ident([[1], [2, 3]])", "ValueError: setting an array element", "ident([[1], [2, 3]])"),
    "largest_of_nothing": ("return I * max([])", "ValueError: max() ", "max([])"),
    "smallest_of_kinds": ("return I * min(1, 'x')", "TypeError: '<' not supported", "min(1, 'x')"),
    "rounded_text": ("return I * round('x')", "TypeError: type str doesn't define __round__", "round('x')"),
    "reshape": ("return reshape(I, [5, 2])", "12 elements of shape (3, 4) do not fill (5, 2)", "reshape(I, [5, 2])"),
    "python": ("return I + undefined", "NameError: name 'undefined' is not defined", "undefined"),
    "exit": ("import sys | sys.exit(3)", "SystemExit: 3", "sys.exit(3)"),
    "unpacking": ("a, b = TensorDims(3)", "ValueError: too many values to unpack", "a, b"),
    "returns_number": ("return 3", "'f' returns a int", "def f(I, J):"),
    "returns_nothing": ("O = -I | return", "'f' returns nothing", "def f(I, J):"),
    "loss_shape": ("return gradient(I, [J])[0]", "the loss has shape (3, 4)", "gradient(I, [J])"),
    "slices": ("O[i] += I[i, 1:2]", "a slice is not a subscript", "I[i, 1:2]"),
    "matrix_product": ("return I @ J", "'@' is not an operator of tensors", "I @ J"),
    "self": ("O[i] += O[i] * J[i]", "on both sides", "O[i]"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_fault_points_at_the_users_line(tmp_path: Path, name: str) -> None:
    body, message, marked = FAULTS[name]
    path = tmp_path / "layer.py"
    lines = ["O = TensorOutput(N)", *body.split(" | "), "return O"]
    path.write_text(HEAD + "".join(f"    {line}\n" for line in lines), encoding="utf-8")
    with pytest.raises(TablaError) as caught:
        trace(load(path, "f"), {"I": (3, 4), "J": (5,)})
    fault = caught.value
    assert message in fault.message
    assert fault.labels[0].span.source.name == str(path)
    assert marked_by(fault) == marked
    assert fault.hint or name in ("python", "unpacking", "exit", "bind_again")


def test_what_is_raised_inside_of_this_package_is_no_fault_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads a `TypeError` of ours must see where it comes from."""
    path = tmp_path / "layer.py"
    path.write_text(f"{HEAD}    return reshape(I, [12])\n")
    # `size_of` asks whether a size is an instance of it.
    monkeypatch.setattr("tabla.languages.tile.dimensions.Integral", 3)
    with pytest.raises(TypeError, match="isinstance"):
        trace(load(path, "f"), {"I": (3, 4), "J": (5,)})


@pytest.mark.parametrize("text", ["not I", "I if not I else J", "I and J"])
def test_not_is_a_comparison(tmp_path: Path, text: str) -> None:
    path = tmp_path / "layer.py"
    path.write_text(f"{HEAD}    return {text}\n")
    with pytest.raises(TablaError) as caught:
        trace(load(path, "f"), {"I": (3, 4), "J": (5,)})
    assert caught.value.hint == "use select(condition, a, b) instead of a choice, and write A == 0 instead of not A"


def test_columns_are_characters() -> None:
    """Python counts bytes."""
    space: dict[str, object] = {}
    path = Path(__file__)
    text = 'from tabla.tile import *\ndef f(I):\n    return ("é" and I) @ I\n'
    import linecache

    linecache.cache["<cell>"] = (len(text), None, text.splitlines(keepends=True), "<cell>")
    exec(compile(text, "<cell>", "exec"), space)
    with pytest.raises(TablaError) as caught:
        trace(space["f"], {"I": (2,)})  # type: ignore[arg-type]
    span = caught.value.labels[0].span
    assert span.source.text[span.start : span.end] == '("é" and I) @ I', path


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("def f(I:\n", "SyntaxError", 1),
        ("import nothing_of_that_name\n", "ModuleNotFoundError: No module named", 1),
        ("x = 1\ny = x / 0\n", "ZeroDivisionError", 2),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3", 2),
        ("class f:\n    pass\n", "has no function 'f'", None),
    ],
)
def test_a_file_that_does_not_run(tmp_path: Path, text: str, message: str, line: int | None) -> None:
    path = tmp_path / "layer.py"
    path.write_text(text)
    with pytest.raises(TablaError, match=message) as caught:
        load(path, "f")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("shapes", "arguments", "message"),
    [
        ({"I": (3, 4)}, {}, "'J' of 'f' has neither a shape nor a value"),
        ({"I": (3, 4), "J": (5,), "K": (1,)}, {}, "'f' has no parameter 'K'"),
        ({"I": (3, 0), "J": (5,)}, {}, "has no elements"),
    ],
)
def test_parameters(
    tmp_path: Path, shapes: dict[str, tuple[int, ...]], arguments: dict[str, int], message: str
) -> None:
    path = tmp_path / "layer.py"
    path.write_text(HEAD + "    return I\n")
    with pytest.raises(TablaError) as caught:
        trace(load(path), shapes, arguments)
    assert message in caught.value.message
    assert caught.value.line == 4


def test_numpy_numbers_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "layer.py"
    path.write_text("import numpy as np\ndef f(I, n):\n    return np.float64(2) * I + np.int64(n)\n")
    program = trace(load(path, "f"), {"I": (3,)}, {"n": np.int64(4)})
    assert program.outputs[0].shape == (3,)
