"""Resolves names and finds the type of every value of one statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tabla.base.faults import Faults, did_you_mean
from tabla.base.source import Label, Span
from tabla.languages.tc import program, syntax
from tabla.languages.tc.builtins import ARITY, OWN
from tabla.languages.tc.program import Tensor, Value
from tabla.languages.tc.scalars import BOOL, FLOAT32, INT32, Scalar, arithmetic, promote

LOGICAL = frozenset({"&&", "||"})
COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})


class Skipped(Exception):
    """Raised where an expression has no value, because of a fault that has been noted."""


@dataclass(slots=True, kw_only=True)
class Names:
    """What names mean in a statement. `whole` is False where a statement of the function could not be read."""

    sizes: Mapping[str, Span]
    tensors: Mapping[str, Tensor]
    later: Mapping[str, Span]
    functions: Iterable[str]
    whole: bool
    lets: dict[str, Value] = field(default_factory=dict)
    # The indices in order of appearance, each with its first place.
    indices: dict[str, Span] = field(default_factory=dict)


class Expressions:
    """Turns the expressions of a statement into values, and notes what is wrong with them."""

    def __init__(self, names: Names, faults: Faults) -> None:
        self.names, self.faults = names, faults

    def value(self, expression: syntax.Expression) -> Value:
        """Return the checked value. `Skipped` is raised when a fault leaves none."""
        match expression:
            case syntax.Literal():
                return self._literal(expression)
            case syntax.Name():
                return self._name(expression)
            case syntax.Dimension():
                return self._dimension(expression)
            case syntax.Apply():
                return self._apply(expression)
            case syntax.Cast(scalar=scalar, operand=operand):
                return program.Convert(operand=self.value(operand), scalar=scalar, span=expression.span)
            case syntax.Unary():
                return self._unary(expression)
            case syntax.Binary():
                return self._binary(expression)
            case syntax.Choice():
                return self._choice(expression)

    def integral(self, value: Value, where: str) -> Value:
        """Return the checked value, which must be an integer."""
        if not value.scalar.integral:
            self._fault(
                f"{where} is {_a(value.scalar)}, an integer is expected",
                value.span,
                hint="cast it, int32(...), or leave out what makes it another type",
            )
        return value

    def _literal(self, expression: syntax.Literal) -> Value:
        if not expression.floating and expression.value > INT32.greatest:
            self._fault(
                f"{expression.value} is no int32",
                expression.span,
                hint=f"an integer is at most {INT32.greatest}; with a point it is a float",
            )
        scalar = FLOAT32 if expression.floating else INT32
        return program.Constant(value=expression.value, scalar=scalar, span=expression.span)

    def _name(self, expression: syntax.Name) -> Value:
        name, span = expression.text, expression.span
        if name in self.names.lets:
            return self.names.lets[name]
        if name in self.names.sizes:
            return program.SizeVariable(name=name, scalar=INT32, span=span)
        if name in self.names.tensors:
            return self._read(name, (), span, span)
        if name in self.names.later:
            self._undefined(name, span)
        self.names.indices.setdefault(name, span)
        return program.Index(name=name, scalar=INT32, span=span)

    def _dimension(self, expression: syntax.Dimension) -> Value:
        name = expression.tensor.text
        if name not in self.names.tensors:
            if name in self.names.sizes or name in self.names.indices or name in self.names.lets:
                hint = "T.0 is the first size of a tensor T"
                self._fault(f"'{name}' is a number and has no dimensions", expression.tensor.span, hint=hint)
            self._undefined(name, expression.tensor.span)
        tensor = self.names.tensors[name]
        if expression.axis >= tensor.rank:
            self._fault(
                f"'{name}' has {count(tensor.rank, 'dimension')}, there is no dimension {expression.axis}",
                expression.span,
                also=[Label(tensor.span, "defined here")],
                hint="the first dimension is T.0" if tensor.rank else "a tensor of rank 0 is one number",
            )
        return program.Extent(tensor=name, axis=expression.axis, scalar=INT32, span=expression.span)

    def _apply(self, expression: syntax.Apply) -> Value:
        name, place = expression.name.text, expression.name.span
        if name in self.names.tensors:
            subscripts = self._all(expression.arguments)
            return self._read(name, subscripts, expression.span, place)
        if name in ("min", "max"):
            return self._call(expression, 2)
        if name in self.names.sizes or name in self.names.lets or name in self.names.indices:
            hint = "only tensors and functions take arguments in parentheses; a product is written with '*'"
            self._fault(f"'{name}' is a number, a tensor is expected", place, hint=hint)
        if name in ARITY:
            return self._call(expression, ARITY[name])
        if name in self.names.functions:
            hint = f"give its result a name: x = {name}(...)"
            self._fault(f"the function '{name}' is called inside an expression", place, hint=hint)
        if name in OWN:
            return self._call(expression, OWN[name])
        # The arguments are looked at for their own faults and indices.
        self._all(expression.arguments)
        self._undefined(name, place, known=[*self.names.tensors, *ARITY, *OWN])
        raise Skipped

    def _call(self, expression: syntax.Apply, arity: int) -> Value:
        name = expression.name.text
        if len(expression.arguments) != arity:
            self._fault(
                f"'{name}' takes {count(arity, 'argument')}, not {len(expression.arguments)}",
                expression.span,
                hint=f"{name}({', '.join('xyzw'[:arity])})",
            )
        arguments = self._all(expression.arguments)
        scalar = arguments[0].scalar
        for argument in arguments:
            scalar = arithmetic(scalar, argument.scalar)
        if name not in ("min", "max"):
            scalar = promote(scalar, FLOAT32)
        return program.Apply(function=name, arguments=arguments, scalar=scalar, span=expression.span)

    def _read(self, name: str, subscripts: tuple[Value, ...], span: Span, place: Span) -> Value:
        tensor = self.names.tensors[name]
        if len(subscripts) != tensor.rank:
            bare = not subscripts and tensor.rank
            found = "a scalar is expected" if bare else f"found {count(len(subscripts), 'subscript')}"
            self._fault(
                f"'{name}' has {count(tensor.rank, 'dimension')}, {found}",
                span,
                also=[Label(tensor.span, "defined here")],
                hint=f"read it as {_example(name, tensor.rank)}",
            )
        for subscript in subscripts:
            self.integral(subscript, "this subscript")
        return program.Read(tensor=name, subscripts=subscripts, scalar=tensor.scalar, span=span)

    def _unary(self, expression: syntax.Unary) -> Value:
        operand = self.value(expression.operand)
        if expression.operator == "!":
            return program.Unary(operator="!", operand=self._boolean(operand), scalar=BOOL, span=expression.span)
        scalar = arithmetic(operand.scalar, operand.scalar)
        if isinstance(operand, program.Constant):
            return program.Constant(value=Fraction(-operand.value), scalar=scalar, span=expression.span)
        return program.Unary(operator="-", operand=operand, scalar=scalar, span=expression.span)

    def _binary(self, expression: syntax.Binary) -> Value:
        left, right = self._all((expression.left, expression.right))
        operator = expression.operator.text
        if operator in LOGICAL:
            self._boolean(left)
            self._boolean(right)
            common = scalar = BOOL
        elif operator in COMPARISONS:
            common, scalar = promote(left.scalar, right.scalar), BOOL
        else:
            common = scalar = arithmetic(left.scalar, right.scalar)
        return program.Binary(
            operator=operator, left=left, right=right, common=common, scalar=scalar, span=expression.span
        )

    def _choice(self, expression: syntax.Choice) -> Value:
        condition, chosen, other = self._all((expression.condition, expression.chosen, expression.other))
        return program.Choice(
            condition=self._boolean(condition),
            chosen=chosen,
            other=other,
            scalar=promote(chosen.scalar, other.scalar),
            span=expression.span,
        )

    def _boolean(self, value: Value) -> Value:
        if value.scalar != BOOL:
            hint = "compare it: x != 0, x > 0"
            self._fault(f"a boolean is expected, this is {_a(value.scalar)}", value.span, hint=hint)
        return value

    def _all(self, expressions: tuple[syntax.Expression, ...]) -> tuple[Value, ...]:
        """All values; faults of each are noted before `Skipped`."""
        found: list[Value] = []
        for expression in expressions:
            try:
                found.append(self.value(expression))
            except Skipped:
                continue
        if len(found) < len(expressions):
            raise Skipped
        return tuple(found)

    def _undefined(self, name: str, span: Span, known: Iterable[str] = ()) -> None:
        if not self.names.whole:
            raise Skipped
        if name in self.names.later:
            self._fault(
                f"'{name}' is read before it is defined",
                span,
                also=[Label(self.names.later[name], "defined here")],
                hint="a statement reads what the statements before it define",
            )
        near = did_you_mean(name, known or self.names.tensors)
        hint = near or f"make it an argument, float(N) {name}, or define it before: {name}(i) = ..."
        self._fault(f"there is no tensor or function '{name}'", span, hint=hint)

    def _fault(self, message: str, span: Span, *, hint: str, also: Iterable[Label] = ()) -> None:
        self.faults.add(message, span, also=also, hint=hint)
        raise Skipped


def _a(scalar: Scalar) -> str:
    return f"{'an' if str(scalar)[0] == 'i' else 'a'} {scalar}"


def count(number: int, noun: str) -> str:
    """Return ``no subscripts``, ``1 subscript``, ``2 subscripts`` and so on."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _example(name: str, rank: int) -> str:
    indices = "ijklmnopqr"[:rank]
    return f"{name}({', '.join(indices)})" if rank else f"'{name}', without parentheses"
