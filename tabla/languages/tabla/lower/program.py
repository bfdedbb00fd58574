"""A checked TABLA program becomes a graph, with the rounding points of decision 0002.

Every model gets its update, ``w - mu * g``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction

from tabla.base.faults import did_you_mean
from tabla.base.source import Label, Span, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Graph, Index, Read, Role, Term
from tabla.graph.rate import RATE
from tabla.graph.unread_parts import MEANT
from tabla.languages.kernel.boxes import Box
from tabla.languages.kernel.builder import GraphBuilder
from tabla.languages.kernel.rate import Descent, Rate, is_product
from tabla.languages.tabla import program as tree
from tabla.languages.tabla.lower.dividends import divided_alone, remark
from tabla.languages.tabla.lower.elements import Copied, Elements, Multiplied, Piece
from tabla.languages.tabla.lower.expressions import Expressions, Sum, graph_affine
from tabla.languages.tabla.program import Assignment, Gradient, Kind, Program, Variable


class Updater:
    """Emits the statements of ``w.next``."""

    def __init__(self, builder: GraphBuilder, elements: Elements, rate: Rate) -> None:
        self._builder, self._elements, self._rate = builder, elements, rate
        rate.define(builder)

    def update(self, gradient: Gradient, model: Variable) -> str:
        """Emit the update of a model, and return the tensor of its next value.

        Whether the gradient itself is a result changes nothing here.
        """
        target = f"{model.name}.next"
        self._builder.tensor(target, model.shape, "next", origin=model.name, span=model.span)
        descent = Descent(builder=self._builder, rate=self._rate, target=target, weights=model.name, span=model.span)
        for piece in self._elements.pieces(gradient.gradient):
            match piece.source:
                case Multiplied(term=term, write=write, span=span) as product:
                    descent.by_factors(term, write, _restricted(write, product.indices, piece.box), span)
                case _:
                    self._by_gradient(descent, piece, gradient)
        return target

    def _by_gradient(self, descent: Descent, piece: Piece, gradient: Gradient) -> None:
        indices = tuple(Index(name=f"axis{axis}", low=low, high=high) for axis, (low, high) in enumerate(piece.box))
        write = tuple(Affine.make(0, {index.name: 1}) for index in indices)
        word = self._elements.fetch(gradient.gradient, piece, write)
        descent.by_word(word, write, indices, gradient.span)


def _restricted(write: Sequence[Affine], indices: tuple[Index, ...], box: Box) -> tuple[Index, ...]:
    """The part of `indices` for which `write` stays in `box`."""
    ranges = {index.name: index for index in indices}
    for subscript, (low, high) in zip(write, box, strict=True):
        for name, sign in subscript.coefficients:
            if sign > 0:
                low, high = low - subscript.constant, high - subscript.constant
            else:
                low, high = subscript.constant - high + 1, subscript.constant - low + 1
            ranges[name] = replace(ranges[name], low=low, high=high)
    return tuple(ranges[index.name] for index in indices)


_ROLES: dict[Kind, Role] = {Kind.INPUT: "input", Kind.LABEL: "label", Kind.MODEL: "model"}


def lower(
    program: Program,
    *,
    number_format: Format,
    results: Sequence[str] = (),
    name: str = "program",
    runtime_rate: bool = False,
) -> Graph:
    """Return the graph of `program`. Apart from refusing what `number_format` cannot hold, it does not depend on the
    format.

    `results` are names to return beside those that the program returns anyway. A program without gradients returns its
    outputs. Elements of a result that were never assigned are 0. With `runtime_rate` the learning rate is a word that
    hosts load (decision 23).

    Raises `TablaError` for a constant or a learning rate that `number_format` cannot hold, and for a result that is not
    a value of the program. With `runtime_rate` a program without gradients, and one that uses ``mu`` as a value, are
    errors as well.
    """
    return _Lowering(program, number_format, runtime_rate).run(results, name)


class _Lowering:
    def __init__(self, program: Program, number_format: Format, runtime_rate: bool) -> None:
        self._program, self._runtime_rate = program, runtime_rate
        self._ranges = {i.name: Index(name=i.name, low=i.start, high=i.stop, span=i.span) for i in program.iterators}
        self._variables = {variable.name: variable for variable in program.variables}
        self._builder = GraphBuilder(number_format, self._ranges)
        self._elements = Elements(self._builder, self._variables)
        self._expressions = Expressions(self._builder, self._elements)
        self._divided: Mapping[str, Fraction] = {}

    def run(self, results: Sequence[str], name: str) -> Graph:
        program = self._program
        shown = self._results(results)
        gradients = (gradient.gradient for gradient in program.gradients)
        self._divided = divided_alone(program, {*shown, *gradients})
        for variable in program.variables:
            if (role := _ROLES.get(variable.kind)) is not None:
                shape, span = variable.shape, variable.span
                self._builder.tensor(variable.name, shape, role, origin=variable.name, span=span)
                self._elements.given(variable.name)
        for assignment in program.assignments:
            self._assign(assignment)
        # Results come first: a gradient that is one is computed under its own name, beside its update.
        returned = tuple((each, self._elements.result(each)) for each in shown)
        updates: dict[str, str] = {}
        loaded = None
        if self._runtime_rate:
            _refuse_runtime_rate(program, shown)
        if program.gradients:
            rate = Rate(
                program.learning_rate,
                self._builder.number_format,
                program.learning_rate_span,
                loaded=self._runtime_rate,
            )
            loaded = rate.record
            updater = Updater(self._builder, self._elements, rate)
            for gradient in program.gradients:
                model = self._variables[gradient.model]
                updates[model.name] = updater.update(gradient, model)
        return self._builder.graph(name, updates, returned, loaded)

    def _results(self, asked: Sequence[str]) -> tuple[str, ...]:
        """The names to return, each once: the program's outputs, then what the user asks for."""
        assigned = {assignment.target for assignment in self._program.assignments}
        learnt = {gradient.model for gradient in self._program.gradients}
        names = list(self._program.outputs)
        for name in asked:
            if name in learnt:
                # Models that learn are returned always.
                continue
            if name not in assigned:
                what = f"'{name}' is not computed" if name in self._variables else f"there is no '{name}'"
                hint = did_you_mean(name, assigned) or f"there are {', '.join(sorted(assigned))}"
                raise TablaError(f"--result {name}: {what}", hint=hint)
            names.append(name)
        return tuple(dict.fromkeys(names))

    def _assign(self, assignment: Assignment) -> None:
        name, span = assignment.target, assignment.span
        indices = tuple(self._ranges[iterator.name] for iterator in assignment.iterators)
        write = tuple(map(graph_affine, assignment.subscripts))
        box = tuple((low, high + 1) for low, high in (subscript.bounds(self._ranges) for subscript in write))
        if assignment.constant is not None:
            constant = Constant(value=assignment.constant, span=assignment.value.span)
            self._elements.place(name, box, Copied(write=write, indices=indices, operand=constant))
            return
        value = self._expressions.lower(assignment.value, name, indices)
        match value.signed() if isinstance(value, Sum) else ():
            case [Term(factors=[Read() as read], sign=1, reduce=())] if not name.startswith(MEANT):
                self._elements.place(name, box, Copied(write=write, indices=indices, operand=read))
            case [term] if self._variables[name].kind is Kind.GRADIENT and is_product(term):
                source = Multiplied(write=write, indices=indices, term=term, span=span)
                self._elements.place(name, box, source)
            case terms:
                self._remark(name, terms, span)
                operation = self._expressions.operation(value)
                self._elements.store(name, box, write, indices, operation, span)

    def _remark(self, name: str, terms: Sequence[Term], span: Span) -> None:
        """Say so where a sum that is only divided may saturate."""
        divisor = self._divided.get(name)
        if divisor is not None:
            text = remark(name, divisor, terms, self._ranges, self._builder.number_format)
            if text is not None:
                self._builder.quantiser.notes.append(f"{span.source.name}:{span.line}:{span.column}: {text}")


def _refuse_runtime_rate(program: Program, results: Sequence[str]) -> None:
    """Refuse a program whose learning rate cannot be a word that hosts load, or that returns it."""
    if not program.gradients:
        raise TablaError("--runtime-rate: the program has no gradient, so it has no learning rate", hint="leave it out")
    if RATE in results:
        raise TablaError(
            f"--runtime-rate: the result '{RATE}' would stay as it is compiled",
            hint="leave the result out: hosts know the rate that they load",
        )
    for assignment in program.assignments:
        for read in _constants(assignment.value) if assignment.target != RATE else ():
            if read.name == RATE:
                raise TablaError(
                    f"--runtime-rate: '{RATE}' is used as a value, which would stay as it is compiled",
                    Label(read.span, "used here"),
                    hint="write the number, or give it another name",
                )


def _constants(node: tree.Node) -> Iterator[tree.Constant]:
    """Yield the named constants of an expression, in no particular order."""
    waiting = [node]
    while waiting:
        match waiting.pop():
            case tree.Constant() as found:
                yield found
            case parent:
                for each in (getattr(parent, field.name) for field in fields(parent)):
                    parts = each if isinstance(each, tuple) else (each,)
                    waiting += [part for part in parts if isinstance(part, tree.Node)]
