"""The functions and operators of the kernel: their types, how a text writes them, and what they are in float64."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tabla.base.faults import did_you_mean
from tabla.base.source import Span
from tabla.graph.composed_functions import COMPOSED_FUNCTIONS
from tabla.graph.functions import FUNCTIONS
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.tree import Apply, Expression, Type

Array = NDArray[Any]
Rule = Literal["numbers", "reals", "integers", "comparison", "truths", "choice", "conversion"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A function: how many arguments it takes, the rule of its types, and its meaning in float64.

    ``numbers`` takes reals or integers, all of one type, which the result has; ``reals`` takes and gives reals,
    and ``integers`` integers; ``comparison`` takes two numbers of one type; ``truths`` takes and gives truth values;
    ``choice`` takes a truth value and two values of one type; ``conversion`` takes any value. `sign` is the operator
    that a text writes, with its `tightness`. `folds` computes a constant; None means that the exact rules for rational
    numbers do.
    """

    arity: int
    rule: Rule
    meaning: Callable[..., Array]
    sign: str = ""
    tightness: int = 0
    folds: Callable[..., float] | None = None


COMPARISON, SUM, PRODUCT, UNARY, ATOM = range(5)
"""How tightly an expression holds together; an operand that holds less is in parentheses."""


def _quotient(left: Array, right: Array) -> Array:
    """Divide; integers toward zero, and an integer by 0 gives 0."""
    if left.dtype.kind == "f" or right.dtype.kind == "f":
        return np.asarray(left / right)
    whole = np.abs(left) // np.abs(np.where(right == 0, 1, right))
    return np.where(right == 0, 0, np.sign(left) * np.sign(right) * whole)


def _remainder(left: Array, right: Array) -> Array:
    """Return what a quotient toward zero leaves; of an integer over 0 that is the integer."""
    if left.dtype.kind == "f" or right.dtype.kind == "f":
        return np.asarray(np.fmod(left, right))
    return np.asarray(left - right * _quotient(left, right))


def _integer(value: Array) -> Array:
    """Convert to an integer toward zero, saturated at the ends of 64 bits. What is no number is 0."""
    if value.dtype.kind != "f":
        return value.astype(np.int64)
    ends = np.iinfo(np.int64)
    inside = np.where(np.abs(value) < 2.0**63, value, 0.0).astype(np.int64)
    return np.where(value >= 2.0**63, ends.max, np.where(value <= -(2.0**63), ends.min, inside))


def _infix(sign: str, tightness: int, rule: Rule, meaning: Callable[..., Array]) -> Signature:
    return Signature(arity=2, rule=rule, meaning=meaning, sign=sign, tightness=tightness)


def _unit(name: str, folds: Callable[[float], float]) -> Signature:
    """Return a function of the function unit, which says what it is in float64."""
    return Signature(arity=1, rule="reals", meaning=FUNCTIONS[name].reals, folds=folds)


