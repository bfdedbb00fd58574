"""Contractions as they are written: elements of tensors, their combination, the statement, its constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NoReturn

from tabla.base.source import Span
from tabla.languages.kernel.intervals import Rational, Unbounded
from tabla.languages.tile.dimensions import TensorDim
from tabla.languages.tile.domain import check, largest
from tabla.languages.tile.elementwise import joined, node_of
from tabla.languages.tile.indices import IndexConstraint, IndexExpression, TensorIndex, expression_of
from tabla.languages.tile.places import here, refuse
from tabla.languages.tile.program import (
    Access,
    Aggregation,
    Combination,
    Constraint,
    Contraction,
    Kind,
    Name,
    Node,
    Shape,
    Subscript,
)
from tabla.languages.tile.starts import Start, started


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """The right side of ``O[i] += ...`` on its way to ``__setitem__``."""

    aggregation: Aggregation
    right: object


class Combined:
    """Two or three elements, and how they are combined."""

    __array_ufunc__ = None

    def __init__(self, combination: Combination, parts: Sequence[object]) -> None:
        self.combination, self.parts = combination, tuple(parts)

    def _refuse(self, other: object = None) -> NoReturn:
        refuse(
            "a contraction combines at most two tensors, by one '*' or '+'",
            "compute the rest elementwise, before or after it",
        )

    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = _refuse
    __neg__ = __pow__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class Indexed:
    """An element ``T[i, j]``, on the left of a statement or among its sources. `source` is what its tensor holds."""

    __array_ufunc__ = None

    def __init__(self, source: Node | Pending, key: object) -> None:
        self.source = source
        self.key = key
        self.span = here()

    def __iadd__(self, other: object) -> Statement:
        return Statement("sum", other)

    def __imul__(self, other: object) -> Statement:
        return Statement("product", other)

    def __ge__(self, other: object) -> None:
        output(self.source, "a statement").write("max", self.key, other)

    def __le__(self, other: object) -> None:
        output(self.source, "a statement").write("min", self.key, other)

    def __add__(self, other: object) -> Combined:
        return _combine("add", self, other)

    def __radd__(self, other: object) -> Combined:
        return _combine("add", other, self)

    def __mul__(self, other: object) -> Combined:
        return _combine("multiply", self, other)

    def __rmul__(self, other: object) -> Combined:
        return _combine("multiply", other, self)

    def _refuse(self, other: object = None) -> NoReturn:
        refuse(
            "inside a contraction there is only '*' or '+' of two tensors",
            "compute the rest elementwise, before or after it: Neg = -T",
        )

    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __neg__ = __pow__ = __lt__ = __gt__ = __abs__ = _refuse
    __isub__ = __itruediv__ = __ipow__ = _refuse

    def __eq__(self, other: object) -> NoReturn:
        refuse("'==' is not a statement", "write '=' to assign; compare whole tensors: A == B")

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> NoReturn:
        refuse("an element of a tensor has no value while the function is read", "use select(condition, a, b)")

    def __iter__(self) -> NoReturn:
        refuse("an element of a tensor is not run through", "use an index variable for every dimension")


def _combine(combination: Combination, left: object, right: object) -> Combined:
    for part in (left, right):
        if isinstance(part, Combined):
            part._refuse()
        if not isinstance(part, Indexed | TensorDim | Real):
            what = "a whole tensor" if hasattr(part, "bind_dims") else f"a {type(part).__name__}"
            refuse(f"{what} inside a contraction", "subscript every tensor of a contraction: T[i, j], T[()]")
    return Combined(combination, (left, right))


def condition(left: object, right: object, value: object) -> Combined:
    """Return ``value`` where ``left == right``, else 0: the combination that an argmax needs."""
    for part in (left, right, value):
        if not isinstance(part, Indexed | TensorDim | Real):
            refuse("cond takes elements: cond(I[i, j], M[i], X[j])", "subscript the tensors")
    return Combined("condition", (left, right, value))


class Pending:
    """An output: at first without a statement, then with one that constraints may still narrow, then done."""

    def __init__(self, shape: Shape | None, name: Name, span: Span | None) -> None:
        self._shape, self.name, self.span = shape, name, span
        self._start: Start | None = None
        self._statement: tuple[Aggregation, tuple[IndexExpression, ...], object] | None = None
        self._place: Span | None = None
        self._constraints: list[IndexConstraint] = []
        self._node: Node | None = None

    @property
    def shape(self) -> Shape:
        """The sizes. Where none were given, the statement and its constraints are complete from here on."""
        return self._shape if self._shape is not None else self.node().shape

    def write(self, aggregation: Aggregation, key: object, right: object) -> None:
        """Take the statement. An output has one statement."""
        place = here()
        if self._statement is not None:
            refuse(f"{self._shown} is written twice", "an output takes one statement: make another and add them")
        write = subscripts(key, self._shape, self._shown, place, made=True)
        self._statement, self._place = (aggregation, write, right), place
        if not isinstance(right, Indexed | Combined | TensorDim | Real):
            what = "a whole tensor" if hasattr(right, "bind_dims") else f"a {type(right).__name__}"
            refuse(f"{what} on the right of a contraction", "subscript it: T[i, j]; a single value is T[()]")
        _ = self._sources(Indices())  # ranks are refused here, at the statement

    def begin(self, start: Start) -> None:
        """Take the values that the output has before its statement."""
        if self._node is not None:
            refuse(f"{self._shown} was used already", "init and use_default come directly after the statement")
        if self._start is not None:
            refuse(f"{self._shown} has values to start from already", "write one init or one use_default")
        self._start = start

    def constrain(self, constraint: object) -> None:
        """Add a constraint. The statement must be there already, and nothing may have used its result."""
        if not isinstance(constraint, IndexConstraint):
            refuse("this is not a constraint", "write e < C with index variables on the left: O.add_constraint(j < 2)")
        if self._statement is None:
            refuse(f"{self._shown} has no statement to constrain yet", "add_constraint comes after the statement")
        if self._node is not None:
            refuse(f"{self._shown} was used already", "add_constraint comes directly after the statement")
        self._constraints.append(constraint)

    @property
    def _shown(self) -> str:
        here()  # learns names
        return f"'{self.name.text}'" if self.name.text else "this output"

    def node(self) -> Node:
        """Return the whole tensor. Raises `TablaError` if its statement is missing or means nothing."""
        if self._node is None:
            if self._statement is None:
                refuse(f"{self._shown} is used before it is written", "write a statement into it: O[i] += ...")
            aggregation, write, _ = self._statement
            indices = Indices()
            left = tuple(indices.subscript(each) for each in write)
            combination, sources = self._sources(indices)
            constraints = tuple(
                Constraint(subscript=indices.subscript(c.expression), bound=c.bound, span=c.span)
                for c in self._constraints
            )
            node = Contraction(
                shape=self._shape if self._shape is not None else self._following(left, sources, constraints),
                kind=_kind(aggregation, combination, [source.node.kind for source in sources]),
                name=self.name,
                span=self._place,
                aggregation=aggregation,
                write=left,
                combination=combination,
                sources=sources,
                constraints=constraints,
            )
            check(node)
            self._node = node if self._start is None else started(node, self._start)
        return self._node

    def _following(
        self, write: tuple[Subscript, ...], sources: tuple[Access, ...], constraints: tuple[Constraint, ...]
    ) -> Shape:
        """The smallest shape that holds all that the reads and the constraints let the statement write."""
        ranges = [(c.subscript, c.bound) for c in constraints]
        for source in sources:
            ranges += zip(source.subscripts, source.node.shape, strict=True)
        sizes = []
        for axis, subscript in enumerate(write):
            try:
                last = largest(subscript.value, ranges)
            except Unbounded:
                last = None
            if last is None or last < 0:
                why = "nothing bounds it" if last is None else "the statement writes nothing"
                hint = "give the sizes: TensorOutput(N)"
                refuse(f"the size of dimension {axis} of {self._shown} does not follow: {why}", hint, self._place)
            sizes.append(last + 1)
        return tuple(sizes)

    def _sources(self, indices: Indices) -> tuple[Combination, tuple[Access, ...]]:
        assert self._statement is not None
        right: Any = self._statement[2]
        parts = right.parts if isinstance(right, Combined) else (right,)
        return (
            right.combination if isinstance(right, Combined) else "none",
            tuple(self._access(part, indices) for part in parts),
        )

    def _access(self, part: object, indices: Indices) -> Access:
        if not isinstance(part, Indexed):
            return Access(node=node_of(part), subscripts=(), span=self._place)
        if part.source is self:
            refuse(f"{self._shown} is on both sides of its statement", "read another tensor", part.span)
        node = node_in(part.source)
        shown = f"'{node.name.text}'" if node.name.text else "the tensor"
        places = subscripts(part.key, node.shape, shown, part.span)
        return Access(node=node, subscripts=tuple(indices.subscript(each) for each in places), span=part.span)


def node_in(source: Node | Pending) -> Node:
    """Return the node of a tensor. The statement of an output is complete from here on."""
    return source.node() if isinstance(source, Pending) else source


def output(source: Node | Pending, what: str) -> Pending:
    """Return the output that a tensor holds. If it holds none, `what` was done to the wrong tensor, which is the user's
    fault.
    """
    if not isinstance(source, Pending):
        name = f"'{source.name.text}'" if source.name.text else "this tensor"
        refuse(f"{what}: {name} is not an output", "make one: O = TensorOutput(N)")
    return source


def subscripts(
    key: object, shape: Shape | None, shown: str, span: Span | None, *, made: bool = False
) -> tuple[IndexExpression, ...]:
    """Return the subscripts of an element, as many as the tensor has dimensions. A `shape` of None has any number.

    `made` says that the function makes the tensor itself, so that it may make it in another shape.
    """
    items = key if isinstance(key, tuple) else (key,)
    if len(items) == 1 and isinstance(items[0], list):
        items = tuple(items[0])
    if shape is not None and len(items) != len(shape):
        hint = "write [()]" if not shape else f"its shape is {shape}"
        if made and not shape:
            hint += f" for the single value, or make it as TensorOutput({', '.join(map(_size_name, items))})"
        refuse(f"{shown} has {len(shape)} dimensions and {len(items)} subscripts", hint, span)
    return tuple(expression_of(item, span) for item in items)


def _size_name(subscript: object) -> str:
    """Return what a size is called by the conventions of Tile where an index has a name: ``Y`` for ``y``."""
    name = subscript.name if isinstance(subscript, TensorIndex) else None
    return name.upper() if name else "N"


def _kind(aggregation: Aggregation, combination: Combination, kinds: Sequence[Kind]) -> Kind:
    match combination:
        case "none" if aggregation in ("max", "min", "assign"):
            return kinds[0]
        case "condition":
            return kinds[2] if aggregation in ("max", "min", "assign") else joined(kinds[2:])
        case _:
            return joined(kinds)


class Indices:
    """Gives the index variables of one statement unique names, in the order of their appearance."""

    def __init__(self) -> None:
        self._names: dict[TensorIndex, str] = {}

    def subscript(self, expression: IndexExpression) -> Subscript:
        """Return an index expression with the names of its variables."""
        value, *whole = (
            Rational.make(each.constant, {self._name(index): f for index, f in each.factors.items()})
            for each in (expression, *expression.whole)
        )
        return Subscript(value=value, whole=tuple(dict.fromkeys(whole)))

    def _name(self, index: TensorIndex) -> str:
        if index not in self._names:
            self._names[index] = _unique(index.name or "index", self._names.values())
        return self._names[index]


def _unique(name: str, taken: Iterable[str]) -> str:
    known, number, found = set(taken), 1, name
    while found in known:
        number, found = number + 1, f"{name}{number + 1}"
    return found
