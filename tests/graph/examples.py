"""Small graphs that everybody knows, written by hand."""

from __future__ import annotations

from fractions import Fraction

from tabla.graph.graph import Affine, Constant, Function, Graph, Index, Linear, Operation, Read, Statement, Tensor, Term


def at(tensor: str, *names: str) -> Read:
    """A tensor's element at plain indices."""
    return Read(tensor=tensor, subscripts=tuple(Affine.of(**{name: 1}) for name in names))


class Builder:
    """Collects tensors and statements."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.statements: list[Statement] = []

    def tensor(self, name: str, role: str, *shape: int) -> None:
        """Declare."""
        self.tensors[name] = Tensor(name=name, shape=shape, role=role)  # type: ignore[arg-type]

    def let(self, target: str, names: str, operation: Operation, reduced: str = "", **extents: int) -> None:
        """A statement over boxes from 0; `names` and `reduced` are one-letter indices."""
        box = {name: Index(name=name, low=0, high=extents[name]) for name in names + reduced}
        self.statements.append(
            Statement(
                id=len(self.statements),
                target=target,
                write=tuple(Affine.of(**{name: 1}) for name in names),
                indices=tuple(box[name] for name in names),
                operation=operation,
                reduced=tuple(box[name] for name in reduced),
            )
        )

    def graph(self, name: str, updates: dict[str, str], results: tuple[tuple[str, str], ...] = ()) -> Graph:
        """Done."""
        statements = tuple(self.statements)
        return Graph(name=name, tensors=self.tensors, statements=statements, updates=updates, results=results)


def product(left: Read, right: Read, reduce: str = "", sign: int = 1) -> Term:
    """A two-factor term."""
    return Term(factors=(left, right), sign=sign, reduce=tuple(reduce))


def word(read: Read, sign: int = 1) -> Term:
    """A one-factor term."""
    return Term(factors=(read,), sign=sign)


def logistic(features: int, rate: Fraction = Fraction(3, 4), shift: int = 3) -> Graph:
    """Logistic regression: p = sigmoid(sum(w*x)), w -= rate * 2^-shift * (p - y) * x."""
    b = Builder()
    b.tensor("x", "input", features)
    b.tensor("y", "label")
    b.tensor("w", "model", features)
    for name in ("s", "p", "e", "e.m"):
        b.tensor(name, "value")
    b.tensor("w.next", "next", features)
    b.let("s", "", Linear(terms=(product(at("w", "i"), at("x", "i"), "i"),)), "i", i=features)
    b.let("p", "", Function(name="sigmoid", operand=at("s")))
    b.let("e", "", Linear(terms=(word(at("p")), word(at("y"), -1))))
    b.let("e.m", "", Linear(terms=(Term(factors=(Constant(value=rate), at("e"))),)))
    step = (word(at("w", "i")), product(at("e.m"), at("x", "i"), sign=-1))
    b.let("w.next", "i", Linear(terms=step, shift=shift), i=features)
    return b.graph("logistic", {"w": "w.next"}, (("p", "p"),))


def backpropagation(inputs: int, hidden: int, outputs: int, shift: int = 3) -> Graph:
    """One hidden layer of sigmoids, squared error, mu = 2^-shift."""
    b = Builder()
    b.tensor("x", "input", inputs)
    b.tensor("y", "label", outputs)
    b.tensor("w1", "model", hidden, inputs)
    b.tensor("w2", "model", outputs, hidden)
    for name, extent in (("s1", hidden), ("h", hidden), ("s2", outputs), ("p", outputs), ("e", outputs)):
        b.tensor(name, "value", extent)
    for name in ("back", "h.t1", "h.t2", "d"):
        b.tensor(name, "value", hidden)
    b.tensor("w1.next", "next", hidden, inputs)
    b.tensor("w2.next", "next", outputs, hidden)
    b.let("s1", "j", Linear(terms=(product(at("w1", "j", "i"), at("x", "i"), "i"),)), "i", i=inputs, j=hidden)
    b.let("h", "j", Function(name="sigmoid", operand=at("s1", "j")), j=hidden)
    b.let("s2", "k", Linear(terms=(product(at("w2", "k", "j"), at("h", "j"), "j"),)), "j", j=hidden, k=outputs)
    b.let("p", "k", Function(name="sigmoid", operand=at("s2", "k")), k=outputs)
    b.let("e", "k", Linear(terms=(word(at("p", "k")), word(at("y", "k"), -1))), k=outputs)
    b.let("back", "j", Linear(terms=(product(at("w2", "k", "j"), at("e", "k"), "k"),)), "k", j=hidden, k=outputs)
    b.let("h.t1", "j", Linear(terms=(Term(factors=(Constant(value=Fraction(1)),)), word(at("h", "j"), -1))), j=hidden)
    b.let("h.t2", "j", Linear(terms=(product(at("h", "j"), at("h.t1", "j")),)), j=hidden)
    b.let("d", "j", Linear(terms=(product(at("back", "j"), at("h.t2", "j")),)), j=hidden)
    step = (word(at("w2", "k", "j")), product(at("e", "k"), at("h", "j"), sign=-1))
    b.let("w2.next", "kj", Linear(terms=step, shift=shift), k=outputs, j=hidden)
    step = (word(at("w1", "j", "i")), product(at("d", "j"), at("x", "i"), sign=-1))
    b.let("w1.next", "ji", Linear(terms=step, shift=shift), j=hidden, i=inputs)
    return b.graph("backpropagation", {"w1": "w1.next", "w2": "w2.next"})
