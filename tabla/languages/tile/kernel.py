"""A traced Tile program becomes a kernel: a statement for each tensor that contractions read, or that is used twice.

The kernel says what the program means in float64, ``--emit kernel`` prints it, and :mod:`tabla.languages.tile.lower`
lowers it to the words of a format. A sum of which only a multiple by a constant is used, such as a mean, or only the
sum with a bias, is part of that statement, so it is rounded once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from tabla.base.source import Span
from tabla.graph.boxes import Box, axes, difference, whole
from tabla.graph.composed_functions import BY_OPERATOR
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel import tree
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.substitution import whole_number
from tabla.languages.tile.elementwise import COMPARISONS, WHOLE
from tabla.languages.tile.joined import Joined
from tabla.languages.tile.known import Subscripts, constants_of, stretched
from tabla.languages.tile.positions import positions_of
from tabla.languages.tile.program import (
    Biased,
    Contraction,
    Elementwise,
    Input,
    Kind,
    Node,
    Number,
    Ordinal,
    Program,
    Reshape,
    Values,
)
from tabla.languages.tile.projection import inhabited
from tabla.languages.tile.refusals import MOST_NESTED
from tabla.languages.tile.region import Region, region_of
from tabla.languages.tile.reshape import refinement
from tabla.languages.tile.text import names_of

TYPES: Mapping[Kind, tree.Type] = {"float": "real", "integer": "integer", "boolean": "truth"}
MOST_READABLE = 100
"""The most operations of one expression that lie inside each other where texts and float64 are made of a kernel. What
lies deeper is a tensor of its own.
"""
_ARITHMETIC = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "remainder": "remainder",
    "negate": "negate", "absolute": "abs", "maximum": "max", "minimum": "min",
}  # fmt: skip
_REALS: Mapping[str, str] = {
    "exponential": "exp",
    "logarithm": "log",
    "square_root": "sqrt",
    "hyperbolic_tangent": "tanh",
    "sigmoid": "sigmoid",
    "sine": "sin",
    "cosine": "cos",
    "error_function": "erf",
    **{operator: composed.name for operator, composed in BY_OPERATOR.items()},
}
_TRUTHS = {"bit_and": "and", "bit_or": "or", "maximum": "or", "minimum": "and"}
"""Operators of which both operands are truth values, and so the result."""
_JOINED: Mapping[str, tree.Reduction] = {
    "sum": "sum",
    "assign": "sum",
    "product": "product",
    "max": "max",
    "min": "min",
}
_NO_NAME = re.compile(r"[^\w.']|^(?=[\d.'])")
"""What a name of a kernel cannot hold, or the place before what it cannot begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A program as a kernel, with the kernel's tensor of each parameter and of each result by name.

    `reals` are the tensors of integers that the number format holds as real words.
    """

    kernel: tree.Kernel
    parameters: Mapping[str, str]
    results: Mapping[str, str]
    reals: frozenset[str] = frozenset()


def translated(
    program: Program,
    *,
    name: str,
    keep: Sequence[str] = (),
    results: Sequence[str] = (),
    number_format: Format | None = None,
) -> Translation:
    """Return a program as a kernel. The parameters of `keep`, and those that learn, are models, and the tensors
    `results` are returned, too.

    With a number format the kernel is the one to lower. It has the names of the program, which no text may be able to
    hold, numbers in place of expressions of numbers, and integers in place of real parameters that are positions beyond
    the real words of the format. Its labels may be integers.
    """
    return _Program(program, keep, results, number_format).run(name)


class _Program:
    def __init__(
        self, program: Program, keep: Sequence[str], results: Sequence[str], number_format: Format | None
    ) -> None:
        self._program, self._keep = program, keep
        names, nodes = names_of(program), program.nodes()
        self._readable = readable = number_format is None
        self._names = _distinct(names) if readable else names
        self._asked = {node: shown for node, shown in names.items() if shown in results}
        self._positions = positions_of(program, number_format) if number_format is not None else frozenset()
        constants = constants_of(nodes)
        self._numbers = {} if readable else constants
        self._joined = Joined.of(program, nodes, self._asked, constants)
        self._stated = self._joined.stated(
            constants=self._numbers, most_nested=MOST_READABLE if readable else MOST_NESTED
        )
        self._tensors: dict[str, tree.Tensor] = {}
        self._statements: list[tree.Statement] = []
        self._held: dict[Node, str] = {}
        self._reals: set[str] = set()
        self._inside: dict[Node, tree.Expression] = {}

    def run(self, name: str) -> Translation:
        program = self._program
        learnt, labels = {step.weights for step in program.steps}, labels_of(program)
        for given in program.inputs:
            role: tree.Role = "model" if given in learnt or given.parameter in self._keep else "input"
            if role == "input" and given in labels and (given.kind == "float" or not self._readable):
                role = "label"
            self._declare(given, self._names[given], role)
        for node in program.nodes():
            if node in self._stated:
                self._state(node, self._name(node))
        steps = [(step, self._value(step.gradient, f"d.{step.weights.parameter}")) for step in program.steps]
        shown = [*program.results(), *((shown, node) for node, shown in self._asked.items())]
        results = {name: self._value(node, name) for name, node in shown}
        kernel = tree.Kernel(
            name=name,
            tensors=self._tensors,
            statements=tuple(self._statements),
            updates=tuple(
                tree.Update(
                    model=self._held[step.weights],
                    gradient=gradient,
                    rate=step.rate,
                    rate_span=step.span,
                    span=step.span,
                )
                for step, gradient in steps
            ),
            results=tuple(dict.fromkeys(results.values())),
        )
        parameters = {given.parameter: self._held[given] for given in program.inputs}
        return Translation(kernel=kernel, parameters=parameters, results=results, reals=frozenset(self._reals))

    def _name(self, node: Node) -> str:
        """Return what a tensor is called. A multiple of a sum that the program does not name has the sum's name."""
        total = self._joined.sums.get(node)
        if total is None or node.name.text is not None or node in self._joined.shown:
            return self._names[node]
        return self._names[total]

    def _declare(self, node: Node, name: str, role: tree.Role = "value") -> None:
        self._tensors[name] = tree.Tensor(name=name, shape=node.shape, role=role, type=self._type(node), span=node.span)
        self._held[node] = name
        if node.kind == "integer" and node not in self._positions:
            self._reals.add(name)

    def _type(self, node: Node) -> tree.Type:
        return "integer" if node in self._positions else TYPES[node.kind]

    def _value(self, node: Node, wanted: str) -> str:
        """Return the tensor of a node that statements write. A parameter or a number is copied into one."""
        if node in self._held and not isinstance(node, Input):
            return self._held[node]
        name = _NO_NAME.sub("_", wanted) if self._readable else wanted
        while name in self._tensors:
            name += "'"
        at, indices = self._axes(node)
        value = self._element(node, at)
        held = self._held.get(node)
        self._declare(node, name)
        if held is not None:
            self._held[node] = held
        self._write(name, at, indices, value, node.span)
        return name

    def _write(
        self,
        target: str,
        write: Subscripts,
        indices: tuple[Index, ...],
        value: tree.Expression,
        span: Span | None,
        conditions: tuple[Affine, ...] = (),
    ) -> None:
        self._statements.append(
            tree.Statement(target=target, write=write, indices=indices, value=value, conditions=conditions, span=span)
        )

    def _state(self, node: Node, name: str) -> None:
        """Write the statements of a tensor."""
        match node:
            case _ if node in self._joined.sums:
                self._contraction(self._joined.sums[node], name, node)
            case Contraction():
                self._contraction(node, name)
            case Values():
                self._values(node, name)
            case Reshape():
                self._reshape(node, name)
            case _:
                at, indices = self._axes(node)
                value = self._element(node, at)
                self._declare(node, name)
                self._write(name, at, indices, value, node.span)

    def _values(self, node: Values, name: str) -> None:
        """Write the numbers of an array one by one, or all at once where they are equal."""
        self._declare(node, name)
        if len(set(node.values)) == 1:
            at, indices = self._axes(node)
            self._write(name, at, indices, _number(node.values[0], node.kind, node.span), node.span)
            return
        for place, value in zip(product(*map(range, node.shape)), node.values, strict=True):
            at = tuple(Affine.of(each) for each in place)
            self._write(name, at, (), _number(value, node.kind, node.span), node.span)

    def _reshape(self, node: Reshape, name: str) -> None:
        extents, read, write = refinement(node.operand.shape, node.shape)
        if extents is None:
            flat = Reshape(shape=(node.size,), kind=node.kind, operand=node.operand, span=node.span)
            self._reshape(flat, self._free(f"{name}.flat"))
            self._reshape(replace(node, operand=flat), name)
            self._held[node] = name
            return
        self._declare(node, name)
        names = {f"i{n}": self._index(f"i{n}") for n in range(len(extents))}
        indices = tuple(Index(name=names[f"i{n}"], low=0, high=extent) for n, extent in enumerate(extents))
        value = self._element(node.operand, _renamed(read, names), node.span)
        self._write(name, _renamed(write, names), indices, value, node.span)

    def _contraction(self, node: Contraction, name: str, whole_sum: Node | None = None) -> None:
        """Write the statements of a contraction, or of the whole of which it is a part."""
        own = node if whole_sum is None else whole_sum
        region = region_of(node)
        if region is None:
            self._declare(own, name)
            self._rest(own, name, whole(node.shape))
            return
        region = self._apart(region)
        summed = {index.name for index in region.reduced}
        inner = tuple(form for form in region.constraints if summed.intersection(form.names))
        outer = tuple(form for form in region.constraints if not summed.intersection(form.names))
        value = self._combined(node, region)
        if region.reduced:
            value, outer = self._reduced(node, region, value, inner, outer)
        if whole_sum is not None:
            value = self._around(whole_sum, region.write, {node: value})
        self._declare(own, name)
        statement = tree.Statement(
            target=name, write=region.write, indices=region.indices, value=value, conditions=outer, span=node.span
        )
        self._statements.append(statement)
        # What a stride or a condition leaves out of a new tensor is 0 without a statement.
        for box in () if statement.partial else difference(whole(node.shape), statement.box):
            self._rest(own, name, box)

    def _around(self, node: Node, at: Subscripts, inside: dict[Node, tree.Expression]) -> tree.Expression:
        """Return an element of a node that is made of values which are no tensors."""
        self._inside = inside
        value = self._element(node, at)
        self._inside = {}
        return value

    def _rest(self, node: Node, name: str, box: Box) -> None:
        """Write the elements to which a contraction adds nothing: 0, or a bias."""
        indices, at = axes(box, "i{}")
        value = _number(Fraction(0), node.kind, node.span)
        if isinstance(node, Biased):
            names = {index.name: self._index(index.name) for index in indices}
            indices = tuple(replace(index, name=names[index.name]) for index in indices)
            at = _renamed(at, names)
            bias = node.inputs[1]
            value = self._element(bias, stretched(bias, at))
        self._write(name, at, indices, value, node.span)

    def _combined(self, node: Contraction, region: Region) -> tree.Expression:
        """Return what one set of index values contributes."""
        parts = [self._element(each.node, at, each.span) for each, at in zip(node.sources, region.reads, strict=True)]
        span = node.span
        match node.combination:
            case "none":
                value = parts[0]
            case "condition":
                test = apply("equal", *_alike(parts[:2]), span=span)
                zero = _number(Fraction(0), node.sources[2].node.kind, span)
                value = apply("select", test, parts[2], zero, span=span)
            case combination:
                value = apply(combination, *_alike(parts), span=span)
        return converted(value, TYPES[node.kind])

    @staticmethod
    def _reduced(
        node: Contraction, region: Region, body: tree.Expression, inner: tuple[Affine, ...], outer: tuple[Affine, ...]
    ) -> tuple[tree.Expression, tuple[Affine, ...]]:
        """Return a reduction and the conditions of its statement. An element without any valid index values is 0."""
        span, join = node.span, _JOINED[node.aggregation]
        if join == "sum" and body.type == "truth":
            join = "max"
        value: tree.Expression = tree.Reduce(
            reduction=join, indices=region.reduced, body=body, conditions=inner, span=span
        )
        if join == "sum" or not inner:
            return value, outer
        valid = inhabited(region)
        if valid is not None:
            return value, tuple(dict.fromkeys((*outer, *valid)))
        yes = _number(Fraction(1), "boolean", span)
        some = tree.Reduce(reduction="max", indices=region.reduced, body=yes, conditions=inner, span=span)
        if join != "product" and body.type != "truth":
            end: tree.End = "lowest" if join == "max" else "highest"
            value = apply(join, tree.Limit(end=end, type=body.type, span=span), value, span=span)
        return apply("select", some, value, _number(Fraction(0), node.kind, span), span=span), outer

    def _element(self, node: Node, at: Subscripts, span: Span | None = None) -> tree.Expression:
        """Return the element of a node at some subscripts. It stands at `span`, or else where the node does."""
        match node:
            case Number(value=value):
                return _number(value, node.kind, node.span)
            case _ if node in self._inside:
                return self._inside[node]
            case _ if node in self._held:
                return tree.Read(tensor=self._held[node], subscripts=at, type=self._type(node), span=span or node.span)
            case _ if node in self._numbers:
                return _number(self._numbers[node], node.kind, node.span)
            case Ordinal(axis=axis):
                return whole_number(at[axis], span or node.span)
            case Elementwise(inputs=inputs):
                return _applied(node, [self._element(operand, stretched(operand, at)) for operand in inputs])
            case _:
                raise AssertionError(f"{node} has no statement")

    def _free(self, name: str) -> str:
        while name in self._tensors or name in self._names.values():
            name += "'"
        return name

    def _index(self, name: str) -> str:
        """Return a name for an index that no tensor has."""
        while name in self._names.values():
            name += "'"
        return name

    def _axes(self, node: Node) -> tuple[Subscripts, tuple[Index, ...]]:
        """Return subscripts and indices over a whole tensor. An extent of 1 needs no index."""
        indices = tuple(
            Index(name=self._index(f"i{axis}"), low=0, high=extent)
            for axis, extent in enumerate(node.shape)
            if extent > 1
        )
        rest = iter(indices)
        at = tuple(Affine.make(0, {next(rest).name: 1} if extent > 1 else {}) for extent in node.shape)
        return at, indices

    def _apart(self, region: Region) -> Region:
        """Return a region whose indices have names that no tensor has."""
        names = {index.name: self._index(index.name) for index in (*region.indices, *region.reduced)}
        return Region(
            indices=tuple(replace(index, name=names[index.name]) for index in region.indices),
            reduced=tuple(replace(index, name=names[index.name]) for index in region.reduced),
            write=_renamed(region.write, names),
            reads=tuple(_renamed(forms, names) for forms in region.reads),
            constraints=_renamed(region.constraints, names),
        )


