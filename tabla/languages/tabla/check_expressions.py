"""Expressions: names resolved, ranks and bounds proved, iterators bound, every element read has a value."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from tabla.base.faults import Faults, did_you_mean
from tabla.base.lexemes import Lexeme
from tabla.base.source import Label, Span, TablaError
from tabla.graph import graph
from tabla.graph.graph import Affine
from tabla.languages.kernel.regions import Region, first_outside
from tabla.languages.tabla import syntax
from tabla.languages.tabla.constants import affine_of, constant_value
from tabla.languages.tabla.kernel import index_of
from tabla.languages.tabla.operators import FUNCTIONS, GROUP_FUNCTIONS, WRITTEN, Operator, arity
from tabla.languages.tabla.program import (
    Call,
    Constant,
    Expression,
    Group,
    Index,
    Iterator,
    Kind,
    Lookup,
    Negation,
    Number,
    Operation,
    Read,
    Subscript,
    nodes,
)
from tabla.languages.tabla.symbols import Known, Spoilt, Symbols


class ExpressionChecker:
    """Turns syntax into checked expressions. None stands for an expression whose fault has been noted."""

    def __init__(self, symbols: Symbols, faults: Faults) -> None:
        self._symbols, self._faults = symbols, faults
        # The target and the elements of the statement at hand, for the cure of a self-reference.
        self.storing: tuple[str, Region] | None = None
        # Whether that statement adds to its target, because data say which elements these are.
        self.adds = False
        # Where the left side of the statement at hand mentions its iterators.
        self.left: dict[str, Span] = {}
        # The iterators that the text uses.
        self.used: set[str] = set()

    def check(self, node: syntax.Expression, bound: frozenset[str]) -> Expression | None:
        """Return `node` checked, with the iterators `bound` around it."""
        match node:
            case syntax.Literal(value=value, span=span):
                return Number(value=value, span=span)
            case syntax.Reference():
                return self._reference(node, bound)
            case syntax.Negation(operand=operand, span=span):
                inner = self.check(operand, bound)
                return None if inner is None else Negation(operand=inner, span=span)
            case syntax.Operation():
                first, operations = syntax.chain(node)
                left = self.check(first, bound)
                for each in operations:
                    right = self.check(each.right, bound)
                    left = (
                        None
                        if left is None or right is None
                        else Operation(operator=each.operator, left=left, right=right, span=each.span)
                    )
                return left
            case syntax.Call(name=name, subscripts=subscripts) if name.text in GROUP_FUNCTIONS and (
                subscripts or name.text not in FUNCTIONS
            ):
                return self._group(node, bound)
            case syntax.Call():
                return self._call(node, bound)
            case _:
                assert_never(node)

    def whole(self, node: syntax.Expression, what: str) -> int | None:
        """Return the integer that `node` is known to be, or None after a noted fault. `what` names it in messages."""
        expression = self.check(node, frozenset())
        if expression is None:
            return None
        try:
            value = constant_value(expression)
        except TablaError as fault:
            self._faults.include(fault)
            return None
        if value is None:
            self._faults.add(
                f"{what} must be known from the text",
                node.span,
                "this is computed",
                hint="use a constant: n = 10;",
            )
        elif value.denominator != 1:
            self._faults.add(
                f"{what} must be a whole number",
                node.span,
                f"this is {shown(value)}",
                hint="division does not round; choose constants that divide",
            )
        else:
            return int(value)
        return None

    def subscripts(self, node: syntax.Reference, bound: frozenset[str]) -> tuple[Subscript, ...] | None:
        """Return the subscripts of `node`, each affine or a position, or None after a noted fault."""
        found: list[Subscript] = []
        for subscript in node.subscripts:
            expression = self.check(subscript, bound)
            if expression is None:
                continue
            try:
                affine = affine_of(expression)
            except TablaError as fault:
                self._faults.include(fault)
                continue
            if affine is not None:
                found.append(affine)
            elif self._is_position(node.name.text, expression, subscript.span):
                found.append(expression)
        return tuple(found) if len(found) == len(node.subscripts) else None

    def _is_position(self, name: str, expression: Expression, span: Span) -> bool:
        """Return whether an expression that is not affine is a position in `name`. A fault is noted if it is not."""
        given = False
        for part in nodes(expression):
            match part:
                case Index() | Negation():
                    pass
                case Number(value=value) | Constant(value=value) if value.denominator == 1:
                    pass
                case Operation(operator=Operator.ADD | Operator.SUBTRACT | Operator.MULTIPLY):
                    pass
                case Read(name=read) | Lookup(name=read):
                    known = self._symbols.get(read)
                    if isinstance(known, Known) and known.kind is Kind.INPUT:
                        given = True
                        continue
                    self._faults.add(
                        f"'{read}' is no input, so it says no place in '{name}'",
                        part.span,
                        also=[] if known is None or isinstance(known, Spoilt) else [Label(known.span, "declared here")],
                        hint=f"the place comes with the sample: declare model_input {read};",
                    )
                    return False
                case _:
                    given = False
                    break
        if not given:
            self._faults.add(
                f"a subscript of '{name}' is not a whole number or a sum of iterators",
                span,
                hint="a subscript is an iterator, a constant, a sum such as 2*i + j + 1, or an input that says which",
            )
        return given

    def ranges(self, subscripts: tuple[Subscript, ...]) -> dict[str, graph.Index]:
        """Return the iterators in `subscripts` as indices."""
        found = [self._symbols.get(name) for each in subscripts if isinstance(each, Affine) for name in each.names]
        return {each.name: index_of(each) for each in found if isinstance(each, Iterator)}

    def bounds(self, node: syntax.Reference, subscripts: tuple[Subscript, ...], shape: tuple[int, ...]) -> bool:
        """Return whether `subscripts` stay inside `shape` for all iterations. A fault is noted if they do not.

        Data say whether positions do.
        """
        sound = True
        ranges = self.ranges(subscripts)
        for at, (affine, size) in enumerate(zip(subscripts, shape, strict=True)):
            if not isinstance(affine, Affine):
                continue
            low, high = affine.bounds(ranges)
            if 0 <= low and high < size:
                continue
            sound = False
            runs = f"is {low}" if low == high else f"runs from {low} to {high}"
            place = f"dimension {at + 1} of " if len(shape) > 1 else ""
            self._faults.add(
                f"{place}'{node.name.text}' has the elements 0 to {size - 1}",
                node.subscripts[at].span,
                f"this {runs}",
                hint="an iterator's end is exclusive: i[0:n] runs from 0 to n-1",
            )
        return sound

    def rank(self, node: syntax.Reference, known: Known) -> bool:
        """Return whether `node` has as many subscripts as the variable has dimensions.

        A fault is noted if it has not.
        """
        if len(node.subscripts) == known.rank:
            return True
        name, dimensions = node.name.text, _counted(known.rank, "dimension")
        self._faults.add(
            f"'{name}' has {dimensions}, but {_counted(len(node.subscripts), 'subscript')} here",
            node.span,
            also=[Label(known.span, "first assigned here" if known.shape is None else "declared here")]
            if known.mentioned
            else (),
            hint=f"write {with_subscripts(known)}",
        )
        return False

    def _reference(self, node: syntax.Reference, bound: frozenset[str]) -> Expression | None:
        symbol = self._symbols.find(node.name)
        subscripts = self.subscripts(node, bound)
        match symbol:
            case None:
                return None
            case Iterator():
                self.used.add(symbol.name)
                return self._iterator(node, symbol, bound)
            case Known():
                # A name that is read badly is read all the same.
                symbol.read = True
                if subscripts is None or not self.rank(node, symbol):
                    return None
                symbol.mentioned = True
                if symbol.constant is not None:
                    return Constant(name=symbol.name, value=symbol.constant, span=node.span)
                if symbol.shape is not None and not self.bounds(node, subscripts, symbol.shape):
                    return None
                if self.adds and self.storing is not None and self.storing[0] == symbol.name:
                    self._faults.add(
                        f"'{symbol.name}' stands on both sides, and this assignment adds to it already",
                        node.span,
                        hint=f"leave '{symbol.name}' out on the right",
                    )
                    return None
                if not symbol.given and not self._assigned(node, symbol, subscripts):
                    return None
                fixed = tuple(each for each in subscripts if isinstance(each, Affine))
                if len(fixed) < len(subscripts):
                    return Lookup(name=symbol.name, subscripts=subscripts, span=node.span)
                return Read(name=symbol.name, subscripts=fixed, span=node.span)
            case _:
                assert_never(symbol)

    def _iterator(self, node: syntax.Reference, iterator: Iterator, bound: frozenset[str]) -> Expression | None:
        if node.subscripts:
            self._faults.add(
                f"'{iterator.name}' is an iterator and has no subscripts",
                node.span,
                hint=f"write {iterator.name} alone, or the name of a variable",
            )
        elif iterator.name not in bound:
            self._faults.add(
                f"iterator '{iterator.name}' is not bound here",
                node.span,
                also=[Label(iterator.span, "declared here")],
                hint=f"use it on the left side, or inside a group function: sum[{iterator.name}](...)",
            )
        else:
            return Index(iterator=iterator, span=node.span)
        return None

    def _assigned(self, node: syntax.Reference, known: Known, subscripts: tuple[Subscript, ...]) -> bool:
        ranges, forms = self.ranges(subscripts), list[Affine]()
        for axis, subscript in enumerate(subscripts):
            if isinstance(subscript, Affine):
                forms.append(subscript)
                continue
            # A position may lead to every element. No iterator has this name.
            place = graph.Index(name=f"{axis}'", low=0, high=max(1, known.variable().shape[axis]))
            ranges[place.name] = place
            forms.append(Affine.index(place.name))
        element = first_outside(known.region, tuple(forms), ranges)
        if element is None:
            return True
        hint = "assign it before; statements run in order"
        if self.storing is not None and self.storing[0] == known.name and _holds(self.storing[1], element):
            hint = "a statement computes all its elements from what was there before it, not one after the other"
            hint += self._loop_cure(subscripts)
        shown_element = f"{known.name}{''.join(f'[{index}]' for index in element)}"
        self._faults.add(f"'{shown_element}' has no value yet", node.span, "read here", hint=hint)
        return False

    def _loop_cure(self, subscripts: tuple[Subscript, ...]) -> str:
        """Return how a loop in order would read the element before, or the one after."""
        ranges = self.ranges(subscripts)
        for subscript in subscripts:
            match subscript:
                case Affine(coefficients=((name, 1),)) if name in self.left and subscript.constant:
                    order = "in order" if subscript.constant < 0 else "in reverse order"
                    return f"; declare the loop as 'iterator {name}[{ranges[name].low}:{ranges[name].high}] {order};'"
                case _:
                    pass
        return ""

    def _group(self, node: syntax.Call, bound: frozenset[str]) -> Expression | None:
        name = node.name.text
        iterators: list[Iterator] = []
        sound = bool(node.subscripts)
        if not sound:
            self._faults.add(f"'{name}' needs an iterator", node.name.span, hint=f"say over which one: {name}[i](...)")
        for subscript in node.subscripts:
            iterator = self._binder(name, subscript, bound | {i.name for i in iterators})
            if iterator is None:
                sound = False
            else:
                iterators.append(iterator)
        if len(node.arguments) != 1:
            self._faults.add(
                f"'{name}' takes one argument, not {len(node.arguments)}",
                node.span,
                hint=f"it runs over the iterator: {name}[i](x[i] * w[i])",
            )
            return None
        # After a fault in the brackets nobody knows what the body may use.
        if not sound:
            return None
        body = self.check(node.arguments[0], bound | {i.name for i in iterators})
        if body is None:
            return None
        return Group(function=GROUP_FUNCTIONS[name], iterators=tuple(iterators), body=body, span=node.span)

    def _binder(self, function: str, node: syntax.Expression, bound: frozenset[str]) -> Iterator | None:
        if not isinstance(node, syntax.Reference) or node.subscripts:
            self._faults.add(
                f"'{function}' runs over an iterator, this is something else",
                node.span,
                hint=f"declare one, iterator i[0:n]; and write {function}[i](...)",
            )
            return None
        symbol = self._symbols.find(node.name, purpose="used as an iterator")
        match symbol:
            case None:
                return None
            case Known():
                self._faults.add(
                    f"'{symbol.name}' is no iterator",
                    node.span,
                    also=[Label(symbol.span, "declared here")],
                    hint="declare one: iterator i[0:n];",
                )
                return None
            case Iterator(name=name) if name in self.left:
                self._faults.add(
                    f"'{function}[{name}]' runs over an iterator of the left side",
                    node.span,
                    also=[Label(self.left[name], "bound here already")],
                    hint="declare another iterator with the same range",
                )
                return None
            case Iterator(name=name) if name in bound:
                self._faults.add(
                    f"'{function}[{name}]' stands inside another group over '{name}'",
                    node.span,
                    hint="declare another iterator with the same range",
                )
                return None
            case Iterator():
                self.used.add(symbol.name)
                return symbol
            case _:
                assert_never(symbol)

    def _call(self, node: syntax.Call, bound: frozenset[str]) -> Expression | None:
        name = node.name
        function = FUNCTIONS.get(name.text)
        if function is not None and node.subscripts:
            self._faults.add(
                f"'{name.text}' is not a group function and takes no iterator",
                node.subscripts[0].span,
                hint=f"group functions are {', '.join(sorted(GROUP_FUNCTIONS))}",
            )
            return None
        if function is None and node.subscripts:
            # Nobody knows what the arguments of such a group function may use.
            self._unknown_function(name)
            return None
        arguments = [self.check(argument, bound) for argument in node.arguments]
        if function is None:
            self._unknown_function(name)
            return None
        if len(arguments) != arity(function):
            expected = _counted(arity(function), "argument")
            inside = ", ".join("ab"[: arity(function)])
            self._faults.add(
                f"'{name.text}' takes {expected}, not {len(arguments)}", node.span, hint=f"write {name.text}({inside})"
            )
            return None
        checked = tuple(argument for argument in arguments if argument is not None)
        return Call(function=function, arguments=checked, span=node.span) if len(checked) == len(arguments) else None

    def _unknown_function(self, name: Lexeme) -> None:
        if self._symbols.get(name.text) is not None:
            self._faults.add(
                f"'{name.text}' is not a function",
                name.span,
                hint=f"write a product with '*': {name.text} * (...)",
            )
            return
        functions = [*FUNCTIONS, *(name for name in GROUP_FUNCTIONS if name not in FUNCTIONS)]
        written = f"write {WRITTEN[name.text]}" if name.text in WRITTEN else None
        hint = written or did_you_mean(name.text, functions) or f"there are {', '.join(sorted(functions))}"
        self._faults.add(f"unknown function '{name.text}'", name.span, hint=hint)


def shown(value: Fraction) -> str:
    """Return a rational number as messages show it."""
    if value.denominator != 1:
        # Decimal, because the largest constants are larger than any float64.
        return f"{Decimal(value.numerator) / value.denominator:.6g}"
    text = str(value)
    return text if len(text) <= 24 else f"a number of {len(text.lstrip('-'))} digits"


def with_subscripts(known: Known) -> str:
    """Return how a user may write an element of a variable."""
    return known.name + "".join(f"[{i}]" for i in "ijklmnop"[: known.rank])


def _counted(count: int, noun: str) -> str:
    return f"no {noun}s" if count == 0 else f"{count} {noun}{'s' if count > 1 else ''}"


def _holds(region: Region, element: tuple[int, ...]) -> bool:
    return region.covers(tuple((index, index + 1) for index in element))
