"""The functions, constants and members that C++ functions of tensors may use, and what each of them takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tabla.graph.composed_functions import COMPOSED_FUNCTIONS, ComposedFunction
from tabla.languages.tile import functions, gradient, moves, prng, steps
from tabla.languages.tile.builder import Contraction
from tabla.languages.tile.contractions import Indexed
from tabla.languages.tile.dimensions import TensorDim
from tabla.languages.tile.indices import IndexConstraint, IndexExpression
from tabla.languages.tile.places import refuse
from tabla.languages.tile.tensors import Tensor, TensorOutput
from tabla.languages.tile_cpp.values import Vector, converted, described, is_number

Wanted = Literal[
    "value", "tensor", "tensors", "sizes", "shape", "rows", "size", "whole", "real", "truth", "type", "part"
]
_WORDS: Mapping[Wanted, str] = {
    "value": "a tensor or a number",
    "tensor": "a tensor",
    "tensors": "a vector of tensors",
    "sizes": "a vector of sizes",
    "shape": "a tensor or a vector of sizes",
    "rows": "a tensor or a size",
    "size": "a size",
    "whole": "a whole number",
    "real": "a number",
    "truth": "true or false",
    "type": 'a type, such as DType::INT8 or "integer"',
    "part": "an element of a tensor",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function: what computes it, what it takes, how many of that are needed, and how a call is written."""

    call: Callable[..., Any]
    takes: tuple[Wanted, ...]
    form: str
    needed: int | None = None

    def __call__(self, name: str, arguments: Sequence[Any]) -> Any:
        """Call it. Arguments that it does not take are a `TablaError`."""
        needed = len(self.takes) if self.needed is None else self.needed
        if not needed <= len(arguments) <= len(self.takes):
            count = "1 argument" if len(arguments) == 1 else f"{len(arguments)} arguments"
            refuse(f"'{name}' is called with {count}", f"write {self.form}")
        for number, (argument, wanted) in enumerate(zip(arguments, self.takes, strict=False), 1):
            if not _is(argument, wanted):
                message = f"argument {number} of '{name}' is {described(argument)}, not {_WORDS[wanted]}"
                refuse(message, f"write {self.form}")
        result = self.call(*arguments)
        return Vector(result) if isinstance(result, list) else result


def _is(value: Any, wanted: Wanted) -> bool:
    match wanted:
        case "value":
            return isinstance(value, Tensor | TensorDim) or is_number(value)
        case "tensor":
            return isinstance(value, Tensor)
        case "tensors":
            return isinstance(value, list) and all(isinstance(item, Tensor) for item in value)
        case "sizes":
            return isinstance(value, list) and all(_is(item, "size") for item in value)
        case "size" | "whole":
            return isinstance(value, TensorDim) or (isinstance(value, int) and not isinstance(value, bool))
        case "real":
            return is_number(value)
        case "truth":
            return isinstance(value, bool)
        case "type":
            return isinstance(value, str)
        case "part":
            return isinstance(value, Indexed | TensorDim) or is_number(value)
        case "shape":
            return isinstance(value, Tensor) or _is(value, "sizes")
        case "rows":
            return isinstance(value, Tensor) or _is(value, "size")


def _one(call: Callable[[Any], Any], number: Callable[[float], float] | None, name: str) -> Function:
    """A function of one tensor. Of a number of C++ it is that of ``<cmath>``."""

    def computed(value: Any) -> Any:
        if number is None or not is_number(value):
            return call(value)
        try:
            return number(value)
        except (ValueError, OverflowError):
            refuse(f"{name}({value}) is no real number", "use an argument in its domain")

    return Function(call=computed, takes=("value",), form=f"{name}(A)")


def _greater(left: Any, right: Any) -> Any:
    return functions.max(left, right)


def _less(left: Any, right: Any) -> Any:
    return functions.min(left, right)


def _power(base: Any, exponent: Any) -> Any:
    if not (is_number(base) and is_number(exponent)):
        return functions.pow(base, exponent)
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):
        refuse(f"pow({base}, {exponent}) is no real number", "use an argument in its domain")


def _composed(record: ComposedFunction) -> Function:
    """Return a function of two values that every notation has."""

    def call(one: Any, other: Any) -> Any:
        if is_number(one) and is_number(other):
            return record.folds(float(one), float(other))
        return getattr(functions, record.name)(one, other)

    return Function(call=call, takes=("value", "value"), form=f"{record.name}(A, B)")


