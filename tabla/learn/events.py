"""The events of a run in words: overflows, domain errors, and steps that were too small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tabla.graph.evaluate import Counts
from tabla.graph.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The events of a whole run.

    An overflow is a saturated result. A domain error is an argument outside the domain of a function. `updates` counts
    all updates of model words. `zero_updates` counts those whose step was not 0 and yet did not change the word: the
    step was too small for the format. `overflows_by_value` and `domain_errors_by_value` count both for each value that
    has any, by its name in the program.
    """

    overflows: int
    domain_errors: int
    updates: int
    zero_updates: int
    overflows_by_value: Mapping[str, int] = field(default_factory=dict)
    domain_errors_by_value: Mapping[str, int] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """Whether there was no overflow, no domain error and no zero update, as ``--strict`` demands."""
        return not (self.overflows or self.domain_errors or self.zero_updates)

    def lines(self) -> list[str]:
        """Return the overflows and domain errors as two lines of text, with the names of the values that had them."""
        return [f"{'overflows':<24}{self._overflows}", f"{'domain errors':<24}{self._domain_errors}"]

    def line(self, part: str) -> str:
        """Return the overflows and domain errors of scoring a `part` of the data as one line of text."""
        return f"{part:<24}overflows {self._overflows}, domain errors {self._domain_errors}"

    @property
    def _overflows(self) -> str:
        return f"{self.overflows}{_by_value(self.overflows_by_value)}"

    @property
    def _domain_errors(self) -> str:
        return f"{self.domain_errors}{_by_value(self.domain_errors_by_value)}"


def _by_value(counts: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{name}: {count}' for name, count in sorted(counts.items()))})" if counts else ""


def events(graph: Graph, counts: Counts) -> Events:
    """Return the counts of an evaluation, with the names of the values that had overflows or domain errors."""

    def by_value(numbers: Sequence[int]) -> dict[str, int]:
        found: dict[str, int] = {}
        for statement, number in zip(graph.statements, numbers, strict=True):
            tensor = graph.tensors[statement.target]
            if number:
                name = tensor.origin or tensor.name
                found[name] = found.get(name, 0) + number
        return found

    return Events(
        overflows=counts.overflows,
        domain_errors=counts.domain_errors,
        updates=counts.updates,
        zero_updates=counts.zero_updates,
        overflows_by_value=by_value(counts.overflows_by_statement),
        domain_errors_by_value=by_value(counts.domain_errors_by_statement),
    )
