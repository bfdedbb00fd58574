"""From the tree of a statement to the statement of a graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import get_args

from tabla.base.source import Label, Span, TablaError
from tabla.graph.functions import FUNCTIONS
from tabla.graph.graph import (
    Affine,
    Compare,
    CompareOp,
    Constant,
    Divide,
    Extreme,
    ExtremeOp,
    Function,
    Gather,
    Gathered,
    Index,
    Landing,
    Linear,
    Operand,
    Operation,
    Read,
    Scatter,
    Statement,
    Tensor,
    Term,
    is_stored,
)
from tabla.graph.graph import Ordinal as IndexValue
from tabla.graph.graph import Product as Products
from tabla.languages.graph_text.tree import (
    Comparison,
    Element,
    Line,
    Node,
    Number,
    Ordinal,
    Parenthesis,
    Power,
    Product,
    Sum,
)

_ORDINAL = re.compile(r"\((?P<form>[^()]+)\)/2\^(?P<fraction>[0-9]+)|(?P<whole>[^()/^]+)")
_PART = re.compile(r"(?P<sign>[+-]?)(?:(?P<count>[0-9]+)(?:\*(?P<scaled>[^\W\d][\w.']*))?|(?P<name>[^\W\d][\w.']*))")
_EXTREMES: tuple[ExtremeOp, ...] = get_args(ExtremeOp)
_COMPARISONS: tuple[CompareOp, ...] = get_args(CompareOp)
_AS_PRINTED = "write it as tabla gen --emit graph prints it"


def refused(message: str, span: Span, hint: str = _AS_PRINTED) -> TablaError:
    """Return the error of a place in the text of a graph."""
    return TablaError(message, Label(span), hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """Makes a statement of a line. `tensors` are the tensors of the graph by name, and `line` is the tree."""

    tensors: Mapping[str, Tensor]
    line: Line

    def statement(self, number: int) -> Statement:
        """Return the statement with its number. What is no statement of a graph is a `TablaError` at its place."""
        line = self.line
        target = self._tensor(line.target)
        write = tuple(self._affine(each) for each in self._flat(line.target))
        written = {name for form in write for name in form.names}
        box = [self._index(each.name, each.low, each.high, each.span) for each in line.box]
        operation = self._operation(line.value)
        if isinstance(operation, Linear) and any(map(is_stored, operation.terms)):
            operation = replace(operation, guard=target.guard)
        return Statement(
            id=number,
            target=target.name,
            write=write,
            indices=tuple(each for each in box if each.name in written),
            operation=operation,
            reduced=tuple(each for each in box if each.name not in written),
            constraints=tuple(self._constraint(each) for each in line.constraints),
            span=line.span,
        )

    def _index(self, name: str, low: int, high: int, span: Span) -> Index:
        if low >= high:
            raise refused(f"'{name}' has no value in [{low}, {high})", span, "the second bound is the first value past")
        return Index(name=name, low=low, high=high)

    def _tensor(self, element: Element) -> Tensor:
        if element.name not in self.tensors:
            raise refused(f"there is no tensor '{element.name}'", element.span, "declare it above the statements")
        return self.tensors[element.name]

    @property
    def _indices(self) -> frozenset[str]:
        return frozenset(each.name for each in self.line.box)

    @staticmethod
    def _flat(element: Element) -> tuple[Node, ...]:
        """Return the subscripts of an element, one in each pair of brackets."""
        for group in element.groups:
            if len(group) != 1:
                raise refused(f"'{element.name}' has two subscripts in one pair of brackets", element.span)
        return tuple(group[0] for group in element.groups)

    def _constraint(self, node: Node) -> Affine:
        match node:
            case Comparison(op=">=", left=left, right=Number(text="0")):
                return self._affine(left)
            case _:
                raise refused("a condition is a form of indices that is at least 0, such as i-j >= 0", node.span)

    def _affine(self, node: Node) -> Affine:
        """Return a form of indices. Anything else is a `TablaError`."""
        match node:
            case Number(text=text) if text.isdigit():
                return Affine.of(int(text))
            case Element(name=name, groups=(), arguments=None) if name in self._indices:
                return Affine.index(name)
            case Product(factors=((False, Number(text=text)), (False, index))) if text.isdigit():
                form = self._affine(index)
                if form.constant or len(form.names) != 1:
                    raise refused("a whole number scales one index", node.span)
                return Affine.make(0, {form.names[0]: int(text) * form.coefficient(form.names[0])})
            case Sum(terms=terms):
                constant, coefficients = 0, dict[str, int]()
                for sign, each in terms:
                    form = self._affine(each)
                    constant += sign * form.constant
                    for name, factor in form.coefficients:
                        coefficients[name] = coefficients.get(name, 0) + sign * factor
                return Affine.make(constant, coefficients)
            case _:
                raise refused("this is no sum of indices and whole numbers", node.span)

    def _subscript(self, node: Node) -> Affine | Gathered:
        """Return a subscript of a gather: a form of indices, or a word of a tensor with such a form."""
        terms = node.terms if isinstance(node, Sum) else ((1, node),)
        sign, first = terms[0]
        match first:
            case Element(arguments=None, name=name) if sign > 0 and name not in self._indices:
                rest = Sum(terms=terms[1:], span=node.span) if terms[1:] else None
                offset = Affine() if rest is None else self._affine(rest)
                return Gathered(table=self._read(first), offset=offset)
            case _:
                return self._affine(node)

    def _read(self, element: Element) -> Read:
        tensor = self._tensor(element)
        subscripts = tuple(self._affine(each) for each in self._flat(element))
        if len(subscripts) != len(tensor.shape):
            raise refused(f"'{tensor.name}' has {len(tensor.shape)} axes, not {len(subscripts)}", element.span)
        return Read(tensor=tensor.name, subscripts=subscripts, span=element.span)

    def _operand(self, node: Node) -> Operand:
        match node:
            case Number(text=text, span=span):
                return Constant(value=Fraction(text), span=span)
            case Parenthesis(inner=inner, span=span) if (value := _constant(inner)) is not None:
                return Constant(value=value, span=span)
            case Ordinal(text=text, span=span):
                return self._ordinal(text, span)
            case Element(arguments=None):
                return self._read(node)
            case _:
                raise refused("this is no tensor, number or value of indices", node.span)

    def _ordinal(self, text: str, span: Span) -> IndexValue:
        found = _ORDINAL.fullmatch(text)
        form = (found["form"] or found["whole"]) if found else ""
        parts = list(_PART.finditer(form))
        if not form or "".join(part.group() for part in parts) != form:
            raise refused("this is no value of indices", span)
        constant, coefficients = 0, dict[str, int]()
        for part in parts:
            sign, name = -1 if part["sign"] == "-" else 1, part["name"] or part["scaled"]
            count = int(part["count"] or 1)
            if name is None:
                constant += sign * count
            elif name not in self._indices:
                raise refused(f"'{name}' is no index of the statement", span)
            else:
                coefficients[name] = coefficients.get(name, 0) + sign * count
        fraction = int(found["fraction"] or 0) if found else 0
        return IndexValue(value=Affine.make(constant, coefficients), fraction=fraction, span=span)

    def _operation(self, node: Node) -> Operation:
        match node:
            case Comparison(op=op, left=Parenthesis(inner=inner), right=Number(text="0")) if (
                op in ("<", ">=") and _constant(inner) is None
            ):
                return replace(self._linear(inner), test="<" if op == "<" else ">=")
            case Comparison(op=op, left=left, right=right):
                (known,) = (each for each in _COMPARISONS if each == op)
                return Compare(op=known, left=self._operand(left), right=self._operand(right))
            case Product(factors=((False, left), (True, right))):
                return Divide(left=self._operand(left), right=self._operand(right))
            case Product(factors=((False, Element(name="trunc", arguments=(inner,))), (False, Power(exponent=power)))):
                match inner:
                    case Product(factors=((False, left), (True, right))):
                        return Divide(left=self._operand(left), right=self._operand(right), fraction=-power)
                raise refused("a quotient of two operands is truncated, and nothing else", inner.span)
            case Product(factors=((False, initial), (False, Element(name="pi", arguments=(_,)) as over))):
                return replace(self._product(over), initial=self._operand(initial))
            case Element(name="pi", arguments=(_,)):
                return self._product(node)
            case Element(name=name, arguments=arguments) if arguments is not None and name in _EXTREMES:
                return self._extreme(node)
            case Element(name="scatter", arguments=tuple()) if "scatter" not in self.tensors:
                return self._scatter(node)
            case Element(name=name, groups=(), arguments=(operand,)) if name in FUNCTIONS:
                return Function(name=name, operand=self._operand(operand))
            case Element(name=name, arguments=None) if self._gathers(node):
                subscripts = tuple(self._subscript(each) for each in self._flat(node))
                return Gather(tensor=self._tensor(node).name, subscripts=subscripts)
            case _:
                return self._linear(node)

    def _gathers(self, element: Element) -> bool:
        """Return whether some subscript of an element is decided by data."""
        return any(isinstance(self._subscript(each), Gathered) for each in self._flat(element))

    def _names(self, element: Element) -> tuple[str, ...]:
        """Return the indices in the one pair of brackets behind ``sum``, ``pi``, ``max`` or ``min``."""
        inside = [each for group in element.groups for each in group]
        names = [each.name for each in inside if isinstance(each, Element) and not each.groups]
        if len(element.groups) > 1 or len(names) < len(inside) or not self._indices.issuperset(names):
            raise refused(f"'{element.name}' has indices of the statement in one pair of brackets", element.span)
        return tuple(names)

    def _product(self, element: Element) -> Products:
        assert element.arguments is not None
        (inside,) = element.arguments
        match inside:
            case Product(factors=((False, operand), (False, Power(exponent=power)))):
                return Products(operand=self._operand(operand), reduce=self._names(element), shift=-power)
            case _:
                return Products(operand=self._operand(inside), reduce=self._names(element))

    def _extreme(self, element: Element) -> Extreme:
        assert element.arguments is not None
        (op,) = (each for each in _EXTREMES if each == element.name)
        match element.arguments:
            case (initial, Element(name=name, arguments=tuple()) as inner) if name == op and name not in self.tensors:
                return replace(self._extreme(inner), initial=self._operand(initial))
            case operands:
                reduce = self._names(element) if element.groups else ()
                return Extreme(op=op, operands=tuple(map(self._operand, operands)), reduce=reduce)

    def _scatter(self, element: Element) -> Scatter:
        """Return a scatter: ``scatter[i](U[r][k], U[at[i]][k], new[i][k])``."""
        assert element.arguments is not None
        kept, *landed = (self._element(each) for each in element.arguments)
        if len(landed) % 2 or not landed:
            raise refused("a scatter has an element, and pairs of a place and a word", element.span)
        landings = []
        for place, value in zip(landed[::2], landed[1::2], strict=True):
            subscripts = tuple(self._subscript(each) for each in self._flat(place))
            landings.append(Landing(subscripts=subscripts, value=self._read(value)))
        names = self._names(element) if element.groups else ()
        return Scatter(kept=self._read(kept), landings=tuple(landings), reduce=names)

    def _element(self, node: Node) -> Element:
        match node:
            case Element(arguments=None):
                return node
            case _:
                raise refused("a scatter has elements of tensors, and nothing else", node.span)

    def _linear(self, node: Node) -> Linear:
        """Return a sum of terms. All products of a sum are scaled by the same power of two."""
        terms = node.terms if isinstance(node, Sum) else ((1, node),)
        made = [self._term(sign, each) for sign, each in terms]
        shifts = {shift for term, shift in made if len(term.factors) == 2}
        if len(shifts) > 1:
            raise refused("the products of a sum are scaled by one power of two", node.span)
        return Linear(terms=tuple(term for term, _ in made), shift=shifts.pop() if shifts else 0)

    def _term(self, sign: int, node: Node) -> tuple[Term, int]:
        match node:
            case Element(name="sum", arguments=(inside,)):
                term, shift = self._term(sign, inside)
                return replace(term, reduce=self._names(node)), shift
            case Element(name="stored", groups=(), arguments=(Element(arguments=None) as inside,)):
                return Term(factors=(replace(self._read(inside), stored=True),), sign=sign), 0
            case Product(factors=((False, left), (False, Power(exponent=power)))):
                raise refused("a power of two scales a product of two operands", node.span)
            case Product(factors=((False, left), (False, right), (False, Power(exponent=power)))):
                return Term(factors=(self._operand(left), self._operand(right)), sign=sign), -power
            case Product(factors=((False, left), (False, right))):
                return Term(factors=(self._operand(left), self._operand(right)), sign=sign), 0
            case Product():
                raise refused("a product has two operands", node.span)
            case _:
                return Term(factors=(self._operand(node),), sign=sign), 0


def _constant(node: Node) -> Fraction | None:
    """Return the constant that stands in parentheses, such as -0.5 or 3/7; None if there is none."""
    match node:
        case Number(text=text):
            return Fraction(text)
        case Sum(terms=((sign, inner),)) if (value := _constant(inner)) is not None:
            return sign * value
        case Product(factors=((False, Number(text=left)), (True, Number(text=right)))) if Fraction(right):
            return Fraction(left) / Fraction(right)
        case _:
            return None
