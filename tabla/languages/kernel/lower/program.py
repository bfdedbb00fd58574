"""A kernel becomes a graph, with the rounding points of decision 0002.

Every model gets its update, ``w - mu * g``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from tabla.base.faults import did_you_mean
from tabla.base.source import Span, TablaError
from tabla.graph.boxes import Box, around, axes
from tabla.graph.composed_functions import COMPOSED_FUNCTIONS
from tabla.graph.constraints import applying
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Graph, Index, Read, Term
from tabla.graph.rewrite import summed_names
from tabla.graph.unread_parts import MEANT
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.lower.builder import GraphBuilder
from tabla.languages.kernel.lower.dividends import divided_alone, remark
from tabla.languages.kernel.lower.elements import Copied, Elements, Multiplied, Piece, solvable
from tabla.languages.kernel.lower.expressions import Expressions
from tabla.languages.kernel.lower.rate import Descent, Rate, is_product
from tabla.languages.kernel.lower.values import Sum, inside, total_of, unlimited
from tabla.languages.kernel.tree import Apply, Expression, Kernel, Number, Reduce, Statement, Tensor, Update, walk

Copies = Literal["none", "stated", "all"]
"""Which copies of elements are statements of the graph. Readers of the others read what is copied."""


def refuse_rounding(statement: Statement) -> None:
    """Refuse whole numbers that are made of reals in a kernel that learns, because training compares the words with the
    same graph in float64, which does not round to words.
    """
    for part in walk(statement.value):
        if isinstance(part, Apply) and part.function in COMPOSED_FUNCTIONS and COMPOSED_FUNCTIONS[part.function].rounds:
            message = f"{part.function} in a program that learns does not run on the machine yet"
            raise refused(message, part.span, "compute it before, and hand the result in")


class Updater:
    """Emits the statements of ``w.next``."""

    def __init__(self, builder: GraphBuilder, elements: Elements, rate: Rate) -> None:
        self._builder, self._elements, self._rate = builder, elements, rate
        rate.define(builder)

    def update(self, update: Update, model: Tensor) -> str:
        """Emit the update of a model, and return the tensor of its next value.

        Whether the gradient itself is a result changes nothing here.
        """
        target = f"{model.name}.next"
        self._builder.tensor(target, model.shape, "next", origin=model.name, span=model.span)
        descent = Descent(builder=self._builder, rate=self._rate, target=target, weights=model.name, span=model.span)
        for piece in self._elements.pieces(update.gradient):
            match piece.source:
                case Multiplied(term=term, write=write, span=span) as product if (
                    indices := _restricted(write, product.indices, piece.box)
                ) is not None:
                    descent.by_factors(term, write, indices, span)
                case _:
                    self._by_gradient(descent, piece, update)
        return target

    def _by_gradient(self, descent: Descent, piece: Piece, update: Update) -> None:
        indices, write = axes(piece.box)
        word = self._elements.fetch(update.gradient, piece, write)
        descent.by_word(word, write, indices, update.span)


def _restricted(write: tuple[Affine, ...], indices: tuple[Index, ...], box: Box) -> tuple[Index, ...] | None:
    """Return the part of `indices` for which `write` stays in `box`, or None if it is no box of indices."""
    ranges = {index.name: index for index in indices}
    if around(write, ranges) == box:
        return indices
    if not solvable(write):
        return None
    for subscript, (low, high) in zip(write, box, strict=True):
        for name, sign in subscript.coefficients:
            if sign > 0:
                low, high = low - subscript.constant, high - subscript.constant
            else:
                low, high = subscript.constant - high + 1, subscript.constant - low + 1
            ranges[name] = replace(ranges[name], low=low, high=high)
    return tuple(ranges[index.name] for index in indices)


def lower(
    kernel: Kernel,
    *,
    number_format: Format,
    results: Sequence[str] = (),
    runtime_rate: bool = False,
    copies: Copies = "none",
    reals: Collection[str] | None = None,
    named_sums: bool = True,
) -> Graph:
    """Return the graph of a kernel. Apart from refusing what `number_format` cannot hold, it does not depend on the
    format.

    `results` are tensors to return beside those that the kernel returns anyway. Elements of a result that no statement
    writes are 0. With `runtime_rate` the learning rate is a word that hosts load (decision 23).
    `copies` says which copies of elements are statements of the graph: none, those whose ranges the text states, or
    all. Warnings can name what such a statement leaves out.
    An integer n is the word n. With `reals` it is the real number n instead, where the format holds that: the tensors
    of integers in `reals` have such words, and so has what is made of them and of indices. Without `named_sums` no note
    says which sums may saturate before they are divided.

    Raises `TablaError` for a constant or a learning rate that `number_format` cannot hold, and for a result that is no
    value of the kernel.
    """
    return _Lowering(kernel, number_format, runtime_rate, copies, reals, named_sums).run(results)


class _Lowering:
    def __init__(
        self,
        kernel: Kernel,
        number_format: Format,
        runtime_rate: bool,
        copies: Copies,
        reals: Collection[str] | None,
        named_sums: bool,
    ) -> None:
        self._kernel, self._runtime_rate, self._kept_copies = kernel, runtime_rate, copies
        self._reals, self._named_sums = reals, named_sums
        self._builder = GraphBuilder(number_format, {})
        self._elements = Elements(self._builder, kernel.tensors)
        self._expressions = Expressions(self._builder, self._elements, reals)
        self._gradients = frozenset(update.gradient for update in kernel.updates)
        self._divided: Mapping[str, Fraction] = {}
        self._writers = Counter(statement.target for statement in kernel.statements)

    def run(self, results: Sequence[str]) -> Graph:
        kernel = self._kernel
        shown = self._results(results)
        if self._named_sums:
            self._divided = divided_alone(kernel, {*shown, *self._gradients})
        for name, tensor in kernel.tensors.items():
            if tensor.role != "value":
                role = "input" if tensor.role == "initial" else tensor.role
                self._builder.tensor(name, tensor.shape, role, origin=name, span=tensor.span, base=tensor.base)
                self._elements.given(name)
        for statement in kernel.statements:
            if kernel.updates:
                refuse_rounding(statement)
            self._state(statement)
        # Results come first: a gradient that is one is computed under its own name, beside its update.
        returned = tuple((each, self._elements.result(each)) for each in shown)
        updates: dict[str, str] = {}
        updaters: dict[Fraction, Updater] = {}
        loaded = None
        for update in kernel.updates:
            if update.rate not in updaters:
                number_format, span = self._builder.number_format, update.rate_span
                rate = Rate(update.rate, number_format, span, loaded=self._runtime_rate)
                loaded = rate.record
                updaters[update.rate] = Updater(self._builder, self._elements, rate)
            updates[update.model] = updaters[update.rate].update(update, kernel.tensors[update.model])
        return self._builder.graph(kernel.name, updates, returned, loaded)

    def _results(self, asked: Sequence[str]) -> tuple[str, ...]:
        """The names to return, each once: the results of the kernel, then what the user asks for."""
        written = {statement.target for statement in self._kernel.statements}
        learnt = {update.model for update in self._kernel.updates}
        names = list(self._kernel.results)
        for name in asked:
            if name in learnt:
                # Models that learn are returned always.
                continue
            if name not in written:
                what = f"'{name}' is not computed" if name in self._kernel.tensors else f"there is no '{name}'"
                hint = did_you_mean(name, written) or f"there are {', '.join(sorted(written))}"
                raise TablaError(f"--result {name}: {what}", hint=hint)
            names.append(name)
        return tuple(dict.fromkeys(names))

    def _state(self, statement: Statement) -> None:
        name, indices, write, span = statement.target, statement.indices, statement.write, statement.span
        self._builder.ranges.update({index.name: index for index in indices})
        box = statement.box
        match statement:
            case Statement(value=Number(value=number, span=place), conditions=()) if name not in self._gradients and (
                not write
                or (not number and solvable(write) and statement.dense and not self._elements.takes(name, box))
            ):
                # A single value that is known, and zeros, need no word; who reads them reads the constant. Zeros beside
                # elements that are computed lie in one tensor with them.
                counts = statement.value.type == "integer" and (self._reals is None or name not in self._reals)
                unit = self._builder.number_format.one if counts else 1
                constant = Constant(value=number / unit, span=place)
                self._elements.place(name, box, Copied(write=write, indices=indices, operand=constant))
                return
        own = unlimited(statement.value)
        if not self._elements.pieces(name) and self._state_sum(statement, own):
            return
        value = self._expressions.lower(own, name, indices, statement.conditions)
        if statement.partial:
            only = self._writers[name] == 1
            self._elements.store_where(statement, self._expressions.operation(value), only=only)
            return
        match value.signed() if isinstance(value, Sum) else ():
            case [Term(factors=[Read() as read], sign=1, reduce=())] if self._copies(statement):
                self._elements.place(name, box, Copied(write=write, indices=indices, operand=read))
            case [term] if name in self._gradients and is_product(term):
                source = Multiplied(write=write, indices=indices, term=term, span=span)
                self._elements.place(name, box, source)
            case terms:
                self._remark(name, terms, span)
                operation = self._expressions.operation(value)
                self._elements.store(name, box, write, indices, operation, span)

    def _state_sum(self, statement: Statement, own: Expression) -> bool:
        """State a reduction under conditions, or a sum under conditions and what is added to it, as one statement of
        the graph. Return False for any other value.
        """
        name, indices, around = statement.target, statement.indices, statement.conditions
        match own:
            case Reduce(conditions=(_, *_)) as reduce if reduce.reduction != "norm" and self._expressions.agrees(
                name, indices, reduce
            ):
                reduce = inside(reduce)
                operation, gaps = self._expressions.alone(reduce, name, indices, around)
            case _ if (total := total_of(own)) is not None:
                operation, gaps, reduce = self._expressions.beside(own, total, name, indices, around), False, total
            case _:
                return False
        summed = [self._builder.ranges[each] for each in summed_names(operation)]
        conditions = applying((*around, *reduce.conditions), [*indices, *summed])
        self._elements.store_under(
            statement, operation, conditions, filled=gaps or statement.partial, only=self._writers[name] == 1
        )
        return True

    def _copies(self, statement: Statement) -> bool:
        """Return whether readers of a copy may read what it copies."""
        match self._kept_copies:
            case "all":
                return False
            case "stated" if any(index.span is not None for index in statement.indices):
                return False
            case _:
                return solvable(statement.write) and not statement.target.startswith(MEANT)

    def _remark(self, name: str, terms: Sequence[Term], span: Span | None) -> None:
        """Say so where a sum that is only divided may saturate."""
        divisor = self._divided.get(name)
        if divisor is not None:
            text = remark(name, divisor, terms, self._builder.ranges, self._builder.number_format)
            if text is not None:
                place = "" if span is None else f"{span.source.name}:{span.line}:{span.column}: "
                self._builder.quantiser.notes.append(f"{place}{text}")
