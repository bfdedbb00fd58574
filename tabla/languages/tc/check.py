"""Checks the functions of a file: signatures, statements in order, calls, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tabla.base.faults import Faults, did_you_mean
from tabla.base.lexemes import Lexeme
from tabla.base.source import Label, Span
from tabla.languages.tc import syntax
from tabla.languages.tc.builtins import ARITY
from tabla.languages.tc.check_call import CallCheck
from tabla.languages.tc.check_expressions import Names
from tabla.languages.tc.check_statement import StatementCheck, defined
from tabla.languages.tc.program import Function, Statement, Tensor, Unit


class UnitCheck:
    """Checks all functions of a file, each when the first call or the end of the file asks for it."""

    def __init__(self, definitions: Sequence[syntax.Definition], faults: Faults) -> None:
        self.faults = faults
        self.definitions: dict[str, syntax.Definition] = {}
        self.checked: dict[str, Function | None] = {}
        self.open: list[str] = []
        for definition in definitions:
            name = definition.name
            if (first := self.definitions.get(name.text)) is not None:
                label = Label(first.name.span, "first here")
                hint = "choose another name"
                faults.add(f"'{name.text}' is already defined", name.span, "again here", also=[label], hint=hint)
            elif name.text in ARITY:
                faults.add(f"'{name.text}' is a built-in function", name.span, hint="choose another name")
            else:
                self.definitions[name.text] = definition

    def run(self) -> Unit:
        """Return the checked unit. All faults are raised together."""
        for name in self.definitions:
            self.function(name)
        self.faults.raise_any()
        return Unit(functions={name: found for name in self.definitions if (found := self.checked[name]) is not None})

    def function(self, name: str) -> Function | None:
        """Return the checked function, or None where it has faults, which are noted."""
        if name not in self.checked:
            self.open.append(name)
            self.checked[name] = FunctionCheck(self.definitions[name], self, self.faults).run()
            self.open.pop()
        return self.checked[name]


class FunctionCheck:
    """Checks one function: keeps what is defined so far while its statements are read in order."""

    def __init__(self, definition: syntax.Definition, unit: UnitCheck, faults: Faults) -> None:
        self.definition, self.unit, self.faults = definition, unit, faults
        self.sizes: dict[str, Span] = {}
        self.tensors: dict[str, Tensor] = {}
        self.later = self._later()
        self.annotated: dict[str, Tensor] = {}
        self.statements: list[Statement] = []
        self.notes: list[str] = []
        self.returned = [result.name.text for result in definition.returns]
        self.whole = not any(isinstance(statement, syntax.Broken) for statement in definition.statements)

    def run(self) -> Function | None:
        self._parameters()
        self._returns()
        for statement in self.definition.statements:
            match statement:
                case syntax.Comprehension():
                    self._comprehension(statement)
                case syntax.Call():
                    self._call(statement)
                case syntax.Broken():
                    pass
        self._results()
        if not self.whole:
            return None
        return Function(
            name=self.definition.name.text,
            sizes=tuple(self.sizes),
            inputs=tuple(parameter.name.text for parameter in self.definition.parameters),
            results=tuple(self.returned),
            tensors=self.tensors,
            statements=tuple(self.statements),
            notes=tuple(self.notes),
            span=self.definition.name.span,
        )

    def _parameters(self) -> None:
        for parameter in self.definition.parameters:
            assert parameter.type is not None
            for dimension in parameter.type.dimensions:
                self._dimension(dimension)
        for parameter in self.definition.parameters:
            assert parameter.type is not None
            if self._free(parameter.name):
                self._define({parameter.name.text: _tensor(parameter, parameter.type, "input")})

    def _dimension(self, dimension: Lexeme) -> None:
        if not dimension.text.isdigit():
            self.sizes.setdefault(dimension.text, dimension.span)
        elif int(dimension.text) == 0:
            self.faults.add("a dimension is at least 1", dimension.span, hint="write a size or a positive integer")

    def _free(self, name: Lexeme) -> bool:
        """Whether an argument may have this name."""
        if name.text in self.tensors or name.text in self.sizes:
            first = self.tensors[name.text].span if name.text in self.tensors else self.sizes[name.text]
            label = Label(first, "first here")
            hint = "sizes, tensors and indices share one set of names; choose another"
            self.faults.add(f"'{name.text}' is already defined", name.span, "again here", also=[label], hint=hint)
        elif name.text in ARITY:
            self.faults.add(f"'{name.text}' is a built-in function", name.span, hint="choose another name")
        elif name.text in self.unit.definitions:
            self.faults.add(f"'{name.text}' is a function of this file", name.span, hint="choose another name")
        else:
            return True
        return False

    def _returns(self) -> None:
        if not self.definition.returns:
            hint = "name what it gives: -> (B)"
            self.faults.add(f"'{self.definition.name.text}' returns nothing", self.definition.name.span, hint=hint)
        seen: dict[str, Span] = {}
        for result in self.definition.returns:
            name = result.name.text
            if name in seen:
                label = Label(seen[name], "first here")
                hint = "return each tensor once"
                self.faults.add(f"'{name}' is already defined", result.name.span, "again here", also=[label], hint=hint)
            elif name in self.tensors:
                label = Label(self.tensors[name].span, "an argument")
                hint = "return another name and assign it: B(i) = A(i)"
                self.faults.add(f"'{name}' is both input and output", result.name.span, also=[label], hint=hint)
            elif result.type is not None:
                for dimension in result.type.dimensions:
                    if dimension.text.isdigit():
                        self._dimension(dimension)
                self.annotated[name] = _tensor(result, result.type, "output")
            seen[name] = result.name.span

    def _comprehension(self, statement: syntax.Comprehension) -> None:
        value = statement.value
        if (annotation := statement.equivalent) is not None:
            self._note(annotation.span, f"'<=> {annotation.text}' changes nothing: the statement is what is computed")
        is_call = isinstance(value, syntax.Apply) and value.name.text in self.unit.definitions
        if is_call and statement.indices is None and statement.operator.text == "=" and not statement.clauses:
            assert isinstance(value, syntax.Apply)
            targets = (statement.target,)
            self._call(
                syntax.Call(targets=targets, function=value.name, arguments=value.arguments, span=statement.span)
            )
            return
        assign = StatementCheck(statement, self._names(), self.faults).run()
        known = self.tensors.get(statement.target.text)
        if assign is None:
            self._missed()
            return
        tensor = defined(assign, known, self.annotated.get(assign.target), self.returned, self.faults)
        if tensor is None:
            self._missed()
            return
        if known is None and tensor.initial:
            operator = statement.operator
            text = f"'{operator.text}' takes the '{tensor.name}' that the caller passes"
            self._note(operator.span, f"{text}; '{operator.text}!' would start from the identity")
        self._define({tensor.name: tensor})
        self.statements.append(assign)

    def _note(self, span: Span, text: str) -> None:
        self.notes.append(f"{span.source.name}:{span.line}:{span.column}: {text}")

    def _call(self, call: syntax.Call) -> None:
        check = CallCheck(call, self._names(), self.unit.definitions, self.unit.open, self.faults)
        function = self.unit.function(call.function.text) if check.may_call() else None
        checked = check.run(function, self.annotated, self.returned) if function is not None else None
        if checked is None:
            self._missed()
            return
        statement, tensors = checked
        self.notes += [note for note in statement.function.notes if note not in self.notes]
        self._define(tensors)
        self.statements.append(statement)

    def _missed(self) -> None:
        """Note that something that defines a name could not be read: from here on, uses of unknown names are
        no faults.
        """
        self.whole = False

    def _later(self) -> dict[str, Span]:
        """Return what statements will define, each name where it first stands."""
        found: dict[str, Span] = {}
        for statement in self.definition.statements:
            match statement:
                case syntax.Comprehension(target=target):
                    found.setdefault(target.text, target.span)
                case syntax.Call(targets=targets):
                    for target in targets:
                        found.setdefault(target.text, target.span)
        return found

    def _define(self, tensors: Mapping[str, Tensor]) -> None:
        self.tensors |= tensors
        for name in tensors:
            self.later.pop(name, None)

    def _names(self) -> Names:
        return Names(
            sizes=self.sizes,
            tensors=self.tensors,
            later=self.later,
            functions=self.unit.definitions,
            whole=self.whole,
        )

    def _results(self) -> None:
        if not self.whole:
            return
        for result in self.definition.returns:
            if result.name.text not in self.tensors:
                near = did_you_mean(result.name.text, self.tensors)
                hint = near or f"define it: {result.name.text}(i) = ..., or leave it out of the results"
                self.faults.add(f"'{result.name.text}' is returned but never defined", result.name.span, hint=hint)
                self.whole = False


def _tensor(parameter: syntax.Parameter, type_: syntax.TensorType, role: str) -> Tensor:
    dimensions = tuple(int(size.text) if size.text.isdigit() else size.text for size in type_.dimensions)
    return Tensor(
        name=parameter.name.text,
        scalar=type_.scalar,
        rank=len(dimensions),
        role="input" if role == "input" else "output",
        dimensions=dimensions,
        span=parameter.name.span,
    )