def _cast(kind: str) -> Callable[..., Tensor]:
    """Return a function such as ``as_int(A, 32)``: a cast to a type of so many bits."""

    def cast(value: Any, bits: int = 32 if kind == "float" else 64) -> Tensor:
        if bits not in (8, 16, 32, 64) or (kind == "float" and bits == 8):
            refuse(f"a type of {bits} bits", "types have 8, 16, 32 or 64 bits, and those of floats 16, 32 or 64")
        return functions.cast(value, f"{kind}{bits}")

    return cast


def output(arguments: list[Any]) -> Tensor:
    """Return ``TensorOutput(M, N)``, of sizes or of a vector of them."""
    flat = _flat(arguments)
    for size in flat:
        if not _is(size, "size"):
            refuse(f"a dimension of TensorOutput is {described(size)}", "sizes are TensorDims and whole numbers")
    return TensorOutput(*flat)


_CMATH: Mapping[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "erf": math.erf,
    "floor": lambda value: float(math.floor(value)),
    "ceil": lambda value: float(math.ceil(value)),
    "abs": abs,
    **{name: COMPOSED_FUNCTIONS[name].folds for name in ("tan", "asin", "acos", "atan", "sinh", "cosh", "erfc")},
}
FUNCTIONS: Mapping[str, Function] = {
    **{name: _one(getattr(functions, name), number, name) for name, number in _CMATH.items()},
    **{name: _one(getattr(functions, name), None, name) for name in ("sigmoid", "softplus", "round")},
    **{name: _composed(record) for name, record in COMPOSED_FUNCTIONS.items() if record.arity == 2},
    "pow": Function(call=_power, takes=("value", "value"), form="pow(A, B)"),
    "max": Function(call=_greater, takes=("value", "value"), form="max(A, B)"),
    "min": Function(call=_less, takes=("value", "value"), form="min(A, B)"),
    "select": Function(call=functions.select, takes=("value", "value", "value"), form="select(C, T, F)"),
    "cond": Function(call=functions.cond, takes=("part", "part", "part"), form="cond(I(i, j), M(i), X(j))"),
    "cast": Function(call=functions.cast, takes=("value", "type"), form="cast(A, DType::INT8)"),
    **{
        f"as_{short}": Function(call=_cast(kind), takes=("value", "whole"), needed=1, form=f"as_{short}(A, 32)")
        for short, kind in (("float", "float"), ("int", "int"), ("uint", "uint"))
    },
    "as_bool": Function(call=lambda value: functions.cast(value, "boolean"), takes=("value",), form="as_bool(A)"),
    "ident": Function(call=functions.ident, takes=("value",), form="ident(A)"),
    "shape": Function(call=functions.shape, takes=("tensor",), form="shape(A)"),
    "reshape": Function(call=functions.reshape, takes=("tensor", "sizes"), form="reshape(A, {M, N})"),
    "index": Function(call=functions.index, takes=("shape", "whole"), form="index({M, N}, 0)"),
    "gather": Function(call=moves.gather, takes=("value", "value"), form="gather(table, where)"),
    "scatter": Function(
        call=moves.scatter, takes=("value", "value", "rows", "whole"), needed=3, form="scatter(values, where, N)"
    ),
    "argsort": Function(
        call=moves.argsort, takes=("value", "whole", "truth"), needed=1, form="argsort(A, axis, descending)"
    ),
    "topk": Function(call=moves.topk, takes=("value", "whole", "whole"), needed=2, form="topk(A, k, axis)"),
    "prng": Function(call=prng.prng, takes=("whole", "sizes"), form="prng(1, {M, N})"),
    "gradient": Function(call=gradient.gradient, takes=("tensor", "tensors"), form="gradient(L, {V, W})"),
    "update": Function(call=steps.update, takes=("tensor", "tensor", "real"), form="update(W, G, 0.125)"),
    "descend": Function(call=gradient.descend, takes=("tensor", "tensors", "real"), form="descend(L, {V, W}, 0.125)"),
    "Contraction": Function(call=Contraction, takes=(), form="Contraction().outShape(N)"),
}
"""The functions by their names, without ``std::`` and ``plaidml::edsl::``, but for `OUTPUT`."""
OUTPUT = "TensorOutput"
"""The function `output`, which takes any number of sizes."""

