"""The same kernel in TABLA, Tensor Comprehensions and Tile, with the same tensors kept on chip: the same graph text
after canonical renaming, and the same cycles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tabla.base.source import Source
from tabla.build.options import Options
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Graph, Index, Linear, Operand, Ordinal, Product, Read, Statement, Tensor
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.rewrite import with_operands
from tabla.graph.text import graph_text
from tabla.languages.tabla import parse as parse_tabla
from tabla.languages.tabla.lower import lower as lower_tabla
from tabla.languages.tc import parse as parse_tc
from tabla.languages.tc.lower import lower as lower_tc
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower as lower_tile
from tabla.schedule.compile import schedule_graph
from tabla.tile import TensorIndexes, TensorOutput, exp, select, sigmoid, sqrt, update

FORMAT = Format(integer=6, fraction=10)


def canonical(graph: Graph) -> str:
    """The text with tensors named in the order in which statements mention them, indices in that of each statement."""
    names: dict[str, str] = {}
    statements = []
    for statement in graph.statements:
        for tensor in (*(read.tensor for read in statement.reads), statement.target):
            names.setdefault(tensor, f"T{len(names)}")
        statements.append(_renamed(statement, names))
    tensors: dict[str, Tensor] = {}
    for old, new in names.items():
        tensors[new] = replace(graph.tensors[old], name=new, origin="")
    results = tuple((names[tensor], names[tensor]) for _, tensor in graph.results)
    updates = {names[model]: names[following] for model, following in graph.updates.items()}
    made = replace(
        graph, name="kernel", tensors=tensors, statements=tuple(statements), results=results, updates=updates, notes=()
    )
    return graph_text(made)


def _renamed(statement: Statement, names: dict[str, str]) -> Statement:
    box = (*statement.indices, *statement.reduced)
    new = {index.name: f"i{place}" for place, index in enumerate(box)}

    def affine(form: Affine) -> Affine:
        return Affine.make(form.constant, {new[name]: factor for name, factor in form.coefficients})

    def operand(given: Operand) -> Operand:
        match given:
            case Read():
                return Read(tensor=names[given.tensor], subscripts=tuple(map(affine, given.subscripts)))
            case Ordinal():
                return Ordinal(value=affine(given.value), fraction=given.fraction)
            case _:
                return given

    operation = with_operands(statement.operation, operand)
    match operation:
        case Linear(terms=terms):
            reduced = tuple(replace(term, reduce=tuple(new[name] for name in term.reduce)) for term in terms)
            operation = replace(operation, terms=reduced)
        case Product(reduce=reduce):
            operation = replace(operation, reduce=tuple(new[name] for name in reduce))
        case _:
            pass
    return replace(
        statement,
        target=names[statement.target],
        write=tuple(map(affine, statement.write)),
        indices=tuple(Index(name=new[i.name], low=i.low, high=i.high) for i in statement.indices),
        reduced=tuple(Index(name=new[i.name], low=i.low, high=i.high) for i in statement.reduced),
        operation=operation,
    )


def _dense(X: Any, W: Any) -> Any:
    i, j = TensorIndexes(2)
    O = TensorOutput(W.shape[0])
    O[i] += W[i, j] * X[j]
    return O


def _matmul(A: Any, B: Any) -> Any:
    i, j, k = TensorIndexes(3)
    C = TensorOutput(A.shape[0], B.shape[1])
    C[i, j] += A[i, k] * B[k, j]
    return C


def _network(X: Any, W: Any, B: Any, V: Any) -> Any:
    return _dense(sigmoid(_dense(X, W) + B), V)


def _normalised(X: Any) -> Any:
    (i,) = TensorIndexes(1)
    S = TensorOutput()
    S[()] += X[i] * X[i]
    return X / sqrt(S)


def _softplus_gate(X: Any, Y: Any) -> Any:
    return select(X < Y, exp(X), X * Y - 2 * X + 0.5)


def _convolution(I: Any, K: Any) -> Any:
    x, k, c = TensorIndexes(3)
    O = TensorOutput(I.shape[0] - K.shape[0] + 1, K.shape[1])
    O[x, c] += I[x + k] * K[k, c]
    return O


# A TABLA text and its results, a Tensor Comprehension and its sizes, a Tile function and its shapes, what is kept.
KERNELS: dict[str, tuple[str, str, dict[str, int], Callable[..., Any], dict[str, tuple[int, ...]], tuple[str, ...]]] = {
    "dense": (
        "model_input X[8]; model W[6][8]; iterator i[0:6]; iterator j[0:8]; O[i] = sum[j](W[i][j] * X[j]);",
        "def f(float(M) X, float(N, M) W) -> (O) { O(i) +=! W(i, j) * X(j) }",
        {"N": 6, "M": 8},
        _dense,
        {"X": (8,), "W": (6, 8)},
        ("W",),
    ),
    "matmul": (
        """model_input A[4][6]; model B[6][5]; iterator i[0:4]; iterator j[0:5]; iterator k[0:6];
        O[i][j] = sum[k](A[i][k] * B[k][j]);""",
        "def f(float(M, K) A, float(K, N) B) -> (O) { O(i, j) +=! A(i, k) * B(k, j) }",
        {"M": 4, "K": 6, "N": 5},
        _matmul,
        {"A": (4, 6), "B": (6, 5)},
        ("B",),
    ),
    "network": (
        """model_input X[8]; model W[6][8]; model B[6]; model V[3][6];
        iterator i[0:6]; iterator j[0:8]; iterator k[0:3];
        A[i] = sum[j](W[i][j] * X[j]); H[i] = sigmoid(A[i] + B[i]); O[k] = sum[i](V[k][i] * H[i]);""",
        "",
        {},
        _network,
        {"X": (8,), "W": (6, 8), "B": (6,), "V": (3, 6)},
        ("W", "B", "V"),
    ),
    "normalised": (
        "model_input X[8]; iterator i[0:8]; S = sum[i](X[i] * X[i]); O[i] = X[i] / sqrt(S);",
        "def f(float(N) X) -> (O) { S() +=! X(i) * X(i) O(i) = X(i) / sqrt(S()) }",
        {"N": 8},
        _normalised,
        {"X": (8,)},
        (),
    ),
    "select": (
        "",
        "def f(float(N) X, float(N) Y) -> (O) { O(i) = X(i) < Y(i) ? exp(X(i)) : X(i) * Y(i) - 2 * X(i) + 0.5 }",
        {"N": 8},
        _softplus_gate,
        {"X": (8,), "Y": (8,)},
        (),
    ),
    "convolution": (
        """model_input I[9]; model K[3][4]; iterator x[0:7]; iterator k[0:3]; iterator c[0:4];
        O[x][c] = sum[k](I[x + k] * K[k][c]);""",
        "def f(float(N) I, float(P, C) K) -> (O) { O(x, c) +=! I(x + k) * K(k, c) }",
        {"N": 9, "P": 3, "C": 4},
        _convolution,
        {"I": (9,), "K": (3, 4)},
        ("K",),
    ),
}


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_one_kernel_one_graph(name: str) -> None:
    tabla, tc, sizes, function, shapes, keep = KERNELS[name]
    graphs = [lower_tile(trace(function, shapes), number_format=FORMAT, keep=keep)]
    if tabla:
        graphs.append(lower_tabla(parse_tabla(Source.from_text(tabla)), number_format=FORMAT, results=("O",)))
    if tc:
        graphs.append(lower_tc(parse_tc(Source.from_text(tc)).function(), sizes, number_format=FORMAT, keep=keep))
    assert len(graphs) >= 2
    compiled = [run_passes(graph, FORMAT) for graph in graphs]
    texts = [canonical(graph) for graph in compiled]
    assert texts[1:] == texts[:1] * (len(texts) - 1)
    template = Options(pes=4).chosen_template()
    schedules = [schedule_graph(graph, template, FORMAT) for graph in compiled]
    assert len({(schedule.cycles, schedule.latency) for schedule in schedules}) == 1


LEARNING = """model_input X[8]; model_output Y; model W[8]; mu = 0.375; gradient G[8] -> W; iterator i[0:8];
H = sigmoid(sum[i](W[i] * X[i])); G[i] = (H - Y) * X[i];"""


def test_one_learning_rule_one_graph() -> None:
    """The step too: the rate goes to the same factor."""

    def logistic(X: Any, Y: Any, W: Any) -> None:
        (i,) = TensorIndexes(1)
        A, G = TensorOutput(), TensorOutput(8)
        A[()] += W[i] * X[i]
        E = sigmoid(A) - Y
        G[i] = E[()] * X[i]
        update(W, G, 0.375)

    tile = lower_tile(trace(logistic, {"X": (8,), "Y": (), "W": (8,)}), number_format=FORMAT)
    tabla = lower_tabla(parse_tabla(Source.from_text(LEARNING)), number_format=FORMAT)
    compiled = [run_passes(graph, FORMAT) for graph in (tabla, tile)]
    assert canonical(compiled[1]) == canonical(compiled[0])
    template = Options(pes=4).chosen_template()
    schedules = [schedule_graph(graph, template, FORMAT) for graph in compiled]
    assert schedules[0].cycles == schedules[1].cycles and schedules[0].latency == schedules[1].latency
