"""A checked TABLA program becomes a graph, with the rounding points of decision 0002."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.ir.format import Format
from tabla.ir.graph import Constant, Graph, Index, Read, Role, Term
from tabla.lang.faults import did_you_mean
from tabla.lang.tabla.program import Assignment, Kind, Program
from tabla.lower.builder import GraphBuilder
from tabla.lower.rate import Rate, is_product
from tabla.lower.tabla.elements import Copied, Elements, Multiplied
from tabla.lower.tabla.expressions import Expressions, Sum, graph_affine
from tabla.lower.tabla.update import Updater
from tabla.source import TablaError

_ROLES: dict[Kind, Role] = {Kind.INPUT: "input", Kind.LABEL: "label", Kind.MODEL: "model"}


def lower(program: Program, *, number_format: Format, results: Sequence[str] = (), name: str = "program") -> Graph:
    """Return the graph of `program`. Apart from refusing what `number_format` cannot hold, it does not depend on the
    format.

    `results` are names to return beside those that the program returns anyway. A program without gradients returns its
    outputs. Elements of a result that were never assigned are 0.

    Raises `TablaError` for a constant or a learning rate that `number_format` cannot hold, and for a result that is not
    a value of the program.
    """
    return _Lowering(program, number_format).run(results, name)


class _Lowering:
    def __init__(self, program: Program, number_format: Format) -> None:
        self._program = program
        self._ranges = {i.name: Index(name=i.name, low=i.start, high=i.stop) for i in program.iterators}
        self._variables = {variable.name: variable for variable in program.variables}
        self._builder = GraphBuilder(number_format, self._ranges)
        self._elements = Elements(self._builder, self._variables)
        self._expressions = Expressions(self._builder, self._elements)

    def run(self, results: Sequence[str], name: str) -> Graph:
        program = self._program
        shown = self._results(results)
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
        if program.gradients:
            rate = Rate(program.learning_rate, self._builder.number_format, program.learning_rate_span)
            updater = Updater(self._builder, self._elements, rate)
            for gradient in program.gradients:
                model = self._variables[gradient.model]
                updates[model.name] = updater.update(gradient, model)
        return self._builder.graph(name, updates, returned)

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
            case [Term(factors=[Read() as read], sign=1, reduce=())]:
                self._elements.place(name, box, Copied(write=write, indices=indices, operand=read))
            case [term] if self._variables[name].kind is Kind.GRADIENT and is_product(term):
                source = Multiplied(write=write, indices=indices, term=term, span=span)
                self._elements.place(name, box, source)
            case _:
                operation = self._expressions.operation(value)
                self._elements.store(name, box, write, indices, operation, span)
