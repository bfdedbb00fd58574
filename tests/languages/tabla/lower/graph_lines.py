"""A graph as lines of text, for golden files."""

from __future__ import annotations

from collections.abc import Iterator

from tabla.graph.graph import (
    Constant,
    Divide,
    Extreme,
    Function,
    Graph,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Statement,
)


def lines(graph: Graph) -> Iterator[str]:
    for tensor in graph.tensors.values():
        yield f"{tensor.role} {tensor.name}{''.join(f'[{n}]' for n in tensor.shape)}"
    for statement in graph.statements:
        domain = " ".join(f"{i.name}={i.low}:{i.high}" for i in statement.indices)
        reduced = " ".join(f"{i.name}={i.low}:{i.high}" for i in statement.reduced)
        over = f"   for {domain}" * bool(domain) + f"   over {reduced}" * bool(reduced)
        yield f"{statement.target}{''.join(f'[{w}]' for w in statement.write)} = {_operation(statement)}{over}"
    yield from (f"{model} <- {following}" for model, following in graph.updates.items())
    yield from (f"result {name} is {tensor}" for name, tensor in graph.results)
    yield from (f"note: {note}" for note in graph.notes)


def _operation(statement: Statement) -> str:
    match statement.operation:
        case Linear(terms=terms, shift=shift):
            parts = []
            for term in terms:
                over = f"sum{''.join(f'[{n}]' for n in term.reduce)} " if term.reduce else ""
                parts.append(f"{'+' if term.sign > 0 else '-'} {over}{' * '.join(map(_operand, term.factors))}")
            return " ".join(parts) + (f"   shift {shift}" if shift else "")
        case Function(name=name, operand=operand):
            return f"{name}({_operand(operand)})"
        case Divide(left=left, right=right):
            return f"{_operand(left)} / {_operand(right)}"
        case Product(operand=operand, reduce=reduce):
            return f"product{''.join(f'[{n}]' for n in reduce)} {_operand(operand)}"
        case Extreme(op=op, operands=operands, reduce=reduce):
            return f"{op}{''.join(f'[{n}]' for n in reduce)} {', '.join(map(_operand, operands))}"
        case compare:
            return f"{_operand(compare.left)} {compare.op} {_operand(compare.right)}"


def _operand(operand: Operand) -> str:
    match operand:
        case Read(tensor=tensor, subscripts=subscripts):
            return tensor + "".join(f"[{s}]" for s in subscripts)
        case Constant(value=value):
            return f"{float(value):g}"
        case Ordinal(value=value):
            return f"<{value}>"
