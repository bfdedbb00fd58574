"""Checks a call of another function of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tabla.base.faults import Faults, did_you_mean
from tabla.base.lexemes import Lexeme
from tabla.base.source import Label
from tabla.languages.tc import syntax
from tabla.languages.tc.check_expressions import Names, count
from tabla.languages.tc.program import CallStatement, Function, Tensor
from tabla.languages.tc.scalars import promote


class CallCheck:
    """Checks ``a, b = function(c, d)`` against the names around it and the function that it calls."""

    def __init__(
        self,
        call: syntax.Call,
        names: Names,
        definitions: Mapping[str, syntax.Definition],
        callers: Sequence[str],
        faults: Faults,
    ) -> None:
        self.call, self.names, self.definitions, self.callers = call, names, definitions, callers
        self.faults = faults

    def may_call(self) -> bool:
        """Return whether the name is that of a function, and not of a function that waits for this very call."""
        name = self.call.function
        if name.text not in self.definitions:
            near = did_you_mean(name.text, self.definitions)
            hint = near or f"define it in this file: def {name.text}(...) -> (...) {{ ... }}"
            self.faults.add(f"there is no function '{name.text}'", name.span, hint=hint)
            return False
        if name.text in self.callers:
            chain = " -> ".join([*self.callers[self.callers.index(name.text) :], name.text])
            hint = "a function cannot call itself, not through others either"
            self.faults.add(f"'{name.text}' calls itself: {chain}", name.span, hint=hint)
            return False
        return True

    def run(
        self, function: Function, annotated: Mapping[str, Tensor], returned: Sequence[str]
    ) -> tuple[CallStatement, dict[str, Tensor]] | None:
        """Return the checked call and the tensors that it defines, or None after faults."""
        call, good = self.call, True
        defined_at = Label(function.span, "defined here")
        for what, given, wanted in (
            ("argument", len(call.arguments), len(function.inputs)),
            ("result", len(call.targets), len(function.results)),
        ):
            if given != wanted:
                message = f"'{function.name}' has {wanted} {what}{'' if wanted == 1 else 's'}, not {given}"
                hint = f"{', '.join(function.results)} = {function.name}({', '.join(function.inputs)})"
                self.faults.add(message, call.span, also=[defined_at], hint=hint)
                return None
        if initial := [name for name in function.results if function.tensors[name].initial]:
            hint = f"write '+=!' in '{function.name}', or copy its statements here"
            message = f"'{function.name}' adds to the caller's '{initial[0]}' and cannot be called here"
            self.faults.add(message, call.span, also=[defined_at], hint=hint)
            return None
        arguments: list[str] = []
        for parameter, argument in zip(function.inputs, call.arguments, strict=True):
            name = self._argument(function.tensors[parameter], argument)
            good = good and name is not None
            arguments.append(name or "")
        tensors: dict[str, Tensor] = {}
        for result, target in zip(function.results, call.targets, strict=True):
            tensor = self._target(function.tensors[result], target, annotated, returned)
            if tensor is not None and target.text in tensors:
                label = Label(tensors[target.text].span, "first here")
                hint = "give each result its own name"
                self.faults.add(f"'{target.text}' is already defined", target.span, also=[label], hint=hint)
                tensor = None
            if tensor is None:
                good = False
                continue
            tensors[target.text] = tensor
        if not good:
            return None
        targets = tuple(target.text for target in call.targets)
        statement = CallStatement(targets=targets, function=function, arguments=tuple(arguments), span=call.span)
        return statement, tensors

    def _argument(self, parameter: Tensor, argument: syntax.Expression) -> str | None:
        hint = "give the name of a tensor; compute it in a statement before"
        if not isinstance(argument, syntax.Name):
            self.faults.add("an argument of a function is the name of a tensor", argument.span, hint=hint)
            return None
        tensor = self.names.tensors.get(argument.text)
        if tensor is None:
            if self.names.whole:
                self.faults.add(f"there is no tensor '{argument.text}'", argument.span, hint=hint)
            return None
        label = Label(parameter.span, "declared here")
        if tensor.rank != parameter.rank:
            message = f"'{argument.text}' has {count(tensor.rank, 'dimension')}, {parameter.rank or 'none'} expected"
            self.faults.add(message, argument.span, also=[label], hint="give a tensor of that rank")
            return None
        if promote(parameter.scalar, tensor.scalar) != parameter.scalar:
            message = f"'{argument.text}' holds {tensor.scalar}, {parameter.scalar} is expected"
            hint = f"cast it in a statement before: x(i) = {parameter.scalar}({argument.text}(i))"
            self.faults.add(message, argument.span, also=[label], hint=hint)
            return None
        return argument.text

    def _target(
        self, result: Tensor, target: Lexeme, annotated: Mapping[str, Tensor], returned: Sequence[str]
    ) -> Tensor | None:
        known = self.names.tensors.get(target.text) or annotated.get(target.text)
        if target.text in self.names.sizes:
            label = Label(self.names.sizes[target.text], "first here")
            hint = "choose another name"
            self.faults.add(f"'{target.text}' is already defined", target.span, also=[label], hint=hint)
            return None
        if known is None:
            return Tensor(
                name=target.text,
                scalar=result.scalar,
                rank=result.rank,
                role="output" if target.text in returned else "temporary",
                dimensions=None,
                span=target.span,
            )
        label = Label(known.span, "defined here")
        if known.role == "input":
            hint = "inputs are immutable: assign to another name"
            self.faults.add(f"'{target.text}' is an input and cannot be assigned", target.span, also=[label], hint=hint)
        elif known.rank != result.rank:
            message = f"'{target.text}' has {count(known.rank, 'dimension')}, the result has {result.rank}"
            self.faults.add(message, target.span, also=[label], hint="choose another name")
        elif promote(known.scalar, result.scalar) != known.scalar:
            message = f"'{target.text}' holds {known.scalar}, the result is {result.scalar}"
            self.faults.add(message, target.span, also=[label], hint="choose another name")
        else:
            return known
        return None
