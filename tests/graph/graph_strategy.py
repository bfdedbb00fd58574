"""Random valid graphs, and words to feed them.

`graphs()` draws graphs with inputs, labels, models, partial writes, affine reads of every kind, all operations and
updates. Constants and ordinals fit every format with at least two integer bits; shifts suit every format with at
least `SMALLEST_FRACTION` fraction bits. `words(graph, fmt, seed)` gives one sample and models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import get_args

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from tabla.graph.format import Format
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
    Graph,
    Index,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Product,
    Read,
    Role,
    Statement,
    Tensor,
    Term,
)

SMALLEST_FRACTION = 6
CONSTANTS = [Fraction(n, d) for n, d in ((0, 1), (1, 1), (-1, 1), (1, 2), (-7, 4), (1, 3), (5, 7), (-1, 100), (3, 2))]


@dataclass
class Sketch:
    """A graph that is being drawn; `written` are the elements that may be read."""

    draw: st.DrawFn
    tensors: dict[str, Tensor] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    updates: dict[str, str] = field(default_factory=dict)
    written: dict[str, set[tuple[int, ...]]] = field(default_factory=dict)
    constrained: bool = True
    constraints: tuple[Affine, ...] = ()

    def pick(self, choices: Sequence[object]) -> object:
        return self.draw(st.sampled_from(choices))

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def declare(self, name: str, role: Role, shape: tuple[int, ...], *, filled: bool = False) -> None:
        self.tensors[name] = Tensor(name=name, shape=shape, role=role, filled=filled)
        known = role in ("input", "label", "model")
        self.written[name] = set(product(*map(range, shape))) if known else set()

    def shape(self) -> tuple[int, ...]:
        return tuple(self.integer(1, 4) for _ in range(self.integer(0, 2)))

    def add(
        self,
        target: str,
        write: tuple[Affine, ...],
        indices: tuple[Index, ...],
        operation: Operation,
        reduced: tuple[Index, ...],
    ) -> None:
        """A statement; what it writes may be read from now on."""
        names = {index.name for index in (*indices, *reduced)}
        statement = Statement(
            id=len(self.statements),
            target=target,
            write=write,
            indices=indices,
            operation=operation,
            reduced=reduced,
            constraints=tuple(c for c in self.constraints if names.issuperset(c.names)),
        )
        self.statements.append(statement)
        self.written[target] |= reach(write, indices, self.constraints)

    def operand(self, box: tuple[Index, ...]) -> Operand:
        """A read of written elements, or a constant, or an ordinal that fits two integer bits."""
        kind = self.integer(0, 9)
        if kind == 0:
            return Constant(value=self.draw(st.sampled_from(CONSTANTS)))
        if kind == 1:
            fraction = self.draw(st.sampled_from([0, 0, SMALLEST_FRACTION]))
            return Ordinal(value=self.draw(st.sampled_from(affines(box, -2, 2))), fraction=fraction)
        readable = [name for name, elements in self.written.items() if elements]
        name = self.draw(st.sampled_from(readable))
        # Under constraints a read may reach outside the tensor where they fail.
        margin = 1 if self.constraints else 0
        choices = [affines(box, -margin, extent + margin) for extent in self.tensors[name].shape]
        for _ in range(3 + 3 * margin):
            subscripts = tuple(self.draw(st.sampled_from(choice)) for choice in choices)
            if reach(subscripts, box, self.constraints) <= self.written[name]:
                return Read(tensor=name, subscripts=subscripts)
        element = self.draw(st.sampled_from(sorted(self.written[name])))
        return Read(tensor=name, subscripts=tuple(Affine(constant=position) for position in element))

    def linear(self, indices: tuple[Index, ...], reduced: tuple[Index, ...], terms: int) -> tuple[Term, ...]:
        """Terms over a box, each summed over some of `reduced`."""
        made = []
        for _ in range(terms):
            chosen = tuple(index for index in reduced if self.draw(st.booleans()))
            names = {index.name for index in reduced}
            if any(len(names.intersection(constraint.names)) > 1 for constraint in self.constraints):
                chosen = reduced if chosen else ()
            factors = tuple(self.operand((*indices, *chosen)) for _ in range(self.integer(1, 2)))
            sign = 1 if self.integer(0, 2) else -1
            made.append(Term(factors=factors, sign=sign, reduce=tuple(index.name for index in chosen)))
        return tuple(made)

    def operation(self, indices: tuple[Index, ...], reduced: tuple[Index, ...]) -> Operation:
        match self.pick(["linear"] * 5 + ["compare", "function", "function", "divide", "product", "extreme"]):
            case "linear":
                terms = self.linear(indices, reduced, self.integer(1, 3))
                return Linear(terms=terms, shift=self.integer(-3, 5) if self.integer(0, 3) == 0 else 0)
            case "compare":
                op = self.draw(st.sampled_from(get_args(CompareOp)))
                return Compare(op=op, left=self.operand(indices), right=self.operand(indices))
            case "function":
                name = self.draw(st.sampled_from([f.name for f in FUNCTIONS.values() if f.operands == 1]))
                return Function(name=name, operand=self.operand(indices))
            case "divide":
                fraction = 10 if self.integer(0, 2) == 0 else None
                return Divide(left=self.operand(indices), right=self.operand(indices), fraction=fraction)
            case "extreme":
                op = self.draw(st.sampled_from(get_args(ExtremeOp)))
                operands = tuple(self.operand((*indices, *reduced)) for _ in range(self.integer(1, 3)))
                initial = self.operand(indices) if self.integer(0, 2) == 0 else None
                reduce = tuple(index.name for index in reduced)
                return Extreme(op=op, operands=operands, reduce=reduce, initial=initial)
            case _:
                names = tuple(index.name for index in reduced)
                initial = self.operand(indices) if self.integer(0, 2) == 0 else None
                shift = self.integer(-SMALLEST_FRACTION, 2) if self.integer(0, 3) == 0 else 0
                return Product(operand=self.operand((*indices, *reduced)), reduce=names, initial=initial, shift=shift)

    def indices(self, names: str) -> tuple[Index, ...]:
        made = []
        for name in names:
            low = self.integer(-1, 1)
            made.append(Index(name=name, low=low, high=low + self.integer(1, 4)))
        return tuple(made)

    def reduced(self, operation: Operation, candidates: tuple[Index, ...]) -> tuple[Index, ...]:
        """The summed indices that an operation names."""
        match operation:
            case Linear(terms=terms):
                names = {name for term in terms for name in term.reduce}
            case Product(reduce=reduce) | Extreme(reduce=reduce):
                names = set(reduce)
            case _:
                names = set()
        return tuple(index for index in candidates if index.name in names)

    def statement(self, target: str, write: tuple[Affine, ...], indices: tuple[Index, ...]) -> None:
        candidates = self.indices("pq"[: self.integer(0, 2)])
        self.constraints = self.some_constraints((*indices, *candidates))
        operation = self.operation(indices, candidates)
        self.add(target, write, indices, operation, self.reduced(operation, candidates))
        self.constraints = ()

    def some_constraints(self, box: tuple[Index, ...]) -> tuple[Affine, ...]:
        """None, or up to two that leave a part of the box."""
        if not self.constrained or not box or self.integer(0, 2):
            return ()
        chosen = self.draw(st.lists(st.sampled_from(affines(box, -3, 3)), max_size=2))
        outputs = [index for index in box if index.name not in "pq"]
        kept = tuple(dict.fromkeys(c for c in chosen if c.names))
        # Something must be written.
        return kept if reach((), outputs, kept) else ()

    def value(self, name: str) -> None:
        """A new tensor: written whole, in part, or by two statements of which the second may read the first."""
        indices = self.indices("ij"[: self.integer(0, 2)])
        strides = [self.draw(st.sampled_from([1, 1, 1, 2, -1])) for _ in indices]
        write, shape = [], []
        for index, stride in zip(indices, strides, strict=True):
            margin = self.integer(0, 1)
            write.append(Affine.make(margin - min(stride * index.low, stride * (index.high - 1)), {index.name: stride}))
            shape.append(abs(stride) * (index.extent - 1) + 1 + margin + self.integer(0, 1))
        if len(write) == 2 and self.draw(st.booleans()):
            write.reverse()
            shape.reverse()
        first = indices[0] if indices else None
        if first and first.extent > 1 and self.draw(st.booleans()):
            middle = self.integer(first.low + 1, first.high - 1)
            self.declare(name, "value", tuple(shape))
            for part in (replace(first, high=middle), replace(first, low=middle)):
                self.statement(name, tuple(write), (part, *indices[1:]))
            return
        if self.integer(0, 3) == 0:
            write.append(Affine(constant=self.integer(0, 1)))
            shape.append(2)
        self.declare(name, "value", tuple(shape))
        self.statement(name, tuple(write), indices)

    def clone(self, name: str) -> None:
        """An earlier statement again, its indices renamed, into a tensor of its own."""
        old = self.draw(st.sampled_from(self.statements))
        names = {index.name: f"{index.name}{name[1:]}" for index in (*old.indices, *old.reduced)}
        new = renamed(old, names)
        self.constraints = new.constraints
        self.declare(name, "value", self.tensors[old.target].shape)
        self.add(name, new.write, new.indices, new.operation, new.reduced)
        self.constraints = ()

    def whole(self, name: str) -> str:
        """A tensor with a value for every element: this one, or one that holds what its first statement wrote."""
        tensor = self.tensors[name]
        if len(self.written[name]) == tensor.size:
            return name
        source = next(s for s in self.statements if s.target == name)
        dense = f"{name}.dense"
        names = {index.name for index in source.indices}
        self.constraints = tuple(c for c in source.constraints if names.issuperset(c.names))
        filled = bool(self.constraints)
        self.declare(dense, "value", tuple(index.extent for index in source.indices), filled=filled)
        write = tuple(Affine.make(-index.low, {index.name: 1}) for index in source.indices)
        word = Term(factors=(Read(tensor=name, subscripts=source.write),), sign=self.draw(st.sampled_from([1, -1])))
        self.add(dense, write, source.indices, Linear(terms=(word,)), ())
        self.constraints = ()
        return dense

    def update(self, model: str) -> None:
        """The next value of a model, or of a part of it."""
        shape = self.tensors[model].shape
        indices = []
        for name, extent in zip("ij", shape, strict=False):
            low = self.integer(0, extent - 1)
            indices.append(Index(name=name, low=low, high=self.integer(low + 1, extent)))
        write = tuple(Affine.of(**{index.name: 1}) for index in indices)
        following = f"{model}.next"
        self.declare(following, "next", shape)
        self.updates[model] = following
        candidates = self.indices("p"[: self.integer(0, 1)])
        self.constraints = self.some_constraints((*indices, *candidates))
        step = self.linear(tuple(indices), candidates, self.integer(1, 2))
        own = () if self.integer(0, 5) == 0 else (Term(factors=(Read(tensor=model, subscripts=write),)),)
        operation = Linear(terms=(*own, *step), shift=self.integer(-3, 8))
        self.add(following, write, tuple(indices), operation, self.reduced(operation, candidates))
        self.constraints = ()
        # A next value is not read: it belongs to the sample after.
        self.written[following] = set()


def affines(box: tuple[Index, ...], low: int, high: int) -> list[Affine]:
    """Subscripts that stay in [low, high) over a box: constants, and one or two indices with small factors."""
    found = [Affine(constant=value) for value in range(low, high)]
    indices = {index.name: index for index in box}
    shapes: list[dict[str, int]] = [{name: factor} for name in indices for factor in (1, -1, 2)]
    shapes += [{a: 1, b: 1} for a in indices for b in indices if a < b]
    for shape in shapes:
        least, most = Affine.make(0, shape).bounds(indices)
        found += [Affine.make(offset, shape) for offset in range(low - least, high - most)]
    # Later entries mention indices: hypothesis shrinks towards constants.
    return found + [a for a in found if a.names] * 2


def reach(
    subscripts: tuple[Affine, ...], box: Sequence[Index], constraints: Sequence[Affine] = ()
) -> set[tuple[int, ...]]:
    """The elements that subscripts take over a box, where the constraints on its indices hold."""
    names = [index.name for index in box]
    ranges = [range(index.low, index.high) for index in box]
    known = [c for c in constraints if set(names).issuperset(c.names)]
    points = (dict(zip(names, values, strict=True)) for values in product(*ranges))
    return {tuple(s.at(point) for s in subscripts) for point in points if all(c.at(point) >= 0 for c in known)}


def renamed(statement: Statement, names: dict[str, str]) -> Statement:
    """The same statement with other index names."""

    def affine(old: Affine) -> Affine:
        return Affine.make(old.constant, {names[name]: c for name, c in old.coefficients})

    def operand(old: Operand) -> Operand:
        match old:
            case Read():
                return replace(old, subscripts=tuple(map(affine, old.subscripts)))
            case Ordinal():
                return replace(old, value=affine(old.value))
            case Constant():
                return old

    def operation(old: Operation) -> Operation:
        match old:
            case Linear():
                terms = [
                    replace(t, factors=tuple(map(operand, t.factors)), reduce=tuple(names[n] for n in t.reduce))
                    for t in old.terms
                ]
                return replace(old, terms=tuple(terms))
            case Compare() | Divide():
                return replace(old, left=operand(old.left), right=operand(old.right))
            case Function():
                return replace(old, operand=operand(old.operand))
            case Product():
                initial = None if old.initial is None else operand(old.initial)
                reduce = tuple(names[n] for n in old.reduce)
                return replace(old, operand=operand(old.operand), reduce=reduce, initial=initial)
            case Extreme():
                operands, reduce = tuple(map(operand, old.operands)), tuple(names[n] for n in old.reduce)
                initial = None if old.initial is None else operand(old.initial)
                return replace(old, operands=operands, reduce=reduce, initial=initial)

    return replace(
        statement,
        write=tuple(map(affine, statement.write)),
        constraints=tuple(map(affine, statement.constraints)),
        indices=tuple(replace(index, name=names[index.name]) for index in statement.indices),
        reduced=tuple(replace(index, name=names[index.name]) for index in statement.reduced),
        operation=operation(statement.operation),
    )


@st.composite
def graphs(draw: st.DrawFn, most_values: int = 5, *, constrained: bool = True) -> Graph:
    """A random valid graph with up to `most_values` value tensors."""
    sketch = Sketch(draw, constrained=constrained)
    sketch.declare("x", "input", sketch.shape())
    if draw(st.booleans()):
        sketch.declare("y", "label", sketch.shape())
    models = ["w", "v"][: sketch.integer(0, 2)]
    for model in models:
        sketch.declare(model, "model", sketch.shape())
    values = [f"t{n}" for n in range(sketch.integer(1, most_values))]
    for name in values:
        if sketch.statements and sketch.integer(0, 4) == 0:
            sketch.clone(name)
        else:
            sketch.value(name)
    for model in models:
        if sketch.integer(0, 3):
            sketch.update(model)
    shown = [name for name in values if name == values[-1] or draw(st.booleans())]
    results = tuple((name, sketch.whole(name)) for name in shown)
    return Graph(
        name="random",
        tensors=sketch.tensors,
        statements=tuple(sketch.statements),
        updates=sketch.updates,
        results=results,
    )


def words(
    graph: Graph, fmt: Format, seed: int, samples: int | None = None
) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.int64]]]:
    """Inputs (with a leading axis if `samples` is given) and models: corners, small and any words."""
    random = np.random.default_rng(seed)
    corners = np.array([fmt.lowest, fmt.highest, 0, 1, -1, fmt.one, -fmt.one])

    def fill(shape: tuple[int, ...]) -> NDArray[np.int64]:
        wide = random.integers(fmt.lowest, fmt.highest + 1, shape)
        scaled = wide >> random.integers(0, fmt.width, shape)
        chosen = np.where(random.random(shape) < 0.2, random.choice(corners, shape), scaled)
        return np.asarray(chosen, dtype=np.int64)

    inputs, models = {}, {}
    for name, tensor in graph.tensors.items():
        if tensor.role in ("input", "label"):
            inputs[name] = fill(tensor.shape if samples is None else (samples, *tensor.shape))
        elif tensor.role == "model":
            models[name] = fill(tensor.shape)
    return inputs, models