SIGNATURES: Mapping[str, Signature] = {
    "add": _infix("+", SUM, "numbers", np.add),
    "subtract": _infix("-", SUM, "numbers", np.subtract),
    "multiply": _infix("*", PRODUCT, "numbers", np.multiply),
    "divide": _infix("/", PRODUCT, "numbers", _quotient),
    "remainder": _infix("%", PRODUCT, "numbers", _remainder),
    "less": _infix("<", COMPARISON, "comparison", np.less),
    "less_equal": _infix("<=", COMPARISON, "comparison", np.less_equal),
    "greater": _infix(">", COMPARISON, "comparison", np.greater),
    "greater_equal": _infix(">=", COMPARISON, "comparison", np.greater_equal),
    "equal": _infix("==", COMPARISON, "comparison", np.equal),
    "not_equal": _infix("!=", COMPARISON, "comparison", np.not_equal),
    "negate": Signature(arity=1, rule="numbers", meaning=np.negative, sign="-", tightness=UNARY),
    "abs": Signature(arity=1, rule="numbers", meaning=np.abs),
    "min": Signature(arity=2, rule="numbers", meaning=np.minimum),
    "max": Signature(arity=2, rule="numbers", meaning=np.maximum),
    "sigmoid": _unit("sigmoid", lambda t: 1 / (1 + math.exp(-t)) if t >= 0 else math.exp(t) / (1 + math.exp(t))),
    "tanh": _unit("tanh", math.tanh),
    "gaussian": _unit("gaussian", lambda t: math.exp(-t * t)),
    "log": _unit("log", math.log),
    "exp": _unit("exp", math.exp),
    "sqrt": _unit("sqrt", math.sqrt),
    "sin": _unit("sin", math.sin),
    "cos": _unit("cos", math.cos),
    "erf": _unit("erf", math.erf),
    **{
        name: Signature(arity=composed.arity, rule="reals", meaning=composed.reals, folds=composed.folds)
        for name, composed in COMPOSED_FUNCTIONS.items()
    },
    "power": Signature(arity=2, rule="reals", meaning=np.power),
    **{
        name: Signature(arity=2, rule="integers", meaning=meaning, folds=folds)
        for name, meaning, folds in (
            ("bit_and", np.bitwise_and, operator.and_),
            ("bit_or", np.bitwise_or, operator.or_),
            ("bit_xor", np.bitwise_xor, operator.xor),
            ("shift_left", np.left_shift, operator.lshift),
            ("shift_right", np.right_shift, operator.rshift),
        )
    },
    "bit_not": Signature(arity=1, rule="integers", meaning=np.invert, folds=operator.invert),
    "select": Signature(arity=3, rule="choice", meaning=np.where),
    "and": Signature(arity=2, rule="truths", meaning=np.logical_and),
    "or": Signature(arity=2, rule="truths", meaning=np.logical_or),
    "not": Signature(arity=1, rule="truths", meaning=np.logical_not),
    "real": Signature(arity=1, rule="conversion", meaning=lambda value: value.astype(np.float64)),
    "integer": Signature(arity=1, rule="conversion", meaning=_integer),
    "truth": Signature(arity=1, rule="conversion", meaning=lambda value: value != 0),
}
"""All functions by name."""
TYPES: Mapping[str, Type] = {"real": "real", "integer": "integer", "truth": "truth"}
INFIX: Mapping[str, str] = {each.sign: name for name, each in SIGNATURES.items() if each.sign and each.arity == 2}
"""The functions that a text writes between their two arguments, by their signs."""


def apply(function: str, *arguments: Expression, span: Span | None = None) -> Apply:
    """Return a function of values with its type. An unknown name and types that do not fit are a `TablaError`."""
    signature = SIGNATURES.get(function)
    if signature is None:
        hint = did_you_mean(function, SIGNATURES) or f"there are {', '.join(SIGNATURES)}"
        raise refused(f"there is no function '{function}'", span, hint)
    if len(arguments) != signature.arity:
        plural = "" if signature.arity == 1 else "s"
        message = f"'{function}' takes {signature.arity} argument{plural}, not {len(arguments)}"
        raise refused(message, span, f"give it {signature.arity}")
    return Apply(
        function=function,
        arguments=arguments,
        type=_type(function, signature, [argument.type for argument in arguments], span),
        span=span,
    )


def _type(function: str, signature: Signature, types: list[Type], span: Span | None) -> Type:
    numbers = len(set(types)) == 1 and types[0] != "truth"
    match signature.rule:
        case "conversion":
            return TYPES[function]
        case "numbers" if numbers:
            return types[0]
        case "reals" if set(types) == {"real"}:
            return "real"
        case "integers" if set(types) == {"integer"}:
            return "integer"
        case "comparison" if numbers:
            return "truth"
        case "truths" if set(types) == {"truth"}:
            return "truth"
        case "choice" if types[0] == "truth" and types[1] == types[2]:
            return types[1]
    two = "two reals or two integers"
    needs = {"numbers": two, "comparison": two, "choice": "a truth value and two values of one type"}
    if signature.rule in ("choice", "truths") and types[0] != "truth":
        needs[signature.rule] = "a truth value first, such as x > 0.0"
    raise refused(
        f"'{signature.sign or function}' is given {' and '.join(types)}",
        span,
        f"it takes {needs.get(signature.rule, signature.rule)}; a real number has a point, and real(...) converts",
    )
