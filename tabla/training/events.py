"""The events of a run in words: overflows, domain errors, and steps that were too small."""

from __future__ import annotations

from dataclasses import dataclass

from tabla.ir.evaluate import Counts
from tabla.ir.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The events of a whole run.

    An overflow is a saturated result. A domain error is an argument outside the domain of a function. `updates` counts
    all updates of model words. `zero_updates` counts those whose step was not 0 and yet did not change the word: the
    step was too small for the format. `where` names the values with overflows or domain errors.
    """

    overflows: int
    domain_errors: int
    updates: int
    zero_updates: int
    where: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether there was no overflow, no domain error and no zero update, as ``--strict`` demands."""
        return not (self.overflows or self.domain_errors or self.zero_updates)

    @property
    def _named(self) -> str:
        return f" ({', '.join(self.where)})" if self.where else ""

    def lines(self) -> list[str]:
        """Return the overflows and domain errors as two lines of text, with the names of the values that had them."""
        return [f"{'overflows':<24}{self.overflows}{self._named}", f"{'domain errors':<24}{self.domain_errors}"]

    def line(self, part: str) -> str:
        """Return the overflows and domain errors of scoring a `part` of the data as one line of text."""
        return f"{part:<24}overflows {self.overflows}, domain errors {self.domain_errors}{self._named}"


def events(graph: Graph, counts: Counts) -> Events:
    """Return the counts of an evaluation, with the names of the values that had overflows or domain errors."""
    where: dict[str, int] = {}
    both = zip(counts.overflows_by_statement, counts.domain_errors_by_statement, strict=True)
    for statement, (overflows, errors) in zip(graph.statements, both, strict=True):
        tensor = graph.tensors[statement.target]
        if overflows + errors:
            name = tensor.origin or tensor.name
            where[name] = where.get(name, 0) + overflows + errors
    return Events(
        overflows=counts.overflows,
        domain_errors=counts.domain_errors,
        updates=counts.updates,
        zero_updates=counts.zero_updates,
        where=tuple(f"{name}: {count}" for name, count in sorted(where.items())),
    )
