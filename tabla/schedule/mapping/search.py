"""The search for mappings by an estimate: where each tensor has its home, and which way each statement is computed.

The homes of the models are enumerated: each axis spread over lanes, or the root. For each choice of homes a beam search
goes through the statements in order. Its estimate, in cycles, adds up issue slots, moves and latencies. The caller
schedules the best few mappings exactly and takes the fastest.

A scan is computed at the root, or in the lanes with a row of outputs in each lane. It keeps one accumulator from output
to output (:mod:`tabla.graph.scan`). Each row of outputs, one for every point of the other indices, is a scan of its
own. At the root the rows follow each other; in the lanes as many rows run at the same time as there are lanes.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Map
from dataclasses import dataclass

from tabla.graph.accesses import spread
from tabla.graph.graph import Function, Graph, Linear, Product, Read, Statement
from tabla.graph.scan import scan_of
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS, Effort
from tabla.schedule.mapping.fit import Fit, fits, lane_reads
from tabla.schedule.mapping.mapping import Mapping, operands_of_functions, static_tensors
from tabla.schedule.mapping.places import EVERY, ROOT, Spot
from tabla.schedule.mapping.slots import issue_slots, lane_slots
from tabla.templates.template import Template


def scan_fits(statement: Statement, graph: Graph, pes: int) -> Iterator[Fit]:
    """Yield the ways to compute a scan: each index that may count rows over `pes` lanes, and at last the root.

    A scan of products runs at the root only, because each step rounds and waits for the step before it.
    """
    found = scan_of(statement)
    assert found is not None
    for index in statement.indices if not isinstance(statement.operation, Product) else ():
        target = spread(statement.write, index.name)
        if index == found.index or target is None:
            continue
        # No word of a scan comes over the bus: what the lanes share lies in each of them.
        local = frozenset(graph.tensors)
        reads = lane_reads(statement.operation, statement.reads, index.name, target, graph, pes, local)
        if reads is not None:
            yield Fit(way="lane", index=index.name, offset=reads[0], needs=reads[1])
    yield Fit(way="root", needs=tuple(sorted((tensor, ROOT) for tensor in statement.sources)))


@dataclass(frozen=True, slots=True)
class _State:
    """A partial mapping of the beam search: the fits of the first statements, and the estimate of their cycles."""

    fits: tuple[Fit, ...]
    homes: tuple[tuple[str, Spot], ...]
    copies: frozenset[tuple[str, Spot]]
    cost: float


class Search:
    """The search for mappings of one legal graph on one array.

    `template` is the array; its lanes are those of one tap group. With `clustered`, the estimate expects each statement
    in the lanes of as few sequencers as take the fewest issue slots of all lanes. With `fused`, the estimate knows that
    a function costs nothing after the root operation that makes its operand, and that operands of functions come to
    the root at once. With `kept`, it expects that lanes keep their copies of models whose home is the root. With
    `received`, it expects that lanes take the words that they need as the root makes them.
    """

    def __init__(
        self,
        legal: Graph,
        template: Template,
        *,
        effort: Effort = EFFORTS[DEFAULT_EFFORT],
        clustered: bool = False,
        fused: bool = False,
        kept: bool = False,
        received: bool = False,
    ) -> None:
        self.graph = graph = legal
        self.template = template
        self.effort = effort
        self.pes = template.lanes
        self.sequencers = max(1, template.sequencers)
        self.clustered = clustered
        self.static = static_tensors(graph)
        self.streamed = frozenset(t.name for t in graph.tensors.values() if t.role in ("input", "label"))
        self.model_of = {n: m for m, n in graph.updates.items()}
        self.results = {t for _, t in graph.results}
        self.fused = fused
        self.kept = kept
        writers = Counter(statement.target for statement in graph.statements)
        made = (s.target for s in graph.statements if writers[s.target] == 1 and not s.constraints)
        self.made_at_once = frozenset(made if received else ())
        self.operands = operands_of_functions(graph) if fused else frozenset[str]()
        self._fits = {s.id: tuple(self._ways(s)) for s in graph.statements}
        self._shared = self._shared_homes()

    def _ways(self, statement: Statement) -> Iterator[Fit]:
        if statement.constraints:
            return scan_fits(statement, self.graph, self.pes)
        return fits(statement, self.graph, self.pes, self.static, sequencers=self.sequencers)

    def candidates(self, most: int) -> list[Mapping]:
        """Return the best `most` mappings by the estimate; of equal ones, those that were found first."""
        found: list[Mapping] = []
        for homes in self._model_homes():
            found += self._beam(homes)
        found.sort(key=lambda m: m.estimate)
        unique: list[Mapping] = []
        for mapping in found:
            if all(m.fits != mapping.fits or m.homes != mapping.homes for m in unique):
                unique.append(mapping)
        return unique[:most]

    def at_root(self) -> Mapping:
        """Return the mapping in which the root computes everything, as far as a statement can be computed there."""
        homes = {t: ROOT for t in self.graph.updates} | {
            s.target: ROOT for s in self.graph.statements if s.target not in self.model_of
        }
        chosen = tuple(self._fits[s.id][-1] for s in self.graph.statements)
        needs = {need for fit in chosen for need in fit.needs}
        copies = tuple(sorted(n for n in needs if homes.get(n[0]) != n[1]))
        return self._mapping(chosen, homes, copies, float("inf"))

    def _mapping(
        self, fits: tuple[Fit, ...], homes: Map[str, Spot], copies: tuple[tuple[str, Spot], ...], estimate: float
    ) -> Mapping:
        return Mapping(
            graph=self.graph, template=self.template, fits=fits, homes=homes, copies=copies, estimate=estimate
        )

    def _shared_homes(self) -> dict[str, frozenset[Spot]]:
        """Return, for each tensor, the homes that every statement that writes the tensor can write."""
        homes: dict[str, frozenset[Spot]] = {}
        for statement in self.graph.statements:
            ours = frozenset(self._home(statement, fit) for fit in self._fits[statement.id])
            homes[statement.target] = homes.get(statement.target, ours) & ours
        return homes

    @staticmethod
    def _home(statement: Statement, fit: Fit) -> Spot:
        """Return the spot where a statement's results arise with a fit."""
        found = spread(statement.write, fit.index) if fit.way == "lane" else None
        return Spot("lane", found[0]) if found else ROOT

    def _model_homes(self) -> list[dict[str, Spot]]:
        """Return the choices of homes of all models: every combination, if there are not too many."""
        models = [m for m in self.graph.updates]
        options: list[list[Spot]] = []
        for model in models:
            axes = self._useful_axes(model)
            options.append([*(Spot("lane", a) for a in axes), ROOT])
        total = 1
        for option in options:
            total *= len(option)
        if total <= self.effort.homes:
            return [dict(zip(models, choice, strict=True)) for choice in itertools.product(*options)]
        return self._descend(models, options)

    def _descend(self, models: Sequence[str], options: Sequence[Sequence[Spot]]) -> list[dict[str, Spot]]:
        """Return some choices of homes, where there are too many combinations (coordinate descent).

        Every model begins with its first option. One model after the other takes the option with the best estimate, and
        each choice on the way is kept.
        """
        current = {m: o[0] for m, o in zip(models, options, strict=True)}
        seen = [dict(current)]
        for model, option in zip(models, options, strict=True):
            tried = [{**current, model: spot} for spot in option]
            costs = [min((m.estimate for m in self._beam(t)), default=float("inf")) for t in tried]
            current = tried[costs.index(min(costs))]
            seen.append(dict(current))
        return seen

    def _useful_axes(self, model: str) -> list[int]:
        """Return the axes of a model along which each of its updates can run over lanes."""
        axes: set[int] | None = None
        for statement in self.graph.writers(self.graph.updates[model]):
            ours = {home.axis for fit in self._fits[statement.id] if (home := self._home(statement, fit)) != ROOT}
            axes = ours if axes is None else axes & ours
        return sorted(axes or ())

    def _beam(self, homes: Map[str, Spot]) -> list[Mapping]:
        """Return the best mappings with given homes of the models, by a beam search over the statements."""
        states = [_State((), tuple(sorted(homes.items())), frozenset(), 0.0)]
        for statement in self.graph.statements:
            following = [n for state in states for n in self._extend(state, statement)]
            following.sort(key=lambda s: s.cost)
            states = following[: self.effort.beam]
        return [
            self._mapping(state.fits, dict(state.homes), tuple(sorted(state.copies)), state.cost) for state in states
        ]

    def _extend(self, state: _State, statement: Statement) -> list[_State]:
        """Return a partial mapping with one more statement, in each way that the homes allow."""
        homes = dict(state.homes)
        target = statement.target
        wanted = homes.get(self.model_of.get(target, target))
        out: list[_State] = []
        for fit in self._fits[statement.id]:
            home = self._home(statement, fit)
            if home not in self._shared[target] or (wanted is not None and home != wanted):
                continue
            if any(tensor == target and spot != home for tensor, spot in fit.needs):
                # The statement would need a copy of the tensor that it writes itself.
                continue
            copies = set(state.copies)
            cost = 5.0 if self._costs_nothing(statement, state) else self._cost(statement, fit)
            for tensor, spot in fit.needs:
                cost += self._bring(tensor, spot, homes, copies)
            new = dict(homes)
            if target not in self.model_of:
                new[target] = home
                if target in self.results | self.operands and home != ROOT and wanted is None:
                    cost += self._bring(target, ROOT, new, copies)
            out.append(_State((*state.fits, fit), tuple(sorted(new.items())), frozenset(copies), state.cost + cost))
        return out

    def _costs_nothing(self, statement: Statement, state: _State) -> bool:
        """Say whether a statement is a function of words that the root has just made, so that it costs no operation."""
        operation = statement.operation
        if not self.fused or not isinstance(operation, Function) or not isinstance(operation.operand, Read):
            return False
        writers = list(self.graph.writers(operation.operand.tensor))
        if len(writers) != 1 or not isinstance(writers[0].operation, Linear):
            return False
        return state.fits[writers[0].id].way != "lane"

    def _bring(self, tensor: str, spot: Spot, homes: Map[str, Spot], copies: set[tuple[str, Spot]]) -> float:
        """Return the estimated cycles of bringing a tensor to a spot, and add the copy to `copies`."""
        if homes.get(tensor) == spot or (tensor, spot) in copies:
            return 0.0
        size = self.graph.tensors[tensor].size
        copies.add((tensor, spot))
        if tensor in self.static:
            return 0.0
        if tensor in self.streamed:
            # Words for all lanes, or for the root, arrive one a beat, which may bind the stream. The words of a spread
            # axis arrive several a beat.
            return 0.3 * size if spot != Spot("lane", spot.axis) else 0.3 * size / self.pes
        home = homes[tensor]
        if self.kept and tensor in self.graph.updates and home == ROOT:
            return 0.0
        cost = 0.0
        if home.kind == "lane" and spot != ROOT and (tensor, ROOT) not in copies:
            copies.add((tensor, ROOT))
            cost += size + 14
        if home.kind == "lane" and spot == ROOT:
            return cost + size + 14
        if home == ROOT and tensor in self.made_at_once and not self._lies_in_lanes(tensor, spot, copies):
            return cost + 8  # The lanes take each word as the root makes it.
        return cost + (size if spot.kind == "lane" or spot == EVERY else 0) + 8

    @staticmethod
    def _lies_in_lanes(tensor: str, spot: Spot, copies: set[tuple[str, Spot]]) -> bool:
        """Say whether a tensor has a copy in the lanes beside the one at a spot. Only one is taken as it is made."""
        return any(name == tensor and other not in (spot, ROOT) for name, other in copies)

    def _cost(self, statement: Statement, fit: Fit) -> float:
        """Return the estimated cycles of computing a statement in one way, without its moves."""
        if fit.way == "root":
            return issue_slots(statement) + 5
        together = self.sequencers if self.clustered else 1
        shares = (
            m / together * lane_slots(statement, fit, m * self.pes // together)
            for m in range(1, together + 1)
            if together % m == 0
        )
        # Root and lanes compute at the same time, so an issue slot of the lanes weighs as much as one of the root.
        return min(shares) + (14 if fit.way == "tree" else 8) + (8 if fit.bus else 0)