CONSTANTS: Mapping[str, str] = {
    **{f"DType::{name.upper()}": name for name in ("float16", "float32", "float64")},
    **{f"DType::{sign}INT{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)},
    "DType::BOOLEAN": "boolean",
}
"""The names of types that `cast` takes."""


def member(value: Any, name: str, arguments: list[Any]) -> Any:
    """Return ``value.name(arguments)``."""
    match value:
        case Tensor():
            return _of_tensor(value, name, arguments)
        case Vector():
            return _of_vector(value, name, arguments)
        case Contraction():
            return _of_contraction(value, name, arguments)
        case _:
            refuse(f"{described(value)} has no member '{name}'", "tensors and vectors have members")


def _flat(arguments: list[Any]) -> list[Any]:
    """Return the arguments, or the elements of the one vector that is handed over."""
    return arguments[0] if len(arguments) == 1 and isinstance(arguments[0], list) else arguments


def _of_tensor(tensor: Tensor, name: str, arguments: list[Any]) -> Any:
    match name, arguments:
        case "bind_dims", _:
            for size in _flat(arguments):
                if not _is(size, "size"):
                    refuse(f"bind_dims binds {described(size)}", "write I.bind_dims(M, N) of TensorDims")
            return tensor.bind_dims(*_flat(arguments))
        case "add_constraint" | "add_constraints", [_, *_]:
            for constraint in _flat(arguments):
                if not isinstance(constraint, IndexConstraint):
                    hint = "write e < C with index variables on the left: O.add_constraint(j < 2)"
                    refuse(f"{described(constraint)} is not a constraint", hint)
                tensor.add_constraint(constraint)
            return None
        case "init" | "use_default", [value] if _is(value, "value"):
            return tensor.init(value) if name == "init" else tensor.use_default(value)
        case "rank", []:
            return tensor.rank
        case "shape", []:
            return Vector([TensorDim(size) for size in tensor.shape])
        case "axis", [axis] if _is(axis, "whole") and isinstance(tensor, moves.Gathered):
            return tensor.axis(axis)
        case "build", []:
            return tensor
    _refuse_member(
        "a tensor", name, "bind_dims(M, N)", "add_constraint(j < 2)", "use_default(P)", "init(P)", "rank()", "shape()"
    )


def _of_vector(vector: Vector, name: str, arguments: list[Any]) -> Any:
    match name, arguments:
        case "size", []:
            return len(vector)
        case "empty", []:
            return not vector
        case "front" | "back", []:
            if not vector:
                refuse("an element of an empty vector", "push_back elements first")
            return vector[0 if name == "front" else -1]
        case "at", [position]:
            return vector[position_of(vector, position)]
        case "push_back" | "emplace_back", [value]:
            vector.append(value if vector.type is None else converted(value, vector.type))
            return None
    _refuse_member("a vector", name, "size()", "empty()", "at(0)", "front()", "back()", "push_back(N)")


def position_of(vector: Vector, position: Any) -> int:
    """Return the position of an element. One that is outside of the vector is a `TablaError`."""
    if isinstance(position, IndexExpression):
        refuse("an index variable has no one value, so it is no position of a vector", "use a whole number: X[0]")
    if not _is(position, "whole"):
        refuse(f"{described(position)} as the position of a vector", "use a whole number: X[0]")
    at = int(position)
    if not 0 <= at < len(vector):
        refuse(f"position {at} of a vector of {len(vector)} elements", "positions begin at 0")
    return at


def _of_contraction(contraction: Contraction, name: str, arguments: list[Any]) -> Any:
    match name, arguments:
        case "outShape", _:
            for size in _flat(arguments):
                if not _is(size, "size"):
                    refuse(f"outShape takes sizes, not {described(size)}", "write outShape(M, N)")
            return contraction.outShape(*_flat(arguments))
        case "outAccess", _:
            return contraction.outAccess(*_flat(arguments))
        case "sum" | "product" | "max" | "min" | "assign", [right]:
            return getattr(contraction, name)(right)
        case "init" | "use_default", [value] if _is(value, "value"):
            return getattr(contraction, name)(value)
        case "add_constraint", [constraint] if isinstance(constraint, IndexConstraint):
            return contraction.add_constraint(constraint)
        case "build", []:
            return contraction.build()
    forms = (
        "outShape(M)",
        "outAccess(m)",
        "sum(I(m, n))",
        "add_constraint(n < 2)",
        "init(P)",
        "use_default(P)",
        "build()",
    )
    _refuse_member("a contraction", name, *forms)


def _refuse_member(what: str, name: str, *forms: str) -> None:
    known = {form.partition("(")[0]: form for form in forms}
    if name in known:
        refuse(f"'{name}' of {what} does not take these arguments", f"write {known[name]}")
    refuse(f"{what} has no member '{name}'", f"there are {', '.join(known)}")
