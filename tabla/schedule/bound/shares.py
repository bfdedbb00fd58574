"""The fewest cycles in which lanes and roots can make all multiplies of a sample.

A tensor is spread over lanes, replicated, or at the root. So all elements of a term are multiplied in the lanes, or all
at the roots, and what one side makes and the other multiplies has to move. A word of a lane goes up the tree in a slot
of all lanes of its group and sequencer, and takes a slot of the root. A word of the root is either written into a lane,
in a cycle in which the lanes write nothing of their own, or multiplied while it stands on the bus, by as many lanes
as have a product with it (decision 3).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from tabla.graph.graph import Affine, Graph, Linear, Read, Statement, Term
from tabla.templates.template import Template

MOST_PLACED = 8
"""For so many terms, the heaviest, every choice of lanes or roots is tried. The words of others move for nothing."""


def issue_cycles(terms: Sequence[int], lanes: int, roots: int, *, lanes_idle: int = 0, roots_idle: int = 0) -> int:
    """Return a lower bound on the cycles in which lanes and roots can issue so many multiplies of each term.

    Each lane and each root issues one a cycle. Lanes issue nothing in `lanes_idle` of the cycles, and roots nothing in
    `roots_idle`. The bound does not ask how many of the terms that fit the roots alone fit them together, and words
    move for nothing.
    """
    cycles = -(-(sum(terms) + lanes * lanes_idle + roots * roots_idle) // (lanes + roots))
    while True:
        heavy = [term for term in terms if term > roots * max(0, cycles - roots_idle)]
        needed = lanes_idle + -(-sum(heavy) // lanes)
        if not heavy or needed <= cycles:
            return cycles
        # From this many on, the lightest of the heavy ones may be the roots' work.
        cycles = min(needed, roots_idle + -(-min(heavy) // roots))


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The multiplies of a term: in which statement, how many, and the tensors it takes whole, as factors."""

    statement: int
    multiplies: int
    whole: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Terms at roots and in lanes; `made`: statements whose products and results are all in lanes."""

    roots: tuple[Work, ...]
    lanes: tuple[Work, ...]
    made: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The work of a graph, to be shared out among the lanes and roots of a template.

    `updated` gives the statement that makes all of a tensor, where one does. `makers` holds these and, for each model,
    the statement of its update. `elementwise` holds the statements that sum nothing, so that their results arise
    where their products are made.
    """

    work: tuple[Work, ...]
    updated: dict[str, int]
    makers: dict[str, int]
    sizes: dict[str, int]
    elementwise: frozenset[int]
    template: Template

    @staticmethod
    def of(graph: Graph, work: Sequence[tuple[Statement, Term | None, int]], template: Template) -> Shares:
        """Build the work from statements' multiplies by term; a term is None if its words cannot be told apart."""
        writers = Counter(s.target for s in graph.statements)
        made = {
            s.target: s.id
            for s in graph.statements
            if writers[s.target] == 1 and not s.constraints and reads_whole(graph, s, s.target, s.write)
        }
        models = {model: made[following] for model, following in graph.updates.items() if following in made}
        makers = {**made, **models}
        return Shares(
            work=tuple(
                Work(statement=s.id, multiplies=n, whole=_factors(graph, s, term, makers) if term else frozenset())
                for s, term, n in sorted(work, key=lambda item: -item[2])
            ),
            updated=made,
            makers=makers,
            sizes={name: tensor.size for name, tensor in graph.tensors.items()},
            elementwise=frozenset(s.id for s in graph.statements if not s.reduced and isinstance(s.operation, Linear)),
            template=template,
        )

    def cycles(self) -> int:
        """Return a lower bound on the cycles that any choice needs."""
        counts = [work.multiplies for work in self.work]
        low, high = issue_cycles(counts, self.template.pes, self._roots), -(-sum(counts) // self.template.pes)
        while low < high:
            middle = (low + high) // 2
            if any(self._enough(middle, choice) for choice in self._choices(middle)):
                high = middle
            else:
                low = middle + 1
        return low

    @property
    def _roots(self) -> int:
        return max(1, self.template.roots)

    def _choices(self, cycles: int) -> Iterator[_Choice]:
        """Yield every set of placed terms that roots could take in so many cycles, each term by itself."""
        placed = self.work[:MOST_PLACED]
        small = [n for n, work in enumerate(placed) if work.multiplies <= self._roots * cycles]
        for chosen in chain.from_iterable(combinations(small, n) for n in range(len(small) + 1)):
            roots = tuple(placed[n] for n in chosen)
            lanes = tuple(work for n, work in enumerate(placed) if n not in chosen)
            elsewhere = {work.statement for work in (*roots, *self.work[MOST_PLACED:])}
            made = frozenset({work.statement for work in lanes} & self.elementwise - elsewhere)
            yield _Choice(roots=roots, lanes=lanes, made=made)

    def _enough(self, cycles: int, choice: _Choice) -> bool:
        """Return whether nothing forbids that roots and lanes do their parts in so many cycles."""
        pes, roots = self.template.pes, self._roots
        light = [work.multiplies for work in self.work[MOST_PLACED:]]
        forced = [n for n in light if n > roots * cycles]
        up = self._sent_up(choice)
        root = sum(work.multiplies for work in choice.roots) + up
        lanes = sum(work.multiplies for work in choice.lanes) + sum(forced)
        lanes += up * (pes // (roots * max(1, self.template.sequencers))) + self._idle(cycles, choice)
        everything = root + lanes + sum(light) - sum(forced)
        return root <= roots * cycles and lanes <= pes * cycles and everything <= (pes + roots) * cycles

    def _sent_up(self, choice: _Choice) -> int:
        """Return the number of words that lanes make and a root multiplies."""
        taken = frozenset[str]().union(*(work.whole for work in choice.roots))
        return sum(self.sizes[name] for name in taken if self.makers[name] in choice.made)

    def _idle(self, cycles: int, choice: _Choice) -> int:
        """Return the slots of lanes that stay empty while not all of them multiply by the word on the bus.

        A word that lanes have time to write into their memories costs nothing. With several sequencers all words do.
        """
        if self.template.sequencers > 1:
            return 0
        pes, roots = self.template.pes, self._roots
        written = sum(self.sizes[name] for name, maker in self.updated.items() if maker in choice.made)
        free = max(0, roots * (cycles - -(-written // pes)))
        idle = 0
        for name, users in sorted(self._from_bus(choice).items(), key=lambda item: (item[1], item[0])):
            kept = min(self.sizes[name], free)
            free -= kept
            idle += (self.sizes[name] - kept) * (pes // roots - users)
        return idle

    def _from_bus(self, choice: _Choice) -> dict[str, int]:
        """Return, for tensors that roots make and lanes multiply, how many lanes can multiply one word at the most."""
        made = {work.statement for work in choice.roots}
        users: dict[str, int] = {}
        for work in choice.lanes:
            for name in work.whole:
                if self.makers[name] in made:
                    lanes = min(self.template.pes // self._roots, -(-work.multiplies // self.sizes[name]))
                    users[name] = max(users.get(name, 0), lanes)
        return users


def _factors(graph: Graph, statement: Statement, term: Term, makers: Container[str]) -> frozenset[str]:
    """Return the tensors with a maker of which each element is a factor of the term somewhere."""
    if statement.constraints:
        return frozenset()
    reads = [factor for factor in term.factors if isinstance(factor, Read) and factor.tensor in makers]
    return frozenset(read.tensor for read in reads if reads_whole(graph, statement, read.tensor, read.subscripts))


def reads_whole(graph: Graph, statement: Statement, tensor: str, subscripts: Sequence[Affine]) -> bool:
    """Return whether the subscripts, each a single index, meet every element of the tensor.

    An axis of a single element needs no index.
    """
    names = [s.names[0] for s in subscripts if len(s.names) == 1 and s.coefficient(s.names[0]) == 1]
    only = sum(axis == (Affine(), 1) for axis in zip(subscripts, graph.tensors[tensor].shape, strict=True))
    if len(set(names)) + only < len(subscripts):
        return False
    return math.prod(statement.box[name].extent for name in names) == graph.tensors[tensor].size
