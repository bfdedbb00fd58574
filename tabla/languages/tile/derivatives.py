"""The derivative of every kind of node with respect to its operands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NoReturn

from tabla.base.source import Span
from tabla.languages.kernel.intervals import Rational
from tabla.languages.tile.elementwise import COMPARISONS, WHOLE, apply
from tabla.languages.tile.places import refuse
from tabla.languages.tile.program import (
    Access,
    Aggregation,
    Combination,
    Constraint,
    Contraction,
    Elementwise,
    Name,
    Node,
    Number,
    Operator,
    Reshape,
    Shape,
    Subscript,
)

CONSTANT_BETWEEN_JUMPS = COMPARISONS | WHOLE.keys() | {"round", "floor", "ceil", "cast"}


class Derivatives:
    """The derivatives of a value with respect to nodes, gathered while the program is walked backwards.

    `concerned` are the nodes through which a derivative flows. None stands for a derivative of 0.
    """

    def __init__(self, concerned: set[Node], span: Span | None) -> None:
        self._concerned, self._span = concerned, span
        self._found: dict[Node, Node] = {}

    def of(self, node: Node) -> Node | None:
        """Return what was gathered for a node."""
        return self._found.get(node)

    def add(self, node: Node, derivative: Node | None) -> None:
        """Add one more contribution to the derivative with respect to a node."""
        if derivative is None or node not in self._concerned:
            return
        known = self._found.get(node)
        self._found[node] = derivative if known is None else self._make("add", known, derivative)

    def through(self, node: Node) -> None:
        """Pass the derivative of a node on to its operands."""
        derivative = self.of(node)
        if derivative is None:
            return
        if node.name.text and not isinstance(derivative, Number):
            derivative.name.text = derivative.name.text or f"d{node.name.text}"
        match node:
            case Elementwise():
                self._elementwise(node, derivative)
            case Contraction():
                self._contraction(node, derivative)
            case Reshape():
                whole = self.filled(derivative, node.shape)
                shape, name = node.operand.shape, Name(derived=True)
                self.add(node.operand, Reshape(shape=shape, kind="float", operand=whole, name=name, span=self._span))
            case _:
                raise AssertionError(f"no derivative of {node}")

    def filled(self, node: Node | None, shape: Shape) -> Node:
        """Return the node broadcast to a shape, and zeros for None."""
        node = node if node is not None else _number(0)
        if node.shape == shape:
            return node
        write = tuple(_plain(axis) for axis in range(len(shape)))
        aligned = tuple(
            _fixed(0) if extent == 1 else _plain(axis + len(shape) - len(node.shape))
            for axis, extent in enumerate(node.shape)
        )
        return self._contract(shape, write, [Access(node=node, subscripts=aligned)], "none", (), "assign")

    def _elementwise(self, node: Elementwise, d: Node) -> None:
        parts = node.inputs
        match node.operator:
            case "add":
                self._give(node, parts[0], d)
                self._give(node, parts[1], d)
            case "subtract":
                self._give(node, parts[0], d)
                self._give(node, parts[1], self._make("negate", d))
            case "negate":
                self._give(node, parts[0], self._make("negate", d))
            case "multiply" if parts[0] is parts[1]:
                self._give(node, parts[0], self._make("multiply", self._make("multiply", _number(2), d), parts[0]))
            case "multiply":
                self._give(node, parts[0], self._make("multiply", d, parts[1]))
                self._give(node, parts[1], self._make("multiply", d, parts[0]))
            case "divide" if node.kind == "float":
                self._divide(node, d)
            case "select":
                self._give(node, parts[1], self._make("select", parts[0], d, _number(0)))
                self._give(node, parts[2], self._make("select", parts[0], _number(0), d))
            case "maximum" | "minimum":
                # The comparison that lowering makes of the operator itself, so that it is computed once.
                test: Operator = "greater" if node.operator == "maximum" else "less"
                left = self._make(test, *parts)
                self._give(node, parts[0], self._make("select", left, d, _number(0)))
                self._give(node, parts[1], self._make("select", left, _number(0), d))
            case "power":
                self._power(node, d)
            case "atan2":
                self._angle(node, d)
            case "cast" if node.kind == "float":
                self._give(node, parts[0], d)
            case operator if operator in CONSTANT_BETWEEN_JUMPS:
                pass
            case _:
                self._give(node, parts[0], self._function(node, parts[0], d))

    def _function(self, node: Elementwise, x: Node, d: Node) -> Node:
        """Of functions of one argument, by their value where that is simplest."""
        match node.operator:
            case "exponential":
                return self._make("multiply", d, node)
            case "logarithm":
                return self._make("divide", d, x)
            case "square_root":
                return self._make("divide", d, self._make("multiply", _number(2), node))
            case "sigmoid":
                slope = self._make("multiply", node, self._make("subtract", _number(1), node))
                return self._make("multiply", d, slope)
            case "soft_plus":
                return self._make("multiply", d, self._make("sigmoid", x))
            case "hyperbolic_tangent":
                slope = self._make("subtract", _number(1), self._make("multiply", node, node))
                return self._make("multiply", d, slope)
            case "sine":
                return self._make("multiply", d, self._make("cosine", x))
            case "cosine":
                return self._make("negate", self._make("multiply", d, self._make("sine", x)))
            case "tangent":
                return self._make("multiply", d, self._make("add", _number(1), self._make("multiply", node, node)))
            case "arc_sine" | "arc_cosine":
                rest = self._make("subtract", _number(1), self._make("multiply", x, x))
                slope = self._make("divide", d, self._make("square_root", rest))
                return slope if node.operator == "arc_sine" else self._make("negate", slope)
            case "arc_tangent":
                return self._make("divide", d, self._make("add", _number(1), self._make("multiply", x, x)))
            case "hyperbolic_sine":
                return self._make("multiply", d, self._make("hyperbolic_cosine", x))
            case "hyperbolic_cosine":
                return self._make("multiply", d, self._make("hyperbolic_sine", x))
            case "error_function" | "complementary_error_function":
                bell = self._make("exponential", self._make("negate", self._make("multiply", x, x)))
                sign = 1 if node.operator == "error_function" else -1
                factor = _number(sign * Fraction(2 / math.sqrt(math.pi)))
                return self._make("multiply", d, self._make("multiply", factor, bell))
            case "absolute":
                return self._make("select", self._make("less", x, _number(0)), self._make("negate", d), d)
            case _:
                self._refuse(node, node.operator)

    def _divide(self, node: Elementwise, d: Node) -> None:
        above, below = node.inputs
        if isinstance(below, Number):
            self._give(node, above, self._make("multiply", _number(1 / below.value), d))
            return
        quotient = self._make("divide", d, below)
        self._give(node, above, quotient)
        self._give(node, below, self._make("negate", self._make("multiply", quotient, node)))

    def _power(self, node: Elementwise, d: Node) -> None:
        base, exponent = node.inputs
        lower = self._make("power", base, self._make("subtract", exponent, _number(1)))
        if isinstance(exponent, Number) and exponent.value == 2:
            lower = base
        self._give(node, base, self._make("multiply", d, self._make("multiply", exponent, lower)))
        if exponent in self._concerned:
            self._give(
                node, exponent, self._make("multiply", d, self._make("multiply", node, self._make("logarithm", base)))
            )

    def _angle(self, node: Elementwise, d: Node) -> None:
        """Of the angle of a point (x, y): ``(x dy - y dx) / (x x + y y)``. At (0, 0) it divides by 0."""
        y, x = node.inputs
        square = self._make("add", self._make("multiply", x, x), self._make("multiply", y, y))
        if y in self._concerned:
            self._give(node, y, self._make("divide", self._make("multiply", d, x), square))
        if x in self._concerned:
            turned = self._make("negate", self._make("multiply", d, y))
            self._give(node, x, self._make("divide", turned, square))

    def _give(self, node: Node, operand: Node, derivative: Node) -> None:
        """Add a contribution to a broadcast operand of `node`, summed over the axes that were stretched."""
        if operand not in self._concerned:
            return
        if isinstance(derivative, Number):
            repeats = node.size // operand.size
            self.add(operand, _number(derivative.value * repeats))
            return
        if node.shape != operand.shape:
            derivative = self.filled(derivative, node.shape)
            skipped = len(node.shape) - len(operand.shape)
            write = tuple(
                _fixed(0) if extent == 1 else _plain(axis + skipped) for axis, extent in enumerate(operand.shape)
            )
            read = Access(node=derivative, subscripts=tuple(_plain(axis) for axis in range(len(node.shape))))
            derivative = self._contract(operand.shape, write, [read], "none", ())
        self.add(operand, self.filled(derivative, operand.shape))

    def _contraction(self, node: Contraction, d: Node) -> None:
        match node.aggregation, node.combination:
            case (("sum" | "assign"), ("none" | "add")):
                for place, source in enumerate(node.sources):
                    others = node.sources[:place] + node.sources[place + 1 :]
                    self._pull(node, source, [], d, _inside(others))
            case (("sum" | "assign"), "multiply"):
                left, right = node.sources
                if left.node is right.node and left.subscripts == right.subscripts:
                    self._pull(node, left, [right], self._make("multiply", _number(2), d), ())
                else:
                    self._pull(node, left, [right], d, ())
                    self._pull(node, right, [left], d, ())
            case _, "condition":
                first, second, value = node.sources
                if node.aggregation not in ("sum", "assign") and value.node in self._concerned:
                    self._refuse(node, f"{node.aggregation} of cond")
                self._pull(node, value, [first, second], d, (), "condition")
            case (("max" | "min"), "none"):
                result = Access(node=node, subscripts=node.write)
                self._pull(node, node.sources[0], [node.sources[0], result], d, (), "condition")
            case "product", "none":
                source = node.sources[0]
                scaled = self._make("multiply", self.filled(d, node.shape), node)
                if source.node in self._concerned:
                    spread = self._pulled(node, source, [], scaled, ())
                    self.add(source.node, self._make("divide", spread, source.node))
            case _:
                self._refuse(node, f"{node.aggregation} of a product or sum of two tensors")

    def _pull(
        self,
        node: Contraction,
        source: Access,
        factors: Sequence[Access],
        d: Node,
        constraints: Sequence[Constraint],
        combination: Combination = "multiply",
    ) -> None:
        if source.node in self._concerned:
            self.add(source.node, self._pulled(node, source, factors, d, constraints, combination))

    def _pulled(
        self,
        node: Contraction,
        source: Access,
        factors: Sequence[Access],
        d: Node,
        constraints: Sequence[Constraint],
        combination: Combination = "multiply",
    ) -> Node:
        """Return ``d source[...] += factors * d output[...]`` over the same index values."""
        own = [*node.constraints, *constraints]
        if isinstance(d, Number):
            # What is read no more still bounds the indices.
            own += _bounds(node.write, node.shape)
            if d.value == 1 and combination == "multiply":
                return self._contract(source.node.shape, source.subscripts, list(factors) or [_one()], "none", own)
            outer = Access(node=d, subscripts=())
        else:
            outer = Access(node=d, subscripts=node.write)
        sources = [*factors, outer]
        joined: Combination = combination if len(sources) > 1 else "none"
        return self._contract(source.node.shape, source.subscripts, sources, joined, own)

    def _contract(
        self,
        shape: Shape,
        write: tuple[Subscript, ...],
        sources: Sequence[Access],
        combination: Combination,
        constraints: Sequence[Constraint],
        aggregation: Aggregation = "sum",
    ) -> Node:
        return Contraction(
            shape=shape,
            kind="float",
            name=Name(derived=True),
            span=self._span,
            aggregation=aggregation,
            write=write,
            combination=combination,
            sources=tuple(sources),
            constraints=tuple(constraints),
        )

    def _make(self, operator: Operator, *operands: Node) -> Node:
        """An elementwise node; products with 1 and of numbers are folded."""
        if operator == "multiply":
            one, other = operands
            if isinstance(one, Number) and isinstance(other, Number):
                return _number(one.value * other.value)
            for factor, rest in ((one, other), (other, one)):
                if isinstance(factor, Number) and factor.value == 1:
                    return rest
        if operator == "negate" and isinstance(operands[0], Number):
            return _number(-operands[0].value)
        made = apply(operator, operands, self._span)
        made.name.derived = True
        return made

    def _refuse(self, node: Node, what: str) -> NoReturn:
        refuse(f"there is no derivative of {what} here", "write it by sums, products and functions", node.span)


def _number(value: Fraction | int) -> Number:
    return Number(shape=(), kind="float", value=Fraction(value))


def _one() -> Access:
    return Access(node=_number(1), subscripts=())


def _plain(axis: int) -> Subscript:
    return Subscript(value=Rational.make(0, {f"i{axis}": 1}))


def _fixed(place: int) -> Subscript:
    return Subscript(value=Rational.make(place, {}))


def _bounds(subscripts: Sequence[Subscript], shape: Shape) -> list[Constraint]:
    return [Constraint(subscript=each, bound=extent) for each, extent in zip(subscripts, shape, strict=True)]


def _inside(accesses: Sequence[Access]) -> list[Constraint]:
    """Return constraints that keep those accesses in range that are no longer read."""
    return [each for access in accesses for each in _bounds(access.subscripts, access.node.shape)]
