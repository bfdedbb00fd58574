"""The integer bits with which nothing saturates once more, from a float64 trace: nothing of the chooser is imported."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tabla.graph.evaluate_float import FloatPlan
from tabla.graph.graph import Compare, Constant, Divide, Function, Graph, Linear, Read

Arrays = Mapping[str, np.ndarray]


def data(graph: Graph, factor: object) -> bool:
    """Whether a factor is a constant or comes with the sample."""
    read = isinstance(factor, Read) and graph.tensors[factor.tensor].role in ("input", "label")
    return read or isinstance(factor, Constant)


def recomputed(graph: Graph, samples: Arrays, models: Arrays, count: int, epochs: int, width: int) -> int:
    """I, with the bounds that are plain to see: of data, of comparisons, of sigmoid and tanh."""
    plan = FloatPlan.of(graph)
    plan.load(models)
    largest: dict[str, float] = {}
    for step in range(count * epochs):
        plan.memory.feed({name: array[step % count] for name, array in samples.items()})
        plan.compute()
        for name, buffer in plan.memory.buffers.items():
            largest[name] = max(largest.get(name, 0.0), float(np.abs(buffer).max()))
        plan.memory.commit()
    largest |= {name: max(largest[name], largest[after]) for name, after in graph.updates.items()}
    needs = {name: 2 * value for name, value in largest.items()}
    fed = [n for n, t in graph.tensors.items() if t.role in ("input", "label", "model") and n not in graph.updates]
    needs |= {name: largest[name] for name in fed}
    for statement in graph.statements:
        match statement.operation:
            case Compare() | Function(name="sigmoid" | "tanh" | "gaussian"):
                needs[statement.target] = min(needs[statement.target], 1.0)
            case Linear(terms=terms, test=None) if all(data(graph, f) for f in statement.operands):
                sizes = lambda f: abs(float(f.value)) if isinstance(f, Constant) else largest[f.tensor]  # noqa: E731
                points = [math.prod(statement.box[name].extent for name in term.reduce) for term in terms]
                bound = sum(n * math.prod(map(sizes, t.factors)) for n, t in zip(points, terms, strict=True))
                needs[statement.target] = min(needs[statement.target], bound)
        divides = isinstance(statement.operation, Divide) and statement.operation.fraction is None
        lone = isinstance(statement.operation, Linear) and [len(t.factors) for t in statement.operation.terms] == [2]
        counted = () if lone else statement.operands[: -1 if divides else None]
        needs |= {f"constant {o.value}": abs(float(o.value)) for o in counted if isinstance(o, Constant)}
    integer = 2
    while max(needs.values()) > 2.0 ** (integer - 1) - 2.0 ** -max(0, width - integer):
        integer += 1
    return integer