def labels_of(program: Program) -> set[Input]:
    """Return the tensors that a program learns to predict: those that it names, or the parameters that it reads only
    element by element.
    """
    if not program.steps:
        return set()
    if program.labels is not None:
        return set(program.labels)
    labels = set(program.inputs) - {step.weights for step in program.steps}
    for node in program.nodes():
        if not isinstance(node, Elementwise):
            labels -= {operand for operand in node.operands if isinstance(operand, Input)}
    return labels


def _renamed(forms: Sequence[Affine], names: Mapping[str, str]) -> tuple[Affine, ...]:
    return tuple(
        Affine.make(form.constant, {names[name]: factor for name, factor in form.coefficients}) for form in forms
    )


def _distinct(names: Mapping[Node, str]) -> dict[Node, str]:
    """Return names that a kernel's text can hold."""
    found: dict[Node, str] = {}
    taken: set[str] = set()
    for node, name in names.items():
        name = _NO_NAME.sub("_", name)
        while name in taken:
            name += "'"
        taken.add(name)
        found[node] = name
    return found


def _number(value: Fraction, kind: Kind, span: Span | None) -> tree.Expression:
    """Return a number. A truth value is written as one of an integer."""
    if kind == "boolean":
        return apply("truth", tree.Number(value=value, type="integer", span=span), span=span)
    return tree.Number(value=value, type=TYPES[kind], span=span)


