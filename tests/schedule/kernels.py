"""Kernels with constraints, as graphs: what front ends make of padding, truncation, bands and triangles."""

from __future__ import annotations

from dataclasses import replace

from tabla.graph.graph import Affine, Extreme, Graph, Linear, Read
from tests.graph.examples import Builder, at, product


def constrained(graph: Graph, position: int, *constraints: Affine) -> Graph:
    statements = list(graph.statements)
    statements[position] = replace(statements[position], constraints=constraints)
    return replace(graph, statements=tuple(statements))


def padded(size: int = 5, channels: int = 2, filters: int = 4) -> Graph:
    """A 3x3 convolution whose edges see zeros, and the largest of each 3x3 window of the result."""
    b = Builder()
    b.tensor("x", "input", channels, size, size)
    b.tensor("w", "model", filters, channels, 3, 3)
    b.tensor("y", "value", filters, size, size)
    b.tensor("m", "value", filters, size, size)
    window = (Affine.of(-1, a=1, k=1), Affine.of(-1, b=1, l=1))
    upper = tuple(Affine.make(size, dict.fromkeys(c.names, -1)) for c in window)
    image = Read(tensor="x", subscripts=(Affine.of(c=1), *window))
    box = {"a": size, "b": size, "k": 3, "l": 3}
    term = product(image, at("w", "d", "c", "k", "l"), "ckl")
    b.let("y", "dab", Linear(terms=(term,)), "ckl", d=filters, c=channels, **box)
    tap = Read(tensor="y", subscripts=(Affine.of(d=1), *window))
    b.let("m", "dab", Extreme(op="max", operands=(tap,), reduce=("k", "l")), "kl", d=filters, **box)
    graph = b.graph("padded", {}, (("m", "m"), ("y", "y")))
    for position in (0, 1):
        graph = constrained(graph, position, *window, *upper)
    return graph


def triangle(size: int = 6) -> Graph:
    """Running sums s[i] over j <= i, and a matrix that is zero above its diagonal."""
    b = Builder()
    b.tensor("x", "input", size)
    b.tensor("w", "model", size)
    b.tensor("s", "value", size)
    b.tensor("t", "value", size, size)
    b.tensors["t"] = replace(b.tensors["t"], filled=True)
    b.tensor("r", "value", size)
    b.let("s", "i", Linear(terms=(product(at("w", "j"), at("x", "j"), "j"),)), "j", i=size, j=size)
    b.let("t", "ij", Linear(terms=(product(at("s", "i"), at("x", "j")),)), i=size, j=size)
    b.let("r", "j", Linear(terms=(product(at("t", "i", "j"), at("w", "i"), "i"),)), "i", i=size, j=size)
    graph = b.graph("triangle", {}, (("r", "r"), ("t", "t")))
    for position in (0, 1):
        graph = constrained(graph, position, Affine.of(0, i=1, j=-1))
    return graph
