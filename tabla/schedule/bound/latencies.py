"""The shortest time from a word that a statement reads to the word that it makes, wherever it is computed."""

from __future__ import annotations

from dataclasses import dataclass, field

from tabla.graph.format import Format
from tabla.graph.graph import Compare, Divide, Extreme, Function, Gather, Linear, Product, Read, Scatter, Statement
from tabla.graph.scan import scan_of
from tabla.graph.work import multiplicity
from tabla.templates.template import Template, functions, timing

Pinned = frozenset[str]


def _reduction(terms: int, pes: int) -> int:
    """Return the fewest extra cycles to sum `terms` products: minimum over q lanes of ceil(terms/q) - 1 + tree(q)."""
    laws = timing()
    best = terms - 1
    q = 2
    while q <= pes:
        tree = (q - 1).bit_length() * laws.tree_level + laws.accumulate
        best = min(best, -(-terms // q) - 1 + tree)
        q += 1
    return best


@dataclass(slots=True)
class Latencies:
    """The latencies of statements on one template in one format; each is computed once."""

    template: Template
    format: Format
    _known: dict[tuple[int, Pinned], dict[str, int]] = field(default_factory=dict)

    def after(self, statement: Statement, pinned: Pinned = frozenset()) -> dict[str, int]:
        """Return the shortest cycles from an operand at the multiplexers to the result, for each tensor that is read.

        Of an index in `pinned` only the first value is asked for. A sum over such an index waits for one of its
        terms, because all others may have come before.
        """
        key = statement.id, pinned & {index.name for index in statement.reduced}
        if key not in self._known:
            self._known[key] = self._after(statement, key[1])
        return self._known[key]

    def _after(self, statement: Statement, pinned: Pinned) -> dict[str, int]:
        laws = timing()
        base = laws.multiply + laws.accumulate + laws.round
        # A word that is only added or compared may join after the multiplexers.
        added = base - (laws.late_operand - laws.operand)

        def all_alike(cycles: int) -> dict[str, int]:
            return dict.fromkeys(statement.sources, cycles)

        if scan_of(statement) is not None:
            # Some output may take one word only.
            return all_alike(added)
        match statement.operation:
            case Linear(terms=terms):
                found: dict[str, int] = {}
                for term in terms:
                    plain = len(term.factors) == 1 and term.sign > 0 and not term.reduce
                    sums = _reduction(multiplicity(statement, frozenset(term.reduce) - pinned), self.template.pes)
                    cycles = added if plain else base + sums
                    for factor in term.factors:
                        if isinstance(factor, Read):
                            found[factor.tensor] = min(cycles, found.get(factor.tensor, cycles))
                return found
            case Compare():
                return all_alike(added)
            case Gather() | Scatter():
                return all_alike(base)
            case Extreme(reduce=reduce):
                return all_alike(
                    added + _reduction(multiplicity(statement, frozenset(reduce) - pinned), self.template.pes)
                )
            case Function(name=name):
                # Fused, it follows the result it takes without a pass of its own.
                return all_alike(functions()[name].cycles(self.format.width, self.format.fraction))
            case Divide(unit=unit):
                return all_alike(functions()[unit].cycles(self.format.width, self.format.fraction))
            case Product(reduce=reduce):
                return all_alike(base * max(1, multiplicity(statement, frozenset(reduce) - pinned) - 1))
