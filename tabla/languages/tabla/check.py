"""The check of a whole text, statement by statement: from the syntax tree to the checked `Program`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from tabla.base.faults import Faults, did_you_mean
from tabla.base.source import Label, Source, Span, TablaError
from tabla.graph.boxes import Box
from tabla.graph.graph import Affine
from tabla.languages.kernel.regions import Region
from tabla.languages.tabla import syntax
from tabla.languages.tabla.check_expressions import ExpressionChecker, with_subscripts
from tabla.languages.tabla.constants import constant_value, parse_number
from tabla.languages.tabla.declarations import Declarer
from tabla.languages.tabla.order import Loop, loop_at
from tabla.languages.tabla.program import (
    Assignment,
    Expression,
    Iterator,
    Kind,
    Number,
    Program,
    Subscript,
    iterators_in,
    positions,
)
from tabla.languages.tabla.symbols import Known, Spoilt, Symbols
from tabla.languages.tabla.warnings import Warnings

_RATE = "mu"


class Checker:
    """Reads the items of one text in order."""

    def __init__(
        self, source: Source, items: tuple[syntax.Item, ...], defines: Mapping[str, str], faults: Faults
    ) -> None:
        self._source, self._items, self._faults = source, items, faults
        later: dict[str, Span] = {}
        for item in items:
            if isinstance(item, syntax.Assignment):
                later.setdefault(item.target.name.text, item.target.name.span)
        self._symbols = Symbols(faults, later)
        self._expressions = ExpressionChecker(self._symbols, faults)
        self._declarer = Declarer(self._symbols, self._expressions, faults)
        self._assignments: list[Assignment] = []
        self._defines = {name: parse_number(text) for name, text in defines.items()}
        self._used: set[str] = set()
        self._broken: set[str] = set()
        self._learns = any(isinstance(item, syntax.GradientDeclaration) for item in items)
        self._rate_span: Span | None = None
        self._warnings = Warnings(learns=self._learns, rate=_RATE)

    def run(self, elsewhere: Collection[str]) -> Program:
        """Return the checked program. The preprocessor used the definitions of the names in `elsewhere`."""
        if self._learns:
            self._enter_rate()
        self._statements()
        self._check_gradients()
        self._check_defines(elsewhere)
        if not self._faults and not self._declarer.gradients and not self._outputs():
            self._faults.add(
                "the program computes nothing",
                Span(source=self._source, start=0, end=0),
                hint="assign a gradient (gradient g -> w; g[i] = ...;) or a value",
            )
        self._faults.raise_any()
        program = self._program()
        self._warnings.unread(self._symbols, self._expressions.used, {g.model for g in program.gradients})
        self._warnings.learning_rate(program)
        return replace(program, warnings=tuple(sorted(self._warnings.found, key=lambda warned: warned.span.start)))

    def _program(self) -> Program:
        known = [symbol for symbol in self._symbols if isinstance(symbol, Known)]
        rate = next((k.constant for k in known if k.name == _RATE and k.constant is not None), None)
        return Program(
            source=self._source,
            variables=tuple(k.variable() for k in known if k.mentioned),
            iterators=tuple(symbol for symbol in self._symbols if isinstance(symbol, Iterator)),
            gradients=tuple(self._declarer.gradients),
            assignments=tuple(self._assignments),
            outputs=() if self._learns else self._outputs(),
            learning_rate=rate if rate is not None and self._learns else Fraction(1),
            learning_rate_span=self._rate_span,
        )

    def _enter_rate(self) -> None:
        """A program that learns has ``mu``, whether it sets it or not."""
        rate = self._defines.get(_RATE)
        if rate is not None:
            self._used.add(_RATE)
        place = Span(source=self._source, start=0, end=0)
        value = Fraction(1) if rate is None else rate
        self._symbols.enter(
            Known(
                name=_RATE,
                kind=Kind.TEMPORARY,
                rank=0,
                constant=value,
                mentioned=False,
                span=place,
                region=Region(boxes=((),)),
            )
        )

    def _statements(self) -> None:
        """Read all items, and the statements of each loop in order turn by turn."""
        position = 0
        while position < len(self._items):
            loop = loop_at(self._items, position, self._declarer.orders, self._faults)
            if loop is None:
                self._item(self._items[position])
                position += 1
                continue
            position += len(loop.statements)
            self._loop(loop, self._items[position] if position < len(self._items) else None)

    def _loop(self, loop: Loop, following: syntax.Item | None) -> None:
        """Read the statements of a loop turn by turn. `following` is the item behind it."""
        self._expressions.used.add(loop.name)
        targets = [statement.target.name.text for statement in loop.statements]
        before = {name for name in loop.reads if isinstance(self._symbols.get(name), Known)}
        for statements in loop.turns():
            faults = len(self._faults)
            for statement in statements:
                self._item(statement)
            # The turns that follow would have the same faults.
            if len(self._faults) > faults:
                break
        if not loop.values:
            for name in targets:
                self._doubt(name)
        self._warnings.read_in_turns |= loop.reads & set(targets)
        if isinstance(following, syntax.Assignment):
            name = following.target.name.text
            if name in before and name not in targets:
                self._warnings.behind_loop(following, loop.name)

    def _item(self, item: syntax.Item) -> None:
        self._expressions.left = {}
        self._expressions.storing, self._expressions.adds = None, False
        match item:
            case syntax.Declaration() | syntax.GradientDeclaration() | syntax.IteratorDeclaration():
                self._declarer.declare(item)
                self._guard_rate(item)
            case syntax.Assignment():
                self._assign(item)
            case syntax.Broken(names=names):
                self._broken.update(names)
                for name in names:
                    # A name that was sound so far stays so: the broken statement may have read it only.
                    if self._symbols.get(name) is None:
                        self._symbols.spoil(name)
            case _:
                assert_never(item)

    def _guard_rate(self, item: syntax.Item) -> None:
        symbol = self._symbols.get(_RATE)
        declared = isinstance(symbol, Iterator) or (isinstance(symbol, Known) and symbol.kind is not Kind.TEMPORARY)
        if self._learns and declared:
            self._faults.add(
                f"'{_RATE}' is the learning rate of a program with gradients",
                item.span,
                hint=f"set it as a constant ({_RATE} = 0.1;) or choose another name",
            )
            self._symbols.spoil(_RATE)

    def _assign(self, item: syntax.Assignment) -> None:
        target, name = item.target, item.target.name.text
        known = self._target(target)
        left = self._left(target)
        if known is not None and left is not None:
            region = Region(boxes=(tuple((low, high + 1) for low, high in self._intervals(known, left)),))
            self._expressions.storing, self._expressions.adds = (name, region), bool(positions(left))
        bound = frozenset(self._expressions.left)
        value = self._expressions.check(item.value, bound)
        if known is None or left is None:
            self._doubt(name)
            return
        if self._fits(target, known, left):
            self._store(item, known, left, value)
        else:
            self._doubt(name)

    def _doubt(self, name: str) -> None:
        """Say no more about a name whose assignment is at fault, unless it has its values from elsewhere."""
        symbol = self._symbols.get(name)
        if not (isinstance(symbol, Iterator) or (isinstance(symbol, Known) and symbol.given)):
            self._symbols.spoil(name)

    def _target(self, node: syntax.Reference) -> Known | None:
        """The variable that an assignment to `node` changes, new or old; None after a noted fault."""
        name = node.name
        match self._symbols.get(name.text):
            case None:
                return Known(name=name.text, kind=Kind.TEMPORARY, rank=len(node.subscripts), span=name.span)
            case Known(kind=kind) as known:
                if known.given:
                    self._faults.add(
                        f"'{name.text}' is a {kind.value} and cannot be assigned",
                        node.span,
                        also=[Label(known.span, "declared here")],
                        hint="a model learns by its gradient; other values need names of their own",
                    )
                    return None
                return known if self._expressions.rank(node, known) else None
            case Iterator(span=span):
                self._faults.add(
                    f"'{name.text}' is an iterator and cannot be assigned",
                    node.span,
                    also=[Label(span, "declared here")],
                    hint="it takes its values by itself; give yours another name",
                )
                return None
            case _:
                return None

    def _left(self, node: syntax.Reference) -> tuple[Subscript, ...] | None:
        """The subscripts of the left side, which binds their iterators; None after a fault.

        Affine ones bind each iterator once.
        """
        everything = frozenset(symbol.name for symbol in self._symbols if isinstance(symbol, Iterator))
        subscripts = self._expressions.subscripts(node, everything)
        if subscripts is None:
            return None
        sound = True
        for affine, subscript in zip(subscripts, node.subscripts, strict=True):
            if not isinstance(affine, Affine):
                sound &= self._adds(node, subscript)
                continue
            names = list(affine.names)
            if len(names) > 1 or any(abs(coefficient) != 1 for _, coefficient in affine.coefficients):
                self._faults.add(
                    "a subscript on the left side is a constant, or one iterator plus a constant",
                    subscript.span,
                    hint="move the arithmetic to the right side",
                )
                sound = False
            for name in names:
                if name in self._expressions.left:
                    self._faults.add(
                        f"iterator '{name}' stands twice on the left side",
                        subscript.span,
                        also=[Label(self._expressions.left[name], "here already")],
                        hint="declare another iterator with the same range",
                    )
                    sound = False
                self._expressions.left.setdefault(name, subscript.span)
        for position in positions(subscripts):
            for name in iterators_in(position):
                self._expressions.left.setdefault(name, position.span)
        return subscripts if sound else None

    def _adds(self, node: syntax.Reference, subscript: syntax.Expression) -> bool:
        """Return whether a target may have a position among its subscripts. A fault is noted if it may not."""
        match self._symbols.get(node.name.text):
            case Iterator() | Spoilt():
                return True  # its fault is noted elsewhere
            case Known() as known if known.given or known.kind is Kind.GRADIENT:
                return True
        self._faults.add(
            f"'{node.name.text}' is no gradient, and data say which of its elements this is",
            subscript.span,
            hint="only a gradient is assigned at a number that an input brings",
        )
        return False

    def _intervals(self, known: Known, subscripts: tuple[Subscript, ...]) -> list[tuple[int, int]]:
        """Return the first and the last element of each axis that subscripts reach. Positions may reach all of them."""
        ranges = self._expressions.ranges(subscripts)
        shape = known.shape or (1,) * len(subscripts)
        return [
            each.bounds(ranges) if isinstance(each, Affine) else (0, size - 1)
            for each, size in zip(subscripts, shape, strict=True)
        ]

    def _fits(self, node: syntax.Reference, known: Known, left: tuple[Subscript, ...]) -> bool:
        if known.shape is not None:
            return self._expressions.bounds(node, left, known.shape)
        for subscript, (low, _) in zip(node.subscripts, self._intervals(known, left), strict=True):
            if low < 0:
                self._faults.add(f"'{known.name}' has no element {low}", subscript.span, hint="subscripts start at 0")
                return False
        return True

    def _store(
        self, item: syntax.Assignment, known: Known, left: tuple[Subscript, ...], value: Expression | None
    ) -> None:
        self._symbols.replace(known)
        box = tuple((low, high + 1) for low, high in self._intervals(known, left))
        before = replace(known)
        known.assigned = item.target.span
        known.region, known.read, known.mentioned = known.region.with_box(box), False, True
        known.constant = None
        if value is None:
            if not box:
                self._symbols.spoil(known.name)
            return
        if positions(left):
            self._addition(item, before, box)
        if not box and known.kind is Kind.TEMPORARY:
            value = self._constant(item, known, value)
        if not positions(left):
            self._warnings.assigned(before, known, box)
        bound = [self._symbols.get(name) for name in self._expressions.left]
        self._assignments.append(
            Assignment(
                target=known.name,
                subscripts=left,
                iterators=tuple(symbol for symbol in bound if isinstance(symbol, Iterator)),
                value=value,
                constant=known.constant,
                again=bool(positions(left) and before.region.meets(box)),
                span=item.span,
            )
        )

    def _addition(self, item: syntax.Assignment, before: Known, box: Box) -> None:
        """Note the fault of an assignment that adds to the elements in `box` of a gradient as it was before."""
        if before.region.meets(box) and not before.region.covers(box):
            self._faults.add(
                f"this adds to elements of '{before.name}' of which only some have a value",
                item.target.span,
                also=[] if before.assigned is None else [Label(before.assigned, "assigned here")],
                hint="assign all of them before, or none: then they begin as 0",
            )

    def _constant(self, item: syntax.Assignment, known: Known, value: Expression) -> Expression:
        """The value of a scalar, replaced where the command line says so; `known` keeps what is known."""
        try:
            known.constant = constant_value(value)
        except TablaError as fault:
            self._faults.include(fault)
            self._symbols.spoil(known.name)
            return value
        if known.constant is not None and (given := self._defines.get(known.name)) is not None:
            self._used.add(known.name)
            known.constant = given
            value = Number(value=given, span=value.span)
        if known.name == _RATE and self._learns:
            self._rate_span = item.value.span
            if known.constant is None:
                self._faults.add(
                    f"'{_RATE}' is the learning rate and must be known from the text",
                    item.value.span,
                    "this is computed",
                    hint="give the value another name",
                )
                self._symbols.spoil(_RATE)
        return value

    def _check_gradients(self) -> None:
        for gradient in self._declarer.gradients:
            known = self._symbols.get(gradient.gradient)
            # A broken statement that names the gradient may have assigned it.
            if isinstance(known, Known) and not known.region.boxes and known.name not in self._broken:
                self._faults.add(
                    f"gradient '{known.name}' is never assigned",
                    known.span,
                    hint=f"compute it: {with_subscripts(known)} = ...;",
                )

    def _check_defines(self, elsewhere: Collection[str]) -> None:
        constants = [s.name for s in self._symbols if isinstance(s, Known) and s.constant is not None]
        for name, value in sorted(self._defines.items()):
            if name in elsewhere:
                continue
            if value is None:
                self._faults.add_placeless(f"-D {name}: not a number", hint=f"such as -D {name}=10")
            elif name not in self._used:
                symbol = self._symbols.get(name)
                message = "the program sets no such constant" if symbol is None else "this is not a constant"
                listed = f"constants are {', '.join(sorted(constants))}" if constants else "there are no constants"
                self._faults.add_placeless(f"-D {name}: {message}", hint=did_you_mean(name, constants) or listed)

    def _outputs(self) -> tuple[str, ...]:
        known = (symbol for symbol in self._symbols if isinstance(symbol, Known))
        return tuple(
            k.name for k in known if k.kind is Kind.TEMPORARY and k.mentioned and not k.read and k.constant is None
        )
