"""How the groups of an array with several roots share a program, as far as the bound has chosen it.

Every tensor has one layout. A model lies in groups along one of its axes, or every group has all of it, or its words
are carried from group to group in every sample, or some group has none of it. Statements that read a model are
divided as the model is. Only the tree's sum over all groups brings a word to another group, and that takes a slot of
all lanes and one of every root (decision 3, 3.13). So if all groups take all words of a tensor, either each group makes
all of them or they cross one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tabla.graph.graph import Affine, Graph, Linear, Read, Statement
from tabla.schedule.bound.choice import APART, UNDIVIDED
from tabla.schedule.bound.shares import reads_whole

WHOLE, CARRIED, ASIDE = -1, -2, -3
"""Values that stand in place of an axis of a model.

`WHOLE`: every group has all of the model. `CARRIED`: its words go to other groups. `ASIDE`: some group has none.
"""
MOST_CUT = 4
"""So many models, the largest, have their layout chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Choices, and what follows from them for `count` groups.

    `cuts` gives the axis of each model along which it lies in groups. `made` says of statements that are free to
    choose whether each group makes all of their words; otherwise the words cross. `along` gives the index by which a
    statement is divided, where that is known. `whole` lists for each tensor the statements in which all groups take all
    of its words. `crossing` holds those of these tensors of which each group makes a part only.
    """

    graph: Graph
    count: int
    cuts: Mapping[str, int] = field(default_factory=dict)
    made: Mapping[int, bool] = field(default_factory=dict)
    along: Mapping[int, str] = field(default_factory=dict)
    whole: Mapping[str, frozenset[int]] = field(default_factory=dict)
    crossing: frozenset[str] = frozenset()

    def choices(self) -> list[Groups] | None:
        """Return all ways to make one more choice that the others do not forbid; None if nothing is left to choose."""
        if self.count <= 1:
            return None
        tensors = self.graph.tensors
        models = sorted(self.graph.updates, key=lambda model: -tensors[model].size)[:MOST_CUT]
        found: list[Groups | None]
        for model in models:
            if model not in self.cuts and tensors[model].shape:
                axes = [*range(len(tensors[model].shape)), WHOLE, CARRIED, ASIDE]
                found = [replace(self, cuts={**self.cuts, model: axis})._followed() for axis in axes]
                return [each for each in found if each is not None]
        for statement in self._open():
            found = [replace(self, made={**self.made, statement.id: made})._followed() for made in (True, False)]
            return [each for each in found if each is not None]
        return None

    @property
    def carried(self) -> int:
        """The words of models that cross in every sample."""
        words = (self._carried(model) for model, axis in self.cuts.items() if axis == CARRIED)
        return sum(each - -(-each // self.count) for each in words)

    def aside(self, statement: Statement) -> str:
        """Return the first model that a statement reads and some group does not have; if there is none, no name."""
        return next((name for name in statement.sources if self.cuts.get(name) == ASIDE), "")

    def _open(self) -> Iterator[Statement]:
        """Yield the statements of which all groups take all words and which no read of a model divides."""
        models = self.graph.updates.keys()
        for statement in reversed(self.graph.statements):
            free = statement.id not in self.along and statement.id not in self.made and not statement.reduced
            if free and statement.target in self.whole and not models & statement.sources:
                yield statement

    def _followed(self) -> Groups | None:
        """Return the same choices with all that follows from them; None if they contradict each other."""
        along: dict[int, str] = {}
        for statement in self.graph.statements:
            for name in self._divided_along(statement):
                if along.setdefault(statement.id, name) != name:
                    return None
        makers = self._makers()
        whole: dict[str, set[int]] = {}
        for statement in reversed(self.graph.statements):
            if self.made.get(statement.id):
                along[statement.id] = UNDIVIDED
            index = along.get(statement.id)
            if index in (None, APART) or (index and statement.box[index].extent == 1):
                continue
            for read in statement.reads:
                if read.tensor in makers and index not in read.names and _reads_whole(self.graph, statement, read):
                    whole.setdefault(read.tensor, set()).add(statement.id)
        return replace(
            self,
            along=along,
            whole={tensor: frozenset(readers) for tensor, readers in whole.items()},
            crossing=frozenset(tensor for tensor in whole if self._in_parts(makers[tensor], along)),
        )

    def _in_parts(self, maker: Statement, along: Mapping[int, str]) -> bool:
        """Return whether each group makes a part of the words only."""
        if maker.id in along:
            return along[maker.id] == APART or any(index.name == along[maker.id] for index in maker.indices)
        return self.made.get(maker.id) is False

    def _divided_along(self, statement: Statement) -> Iterator[str]:
        """Yield what divides a statement: indices along which it reads models that are cut, or what stands for one."""
        model = next((model for model, following in self.graph.updates.items() if following == statement.target), "")
        if self.cuts.get(model) == WHOLE and not statement.reduced:
            yield UNDIVIDED
        for read in statement.reads:
            axis = self.cuts.get(read.tensor, CARRIED)
            if axis == ASIDE:
                yield APART
            elif axis >= 0 and _in_every_term(statement, read):
                yield from self._all_along(statement, read, axis)

    def _all_along(self, statement: Statement, read: Read, axis: int) -> Iterator[str]:
        """Yield the index that goes along all of an axis, if one does: its parts are as even as those of the axis."""
        for name in read.subscripts[axis].names:
            index, extent = statement.box[name], self.graph.tensors[read.tensor].shape[axis]
            if read.subscripts[axis] == Affine.index(name) and (index.low, index.high) == (0, extent):
                yield name

    def _makers(self) -> dict[str, Statement]:
        """Return for each tensor the statement that makes all of it, if there is one and the tensor is no model."""
        makers: dict[str, list[Statement]] = {}
        for statement in self.graph.statements:
            makers.setdefault(statement.target, []).append(statement)
        kept = {*self.graph.updates, *self.graph.updates.values()}
        return {
            name: found[0]
            for name, found in makers.items()
            if len(found) == 1 and name not in kept and reads_whole(self.graph, found[0], name, found[0].write)
        }

    def _carried(self, model: str) -> int:
        """Return how many words of a model are taken by a statement besides its update; of several the fewest."""
        following, words = self.graph.updates[model], []
        for statement in self.graph.statements:
            for read in statement.reads:
                own = statement.target == following and read.subscripts == statement.write
                if read.tensor == model and not own:
                    names = [name for subscript in read.subscripts for name in subscript.names]
                    alone = len(names) == len(set(names)) and all(len(each.names) < 2 for each in read.subscripts)
                    words.append(math.prod(statement.box[name].extent for name in names) if alone else 0)
        return min(words, default=0)


def _reads_whole(graph: Graph, statement: Statement, read: Read) -> bool:
    return reads_whole(graph, statement, read.tensor, read.subscripts)


def _in_every_term(statement: Statement, read: Read) -> bool:
    """Return whether a read is a factor of every sum of a statement, so that the word's group does all of the sum."""
    if not statement.reduced:
        return True
    operation = statement.operation
    return isinstance(operation, Linear) and all(read in term.factors for term in operation.terms if term.reduce)
