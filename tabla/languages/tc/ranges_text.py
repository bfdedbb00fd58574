"""Inferred ranges as text, half-open: ``i in [1, N)``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from tabla.languages.tc.program import Function, Unit
from tabla.languages.tc.ranges import Called, Inference, infer
from tabla.languages.tc.statement_ranges import Domain


def ranges_text(unit: Unit, name: str | None = None, sizes: Mapping[str, int] = MappingProxyType({})) -> str:
    """Return the ranges of a function, or of all functions without a name, as ``tabla ranges`` prints them.

    Raises the faults of `infer`, and `TablaError` for an unknown name.
    """
    functions = list(unit.functions.values()) if name is None else [unit.function(name)]
    return "\n".join("".join(f"{line}\n" for line in _function(function, sizes)) for function in functions)


def _function(function: Function, sizes: Mapping[str, int]) -> Iterator[str]:
    yield f"def {function.name}"
    yield from _steps(infer(function, sizes), "  ")


def _steps(inference: Inference, indent: str) -> Iterator[str]:
    for step in inference.steps:
        match step:
            case Domain():
                yield f"{indent}{_left_side(step)}"
                for name, interval in step.intervals.items():
                    if name in step.dependent:
                        low, high = step.dependent[name]
                        yield f"{indent}  {name} in [{low.written()}, {high.written()}), inside {interval}"
                    else:
                        yield f"{indent}  {name} in {interval}"
            case Called(statement=call):
                yield f"{indent}{', '.join(call.targets)} = {call.function.name}({', '.join(call.arguments)})"
                yield from _steps(step.inference, f"{indent}  ")
    for precondition in inference.preconditions:
        yield f"{indent}requires {precondition}"


def _left_side(domain: Domain) -> str:
    statement = domain.statement
    indices = f"({', '.join(statement.indices)})" if statement.indices else ""
    operator = f"{statement.reduction or ''}={'!' if statement.initialise else ''}"
    return f"{statement.target}{indices} {operator}"