def converted(value: tree.Expression, kind: tree.Type) -> tree.Expression:
    """Return a value as one of a type."""
    match value:
        case _ if value.type == kind:
            return value
        case tree.Number(type="integer") if kind == "real":
            return replace(value, type="real")
        case _:
            return apply(kind, value, span=value.span)


def _alike(parts: Sequence[tree.Expression]) -> list[tree.Expression]:
    """Return operands of one type: reals if one of them is real, else integers. Truth values count as integers."""
    kind: tree.Type = "real" if any(part.type == "real" for part in parts) else "integer"
    return [converted(part, kind) for part in parts]


def _applied(node: Elementwise, parts: list[tree.Expression]) -> tree.Expression:
    """Return an operator of Tile as a function of the kernel."""
    span, kind = node.span, TYPES[node.kind]
    match node.operator:
        case "cast":
            return converted(parts[0], kind)
        case "select":
            test, *values = parts
            values = [converted(value, kind) for value in values]
            return apply("select", converted(test, "truth"), *values, span=span)
        case operator if operator in COMPARISONS:
            return apply(operator, *_alike(parts), span=span)
        case operator if operator in _REALS:
            return apply(_REALS[operator], *(converted(part, "real") for part in parts), span=span)
        case "power" if kind == "real":
            return apply("power", *(converted(part, "real") for part in parts), span=span)
        case "power":
            return _power(node, parts)
        case operator if kind == "truth" and operator in _TRUTHS:
            return apply(_TRUTHS[operator], *parts, span=span)
        case "bit_xor" if kind == "truth":
            return apply("not_equal", *_alike(parts), span=span)
        case "bit_not" if kind == "truth":
            return apply("not", *parts, span=span)
        case operator if operator in _ARITHMETIC:
            return apply(_ARITHMETIC[operator], *(converted(part, kind) for part in parts), span=span)
        case operator:
            assert operator in WHOLE, operator
            return apply(operator, *(converted(part, "integer") for part in parts), span=span)


def _power(node: Elementwise, parts: Sequence[tree.Expression]) -> tree.Expression:
    """Return an integer to the power of a constant, as a product of as many factors."""
    exponent = node.inputs[1]
    assert isinstance(exponent, Number)
    if not exponent.value:
        return _number(Fraction(1), "integer", node.span)
    factors = Index(name="factor'", low=0, high=int(exponent.value))
    body = converted(parts[0], "integer")
    return tree.Reduce(reduction="product", indices=(factors,), body=body, span=node.span)
