"""What the graph asks for: a residue for every element of every tensor, found without a look at any strand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Gather,
    Gathered,
    Graph,
    Index,
    Landing,
    Linear,
    Operand,
    Product,
    Read,
    Scatter,
    Statement,
    Term,
    is_stored,
    landing_box,
    offsets_of,
)
from tabla.graph.predicted_part import PredictedPart
from tabla.graph.windows import ramp, window
from tabla.schedule.check import residues
from tabla.schedule.check.residues import PRIME, Counts, Residues, Sum, contracted, power_of_two
from tabla.schedule.strands.regions import ScheduleFault
from tabla.templates.template import functions

_GROUP = "tap group"
"""The name of the axis of groups; no index is called so."""


@dataclass(slots=True, eq=False)
class Tally:
    """How many words of a kind there are in a group, and for each group their sum: a fingerprint of all of them."""

    groups: int
    count: int = 0
    sums: Residues = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros(self.groups, dtype=np.int64)

    def add(self, words: Residues, chosen: NDArray[np.bool_] | bool = True) -> None:
        """Count those words that are `chosen`; the first axis is that of groups."""
        mask = np.broadcast_to(chosen, words.shape)
        self.count += int(np.count_nonzero(mask[0]))
        sums = np.where(mask, words, 0).reshape(self.groups, -1).sum(axis=1)
        self.sums = (self.sums + sums) % PRIME

    def differs(self, other: Tally) -> bool:
        """Say whether two tallies were given different words."""
        return self.count != other.count or not np.array_equal(self.sums, other.sums)


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """The words of which a kind of event is counted: `every` while the array learns, `predicted` while it predicts."""

    every: Tally
    predicted: Tally

    @staticmethod
    def of(groups: int) -> Events:
        """Return tallies without words."""
        return Events(every=Tally(groups), predicted=Tally(groups))

    def add(self, words: Residues, chosen: NDArray[np.bool_] | bool = True, *, learns: bool) -> None:
        """Count words as `Tally.add` does. Those of what `learns` do not count while the array predicts."""
        self.every.add(words, chosen)
        if not learns:
            self.predicted.add(words, chosen)


@dataclass(frozen=True, slots=True, eq=False)
class Landed:
    """Words that land where data say, in order: the `offsets` of their addresses from the base of the model, of shape
    [words], the `positions` that are added to these, and the `words`, both of shape [words, groups].
    """

    offsets: NDArray[np.int64]
    positions: Residues
    words: Residues

    @staticmethod
    def of(parts: Sequence[Landed]) -> Landed:
        """Put parts together, one after the other."""
        offsets = np.concatenate([part.offsets for part in parts])
        return Landed(
            offsets,
            np.concatenate([part.positions for part in parts]),
            np.concatenate([part.words for part in parts]),
        )

    def __getitem__(self, chosen: NDArray[np.int64]) -> Landed:
        return Landed(self.offsets[chosen], self.positions[chosen], self.words[chosen])

    def same(self, other: Landed) -> bool:
        """Say whether the same words land at the same places in the same order."""
        pairs = ((self.offsets, other.offsets), (self.positions, other.positions), (self.words, other.words))
        return all(np.array_equal(one, another) for one, another in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class Landings:
    """What a scatter lets land. `rows` numbers the positions of the words of `all`, and never falls."""

    all: Landed
    rows: NDArray[np.int64]

    def are(self, found: Landed) -> bool:
        """Say whether words that were found in the order of `found` land as these do.

        The words of one position may come in any order. Two positions may be one row, so the words of the one all come
        before those of the other.
        """
        if len(found.offsets) != len(self.rows):
            return False
        here, there = (np.argsort(each.offsets, kind="stable") for each in (found, self.all))
        rows = np.empty_like(self.rows)
        rows[here] = self.rows[there]
        return found[here].same(self.all[there]) and bool((np.diff(rows) >= 0).all())


@dataclass(slots=True, kw_only=True, eq=False)
class Expected:
    """Residues of a mapped graph.

    `elements`: by tensor, of shape [groups, *shape], one group where all have the same. Elements that nothing writes
    are 0, and those of next values what the model holds. `partials`: of each Product, by statement, the words after
    0, 1, 2 ... steps, of shape [groups, *rows, steps + 1]. `written` marks elements that statements write. `rounded`
    are the words of sums, which may overflow, `applied` those of the function unit. The elements of wide models and of
    their next values are stored integers; `words` has what everybody but an update reads of such models. `prediction`
    is what the results need, if the array predicts. `landed` has what lands in each next value that a scatter writes;
    its elements are `POISON`, since any may be any word.
    """

    graph: Graph
    format: Format
    groups: int
    elements: dict[str, Residues]
    written: dict[str, NDArray[np.bool_]]
    partials: dict[int, Residues]
    rounded: Events
    applied: Events
    words: dict[str, Residues]
    prediction: PredictedPart | None
    landed: dict[str, Landings] = field(default_factory=dict)

    @staticmethod
    def of(graph: Graph, format: Format, groups: int) -> Expected:
        """Draw what the host sends, and evaluate every statement once."""
        elements, tensors = {}, graph.tensors.values()
        for tensor in tensors:
            shape = (groups if tensor.split >= 0 else 1, *tensor.shape)
            given = tensor.role in ("input", "label", "model", "constant")
            elements[tensor.name] = residues.drawn(tensor.name, shape) if given else np.zeros(shape, dtype=np.int64)
        for model, following in graph.updates.items():
            elements[following] = elements[model].copy()
        found = Expected(
            graph=graph,
            format=format,
            groups=groups,
            elements=elements,
            written={tensor.name: np.zeros(tensor.shape, dtype=np.bool_) for tensor in tensors},
            partials={},
            rounded=Events.of(groups),
            applied=Events.of(groups),
            prediction=PredictedPart.of(graph),
            words={t.name: residues.upper(elements[t.name]) for t in tensors if t.guard and t.role == "model"},
        )
        for statement in graph.statements:
            _Evaluation(found, statement).run()
        return found

    def named(self, word: int, group: int) -> str:
        """The first element that has this residue, for messages."""
        for name, held in self.elements.items():
            places = np.argwhere(held[min(group, len(held) - 1)] == word)
            if len(places):
                return element_name(name, places[0].tolist())
        return "a word that is no element"


def element_name(tensor: str, place: Iterable[int]) -> str:
    """An element as people write it."""
    return tensor + "".join(f"[{at}]" for at in place)


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """The evaluation of one statement. Arrays have an axis of groups, then one for each index, extent 1 where nothing
    depends on it.
    """

    expected: Expected
    statement: Statement

    def run(self) -> None:
        """Give the elements that the statement writes their residues."""
        statement, expected = self.statement, self.expected
        target = self._window(expected.elements[statement.target], statement.write, statement.indices)
        if isinstance(statement.operation, Scatter):
            expected.landed[statement.target] = self._landings(statement.operation)
            target[...] = residues.POISON
            expected.written[statement.target][...] = True
            return
        words = self._words()
        if words.shape[0] > target.shape[0]:
            raise ScheduleFault(f"groups have parts of s{statement.id} {statement.target}, which all should have alike")
        target[...] = words
        window(expected.written[statement.target], statement.write, statement.indices)[...] = True

    def _words(self) -> Residues:
        expected, one = self.expected, self.expected.format.fraction
        match self.statement.operation:
            case Linear() as linear:
                return self._linear(linear)
            case Compare(op=op, left=left, right=right):
                number = (self._outputs(left) - self._outputs(right)) % PRIME
                return Sum.of(number * power_of_two(one) % PRIME).compared(op)
            case Function(name=name, operand=operand):
                return self._tallied(expected.applied, residues.applied(functions()[name].code, self._outputs(operand)))
            case Divide(left=left, right=right, unit=unit):
                numerator, divisor = np.broadcast_arrays(self._outputs(left), self._outputs(right))
                return self._tallied(expected.applied, residues.applied(functions()[unit].code, numerator, divisor))
            case Product() as product:
                return self._product(product)
            case Extreme() as extreme:
                return self._extreme(extreme)
            case Gather() as gather:
                return self._gather(gather)
            case Scatter():
                raise AssertionError("a scatter has no word for each element")

    # ---- operands

    def _window(self, array: NDArray[Any], subscripts: Sequence[Affine], indices: Sequence[Index]) -> NDArray[Any]:
        group = Index(name=_GROUP, low=0, high=len(array))
        return window(array, (Affine.index(_GROUP), *subscripts), (group, *indices))

    def _array(self, operand: Operand, indices: Sequence[Index]) -> Residues:
        match operand:
            case Read(tensor=tensor, subscripts=subscripts, stored=stored):
                held = self.expected.elements[tensor]
                return self._window(held if stored else self.expected.words.get(tensor, held), subscripts, indices)
            case Constant(value=value) if value == 1:
                one = power_of_two(self.expected.format.fraction)
                return np.full((1,) * (1 + len(indices)), one, dtype=np.int64)
            case _:
                raise ScheduleFault(f"s{self.statement.id} {self.statement.target} takes a word that no tensor holds")

    def _outputs(self, operand: Operand) -> Residues:
        return self._array(operand, self.statement.indices)

    def _summed(self, names: Iterable[str]) -> list[Index]:
        box = self.statement.box
        return [box[name] for name in names]

    def _over(self, factors: Sequence[Operand], names: Sequence[str]) -> tuple[Residues, Counts]:
        """The sum of products over the named indices; and how many products each output takes."""
        summed, outputs = self._summed(names), self.statement.indices
        arrays = [self._array(factor, (*outputs, *summed)) for factor in factors]
        if summed and self.statement.constraints:
            return self._running(arrays, summed)
        total = contracted(arrays, 1 + len(outputs), [index.extent for index in summed])
        points = math.prod(index.extent for index in summed)
        return total, np.full((1,) * total.ndim, points, dtype=np.int64)

    def _running(self, arrays: Sequence[Residues], summed: Sequence[Index]) -> tuple[Residues, Counts]:
        """Return the sum and the number of products of each output where a constraint says which points it takes."""
        axis, begin, end = self._taken(summed)
        product = arrays[0] if len(arrays) == 1 else arrays[0] * arrays[1] % PRIME
        product = np.broadcast_to(product, (*product.shape[:-1], summed[0].extent))
        before = np.zeros((*product.shape[:-1], 1), dtype=np.int64)
        sums = np.concatenate([before, np.cumsum(product, axis=-1)], axis=-1)
        total = np.moveaxis((sums[..., end] - sums[..., begin]) % PRIME, -1, axis)
        # No operand mentions the output index, so its own axis has extent 1.
        return np.squeeze(total, axis + 1), _along(end - begin, axis, total.ndim - 1)

    def _taken(self, summed: Sequence[Index]) -> tuple[int, Counts, Counts]:
        """The axis of the output index that a constraint ties to the summed one, and, for each of its values, the first
        of the summed index's values that count and the one after the last, counted from that index's first value.
        """
        statement = self.statement
        names = set(statement.constraints[0].names)
        tied = [n for n, index in enumerate(statement.indices) if index.name in names]
        mentioned = {name for read in statement.reads for s in read.subscripts for name in s.names}
        if len(statement.constraints) != 1 or len(summed) != 1 or len(tied) != 1 or len(names) != 2:
            raise ScheduleFault(f"s{statement.id} {statement.target} has constraints that no strand can keep")
        output, (point,) = statement.indices[tied[0]], summed
        if output.name in mentioned or point.name not in names:
            raise ScheduleFault(f"s{statement.id} {statement.target} has constraints that no strand can keep")
        (constraint,), outputs = statement.constraints, np.arange(output.low, output.high, dtype=np.int64)
        rest = constraint.constant + constraint.coefficient(output.name) * outputs
        factor = constraint.coefficient(point.name)
        # rest + factor * point >= 0
        low = -(rest // factor) if factor > 0 else np.full_like(rest, point.low)
        high = np.full_like(rest, point.high) if factor > 0 else rest // -factor + 1
        begin = np.clip(low, point.low, point.high) - point.low
        return 1 + tied[0], begin, np.maximum(np.clip(high, point.low, point.high) - point.low, begin)

    # ---- operations

    def _linear(self, linear: Linear) -> Residues:
        product = self.expected.format.fraction + linear.shift
        shift = product - linear.guard
        outputs = len(self.statement.indices)
        total = np.full((1,) * (1 + outputs), residues.half_unit(shift), dtype=np.int64)
        parts: Counts = np.zeros((1,) * (1 + outputs), dtype=np.int64)
        for term in linear.terms:
            made, points = self._over(term.factors, term.reduce)
            if self.statement.crosses and term.reduce:
                # Every group has a part of these terms; terms that are not summed are added once.
                repeats = self.expected.groups // len(made)
                made = made.sum(axis=0, keepdims=True) % PRIME * repeats
                points = points * self.expected.groups
            stored = bool(linear.guard) and is_stored(term)
            one = shift if stored else product
            scale = term.sign * (power_of_two(one) if len(term.factors) == 1 else 1)
            total = (total + made * scale) % PRIME
            parts = parts + points * (residues.STORED if stored else _weight(term, linear.shift))
        halves = np.full_like(parts, residues.half_unit(shift))
        found = Sum(total=total, halves=halves, parts=parts)
        if linear.test is not None:
            return found.compared(linear.test)
        words = found.word(shift, "sum", wide=bool(linear.guard))
        return self._tallied(self.expected.rounded, words, found.several(bool(linear.guard)))

    def _extreme(self, extreme: Extreme) -> Residues:
        fraction, mode = self.expected.format.fraction, extreme.op
        total: Residues = np.zeros((1,) * (1 + len(self.statement.indices)), dtype=np.int64)
        parts: Counts = np.zeros_like(total)
        pairs = [(operand, extreme.reduce) for operand in extreme.operands]
        if extreme.initial is not None:
            pairs.append((extreme.initial, ()))
        for operand, names in pairs:
            made, points = self._over((operand,), names)
            total, parts = (total + made) % PRIME, parts + points
        found = Sum(total=total * power_of_two(fraction) % PRIME, halves=np.zeros_like(parts), parts=parts)
        return found.word(fraction, mode)

    def _product(self, product: Product) -> Residues:
        """Evaluate the product step by step. Every step is rounded, and the words of all steps are kept."""
        statement, expected = self.statement, self.expected
        shift = expected.format.fraction + product.shift
        summed, outputs = self._summed(product.reduce), statement.indices
        axis, end = -1, np.array([math.prod(index.extent for index in summed)])
        if statement.constraints:
            axis, begin, end = self._taken(summed)
            if (begin[end > begin] > 0).any():
                raise ScheduleFault(f"s{statement.id} {statement.target} is a product that begins anew")
        rows = [index.extent for n, index in enumerate(outputs) if n + 1 != axis]
        operand = self._array(product.operand, (*outputs, *summed))
        extents = [index.extent if n + 1 != axis else 1 for n, index in enumerate(outputs)]
        first = power_of_two(shift) if product.initial is None else self._outputs(product.initial)
        shape = (max(operand.shape[0], np.shape(first)[0] if product.initial is not None else 1), *extents)
        word = np.broadcast_to(np.asarray(first, dtype=np.int64), shape)
        steps = [word]
        held = operand.shape[1 + len(outputs) :]
        for point in itertools.product(*(range(index.extent) for index in summed)):
            if len(steps) > int(end.max()):
                break
            at = tuple(min(k, extent - 1) for k, extent in zip(point, held, strict=True))
            total = (word * operand[(..., *at)] + residues.half_unit(shift)) % PRIME
            word = Sum.of(total).word(shift, "sum")
            expected.rounded.add(np.broadcast_to(word, (expected.groups, *shape[1:])), learns=self._learns)
            steps.append(word)
        taken = np.stack(steps, axis=-1)
        count = math.prod(index.extent for index in summed)
        whole = np.full((shape[0], *rows, count + 1), residues.POISON, dtype=np.int64)
        whole[..., : len(steps)] = taken.reshape(shape[0], *rows, len(steps))
        expected.partials[statement.id] = whole
        found = taken[..., end]
        return np.squeeze(found, -1) if axis < 0 else np.squeeze(np.moveaxis(found, -1, axis), axis + 1)

    def _gather(self, gather: Gather) -> Residues:
        """Return words that stand for a tensor, an offset and the word of a position, whatever position that is."""
        indices = self.statement.indices
        offset, table = self._offsets(gather.tensor, gather.subscripts, indices)
        places, position = np.broadcast_arrays(offset[None], self._array(table, indices))
        return residues.gathered(gather.tensor, places, position)

    def _offsets(
        self, tensor: str, subscripts: Sequence[Affine | Gathered], indices: Sequence[Index]
    ) -> tuple[NDArray[np.int64], Read]:
        """Return what is added to a position over a box, in words of the row-major tensor, and the table."""
        shape = self.expected.graph.tensors[tensor].shape
        offset: NDArray[np.int64] = np.zeros((1,) * len(indices), dtype=np.int64)
        for added, extent in zip(offsets_of(subscripts), shape, strict=True):
            offset = offset * extent + ramp(added, indices)
        tables = [(n, s.table) for n, s in enumerate(subscripts) if isinstance(s, Gathered)]
        if len(tables) != 1 or math.prod(shape[tables[0][0] + 1 :]) != 1:
            raise ScheduleFault(f"s{self.statement.id} {self.statement.target} gathers by positions that are not words")
        return offset, tables[0][1]

    def _landings(self, scatter: Scatter) -> Landings:
        """Return what lands, in order, and which words have one position."""
        parts, rows, before = [], [np.zeros(0, dtype=np.int64)], 0
        for landing in scatter.landings:
            parts.append(self._lands(landing))
            box = landing_box(self.statement, landing)
            turns = math.prod(index.extent for index in box if index in self.statement.reduced)
            rows.append(before + np.repeat(np.arange(turns), len(parts[-1].offsets) // turns))
            before += turns
        return Landings(Landed.of(parts), np.concatenate(rows))

    def _lands(self, landing: Landing) -> Landed:
        """Return what lands, in order."""
        box = landing_box(self.statement, landing)
        offset, table = self._offsets(self.statement.target, landing.subscripts, box)
        shape = (self.expected.groups, *(index.extent for index in box))
        position, word = (
            np.broadcast_to(self._array(each, box), shape).reshape(self.expected.groups, -1).T
            for each in (table, landing.value)
        )
        return Landed(np.broadcast_to(offset, shape[1:]).reshape(-1), position, word)

    @property
    def _learns(self) -> bool:
        """Whether a prediction does without the statement."""
        prediction = self.expected.prediction
        return prediction is not None and self.statement.id not in prediction.statements

    def _tallied(self, events: Events, words: Residues, chosen: NDArray[np.bool_] | bool = True) -> Residues:
        """The words, counted for every output in every group."""
        shape = (self.expected.groups, *(index.extent for index in self.statement.indices))
        mask = chosen if isinstance(chosen, bool) else np.broadcast_to(chosen, shape)
        events.add(np.broadcast_to(words, shape), mask, learns=self._learns)
        return words


def _weight(term: Term, shift: int) -> int:
    """Return 1 for a term that is a whole word, which a sum of nothing else leaves as it is, and 2 for any other.

    A word times one is whole only where the statement has no `shift` of its own. An integer quotient, for instance, is
    a word times one with another shift, so it can overflow.
    """
    ones = sum(isinstance(factor, Constant) for factor in term.factors)
    whole = term.sign > 0 and len(term.factors) - ones == 1 and (not ones or shift == 0)
    return 1 if whole else 2


def _along(values: Counts, axis: int, rank: int) -> Counts:
    shape = [1] * rank
    shape[axis] = len(values)
    return values.reshape(shape)
