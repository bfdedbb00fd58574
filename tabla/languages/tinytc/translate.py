"""A function of the tensor language as a kernel: its instructions are interpreted once, on values that are formulas.

Integers are forms of the loops' indices, real numbers are expressions, and memrefs are views of tensors. A store or a
block instruction is a statement; a loop closes over the statements of its body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.tree import Apply, Expression, Number, Read, Reduce, Statement
from tabla.languages.tinytc.arithmetic import cast, comparison, of_integers, of_one, of_reals, of_truths
from tabla.languages.tinytc.bodies import instructions_of, length_of
from tabla.languages.tinytc.environment import Translated
from tabla.languages.tinytc.loops import distributed, joined, reads_of, summed
from tabla.languages.tinytc.memory import Memory
from tabla.languages.tinytc.parser import ARITHMETIC, BLOCKS, COMPARISONS, MATH, UNARY
from tabla.languages.tinytc.syntax import (
    INTEGERS,
    REALS,
    Group,
    Instruction,
    Literal,
    Local,
    Memref,
    Scalar,
)
from tabla.languages.tinytc.truths import Truth, constant
from tabla.languages.tinytc.values import Batch, GroupId, Value, as_expression, is_expression, refuse
from tabla.languages.tinytc.views import NeedsConstant, View

MOST_TURNS = 4096
"""The most turns of a loop that is written out."""


class Translation(Memory):
    """The translation of one function: its regions, conditions and loops."""

    def run(self) -> Translated:
        """Translate the function. What has no meaning as a kernel is a `TablaError` at its place."""
        for parameter in self._function.parameters:
            self._scopes[0][parameter.name] = self._parameter(parameter.name, parameter.type, parameter.span)
        self._region(self._function.body)
        return self._found

    def _parameter(self, name: str, type: Scalar | Memref | Group, span: Span) -> Value:
        if name in self._found.shapes:
            refuse(f"'%{name}' is declared twice", span, "give one of them another name")
        memref = type.memref if isinstance(type, Group) else type
        if isinstance(memref, Scalar):
            if memref.name not in REALS:
                hint = f"write its value into the text: %{name} = constant 3 : {memref.name}"
                refuse(f"'%{name}' is a '{memref.name}' that is not known before the program runs", span, hint)
            self._found.shapes[name] = ()
            if self._found.grouped:
                self._found.kept.add(name)
            return Read(tensor=name, span=span)
        batch = isinstance(type, Group) or (bool(memref.shape) and memref.shape[-1] is None)
        sizes = memref.shape[:-1] if batch and not isinstance(type, Group) else memref.shape
        if None in sizes or (batch and not self._found.grouped):
            hint = "write the size, or $n and -D n=8" if None in sizes else "a group_id selects what is one sample"
            refuse(f"'%{name}' has a size that is not known", span, hint)
        shape = tuple(size for size in sizes if size is not None)
        self._found.shapes[name] = shape
        self._elements[name] = memref.element
        view = self._views.whole(name, shape)
        if batch:
            return Batch(view=view, group=isinstance(type, Group))
        if self._found.grouped:
            self._found.kept.add(name)
            self._fixed.add(name)
        return view

    def _region(self, body: Sequence[Instruction]) -> list[Value]:
        """Translate instructions, and return what the last one yields."""
        for number, instruction in enumerate(body):
            self._clock += 1
            if instruction.name == "yield":
                if number + 1 < len(body):
                    refuse("something follows a yield", body[number + 1].span, "yield is the last instruction")
                return [self._value(operand) for operand in instruction.operands]
            try:
                results = self._instruction(instruction)
            except NeedsConstant:
                if len(self._blocks) > 1:
                    raise
                hint = "use the modes before fuse, or a constant"
                refuse("a part of a fused mode that is no constant", instruction.span, hint)
            if len(results) != len(instruction.results):
                plural = "value" if len(results) == 1 else "values"
                message = (
                    f"'{instruction.name}' gives {len(results)} {plural}, and {len(instruction.results)} are named"
                )
                refuse(message, instruction.span, "name each value that an instruction gives")
            for local, result in zip(instruction.results, results, strict=True):
                self._define(local, result)
        return []

    def _before_region(self, instruction: Instruction) -> None:
        """Keep the values that a region would read after it has changed what they are made of."""
        if not any(each.name == "store" or each.name in BLOCKS for each in instructions_of([instruction])):
            return
        for scope in self._scopes:
            for name, value in scope.items():
                if is_expression(value) and self._last.get(name, 0) > self._clock:
                    if any(read.tensor not in self._fixed for read in reads_of(value)):
                        scope[name] = self._kept(value)

    def _instruction(self, instruction: Instruction) -> list[Value]:
        name = instruction.name
        if name in BLOCKS:
            self._block(instruction)
            return []
        if name in COMPARISONS:
            return [comparison(instruction.name, *self._two(instruction), instruction.span)]
        if name in ARITHMETIC or name in UNARY or name in MATH:
            return [self._arithmetic(instruction)]
        match name:
            case "constant":
                return [self._constant(instruction)]
            case "group_id":
                if instruction.modifiers not in ((), ("x",)):
                    refuse("samples are numbered by group_id.x alone", instruction.span, "write group_id.x")
                return [GroupId()]
            case "alloca":
                return [self._alloca(instruction)]
            case "load":
                return [self._load(instruction)]
            case "store":
                self._store(instruction)
                return []
            case "subview" | "expand" | "fuse":
                return [self._viewed(instruction)]
            case "size":
                view = self._view(instruction.operands[0])
                mode = self._mode(view, instruction.operands[1])
                return [Affine.of(view.shape[mode])]
            case "for":
                return self._for(instruction)
            case "foreach":
                self._foreach(instruction)
                return []
            case "if":
                return self._if(instruction)
            case "parallel":
                self._before_region(instruction)
                statements: list[Statement] = []
                with self._inner(statements) as own:
                    self._region(instruction.regions[0])
                self._own[-1] |= own
                self._blocks[-1] += statements
                return []
            case _:  # barrier, lifetime_stop
                return []

    def _constant(self, instruction: Instruction) -> Value:
        (operand,), (type,) = instruction.operands, instruction.types
        assert isinstance(operand, Literal)
        value, name = operand.value, type.name if isinstance(type, Scalar) else "memref"
        if isinstance(value, bool) and name == "bool":
            return constant(value)
        if isinstance(value, int) and not isinstance(value, bool) and name in INTEGERS:
            bits = 64 if name == "index" else int(name[1:])
            if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
                refuse(f"this constant does not fit in '{name}'", operand.span, f"'{name}' has {bits} bits")
            return Affine.of(value)
        if isinstance(value, Fraction) and name in REALS:
            return Number(value=value, span=instruction.span)
        refuse(f"this constant is no '{name}'", operand.span, "1.0 is f32, 1 is index, true is bool")

    def _two(self, instruction: Instruction) -> tuple[Value, Value]:
        if len(instruction.operands) != 2:
            refuse(f"'{instruction.name}' takes two operands", instruction.span, "write add %a, %b : f32")
        left, right = (self._value(operand) for operand in instruction.operands)
        for value, operand in zip((left, right), instruction.operands, strict=True):
            if isinstance(value, View | Batch | GroupId):
                what = "the group id" if isinstance(value, GroupId) else "a memref"
                refuse(f"{what} is no number", operand.span, "load elements first; the group id only selects a sample")
        return left, right

    def _arithmetic(self, instruction: Instruction) -> Value:
        name, span = instruction.name, instruction.span
        if name in ("conj", "im", "re"):
            refuse("complex numbers are refused", span, "use real numbers")
        if name in ARITHMETIC:
            left, right = self._two(instruction)
            if isinstance(left, Affine) and isinstance(right, Affine):
                return of_integers(name, left, right, span)
            if name in ("and", "or", "xor"):
                return of_truths(name, left, right, span)
            return of_reals(name, left, right, span)
        if len(instruction.operands) != 1:
            refuse(f"'{name}' takes one operand", span, f"write {name} %a : f32")
        value = self._value(instruction.operands[0])
        (type,) = instruction.types
        wanted = type.name if isinstance(type, Scalar) else "memref"
        if name == "cast":
            return cast(value, wanted, span)
        if name == "not" and isinstance(value, Truth):
            return value.negated()
        if name == "not" and is_expression(value) and value.type == "truth":
            return apply("not", value, span=span)
        if isinstance(value, Affine) and name in ("neg", "abs"):
            if name == "neg":
                return -value
            if not value.coefficients:
                return Affine.of(abs(value.constant))
            raise NeedsConstant
        if not is_expression(value) or value.type != "real":
            refuse(f"'{name}' takes a real number", span, "cast an integer first: cast %i : f32")
        return of_one(name, value, span)

    def _if(self, instruction: Instruction) -> list[Value]:
        condition = self._value(instruction.operands[0])
        regions = instruction.regions
        if instruction.types and len(regions) < 2:
            refuse("an if that gives values has an else", instruction.span, "add else { yield (...) }")
        if isinstance(condition, Truth) and condition.known is not None:
            return self._taken(instruction, regions[0] if condition.known else regions[1] if len(regions) > 1 else ())
        mask = as_expression(condition)
        if mask is None or mask.type != "truth":
            refuse("this is no truth value", instruction.operands[0].span, "compare: less_than %a, %b : bool")
        self._before_region(instruction)
        if not isinstance(condition, Truth):
            mask = self._kept(mask)
        yielded: list[list[Value]] = []
        for number, region in enumerate(regions):
            statements: list[Statement] = []
            clock = self._clock
            with self._inner(statements) as own:
                yielded.append(self._region(region))
            self._own[-1] |= own
            del clock
            if isinstance(condition, Truth):
                for case in condition.no if number else condition.yes:
                    self._blocks[-1] += [replace(s, conditions=(*s.conditions, *case)) for s in statements]
            else:
                chosen = apply("not", mask) if number else mask
                self._blocks[-1] += [self._chosen(chosen, statement, own) for statement in statements]
        if not instruction.types:
            return []
        if any(len(values) != len(instruction.types) for values in yielded):
            refuse("the regions do not yield what the if gives", instruction.span, "yield a value for each type")
        return [self._select(mask, one, other, instruction.span) for one, other in zip(*yielded, strict=True)]

    def _taken(self, instruction: Instruction, region: Sequence[Instruction]) -> list[Value]:
        """Translate the region of an if whose condition is known."""
        other = [each for each in instruction.regions if each is not region]
        self._before_region(instruction)
        begin = self._clock
        self._scopes.append({})
        try:
            # The clock counts both regions, wherever the one that is taken stands.
            if region and instruction.regions[0] is not region:
                self._clock += length_of(instruction.regions[0])
            values = self._region(region)
        finally:
            self._scopes.pop()
        self._clock = begin + sum(length_of(each) for each in instruction.regions)
        del other
        if len(values) != len(instruction.types):
            refuse("the region does not yield what the if gives", instruction.span, "yield a value for each type")
        return values

    def _chosen(self, mask: Expression, statement: Statement, own: set[str]) -> Statement:
        if statement.target in own:
            return statement
        if statement.target in self._found.local:
            self._found.filled.add(statement.target)
        old = Read(tensor=statement.target, subscripts=statement.write, span=statement.span)
        return replace(statement, value=apply("select", mask, statement.value, old))

    def _select(self, mask: Expression, one: Value, other: Value, span: Span) -> Value:
        if one == other:
            return one
        first, second = (as_expression(each) for each in (one, other))
        if first is None or second is None or first.type != second.type or isinstance(one, Affine):
            hint = "real numbers are chosen; choose an index by a comparison of indices"
            refuse("the data choose an integer", span, hint)
        return apply("select", mask, first, second, span=span)

    def _foreach(self, instruction: Instruction) -> None:
        names, ends = instruction.bound, instruction.operands
        if len(ends) != 2 * len(names):
            message = f"{len(names)} loops have {len(ends)} ends"
            refuse(message, instruction.span, "write foreach (%i, %j) = (%a, %b), (%c, %d) { ... }")
        numbers = [self._number(end) for end in ends]
        ranges = list(zip(names, numbers[: len(names)], numbers[len(names) :], strict=True))
        self._before_region(instruction)
        self._loops(instruction, ranges)

    def _loops(self, instruction: Instruction, ranges: Sequence[tuple[Local, int, int]]) -> None:
        """Translate nested loops: the first one around the others."""
        if not ranges:
            self._region(instruction.regions[0])
            return
        (local, low, high), *inner = ranges
        self._turns(instruction, local, low, high, 1, lambda: self._loops(instruction, inner))

    def _for(self, instruction: Instruction) -> list[Value]:
        low, high = (self._number(end) for end in instruction.operands[:2])
        step = self._number(instruction.operands[2]) if len(instruction.operands) > 2 else 1
        if step < 1:
            refuse(f"a loop with the step {step}", instruction.operands[2].span, "the step is positive")
        local, *carried = instruction.bound
        self._before_region(instruction)
        if carried:
            return self._carrying(instruction, local, carried, range(low, high, step))
        self._turns(instruction, local, low, high, step, lambda: self._no_yield(instruction))
        return []

    def _no_yield(self, instruction: Instruction) -> None:
        if self._region(instruction.regions[0]):
            refuse("this loop carries no values", instruction.span, "write init(%a = %b) -> (f32), or no yield")

    def _turns(self, instruction: Instruction, local: Local, low: int, high: int, step: int, body: object) -> None:
        """Translate a loop: over the whole range if the turns do not touch each other, else turn by turn."""
        assert callable(body)
        turns = range(low, high, step)
        begin = self._clock
        end = begin + length_of(instruction.regions[0])
        if not turns:
            self._clock = end
            return
        index = Index(name=self._index(local.name), low=0, high=len(turns))
        statements: list[Statement] = []
        written = self._written
        try:
            with self._inner(statements) as own:
                self._define(local, Affine.make(low, {index.name: step}))
                body()
            together = distributed(index, statements, frozenset(own)) or summed(index, statements)
        except NeedsConstant:
            together = None
        if together is not None:
            for name in own:
                self._found.shapes[name] = (len(turns), *self._found.shapes[name])
            self._own[-1] |= own
            self._blocks[-1] += together
            return
        if len(turns) > MOST_TURNS:
            hint = "write foreach, or a block instruction"
            refuse(f"turns touch each other, and there are more than {MOST_TURNS:,}", instruction.span, hint)
        self._written = written
        for turn in turns:
            self._clock = begin
            with self._turn() as own:
                self._define(local, Affine.of(turn))
                body()
            self._own[-1] |= own
        self._clock = end

    @contextmanager
    def _turn(self) -> Iterator[set[str]]:
        """A turn that is written out: its statements stand in the region around it."""
        self._scopes.append({})
        own: set[str] = set()
        self._own.append(own)
        try:
            yield own
        finally:
            self._scopes.pop()
            self._own.pop()

    def _carrying(self, instruction: Instruction, local: Local, carried: Sequence[Local], turns: range) -> list[Value]:
        """Translate a loop that carries values from turn to turn. A sum is one, others are written out."""
        values = [self._value(begin) for begin in instruction.begin]
        begin, end = self._clock, self._clock + length_of(instruction.regions[0])
        if len(carried) != len(instruction.types):
            refuse("each carried value has a type", instruction.span, "write init(%a = %b) -> (f32)")
        if not turns:
            self._clock = end
            return values
        sums = self._sums(instruction, local, carried, values, turns)
        if sums is not None:
            return sums
        if len(turns) > MOST_TURNS:
            refuse(f"a loop that carries values over more than {MOST_TURNS:,} turns", instruction.span, "add a sum")
        for turn in turns:
            self._clock = begin
            with self._turn() as own:
                self._define(local, Affine.of(turn))
                for name, value in zip(carried, values, strict=True):
                    self._define(name, value)
                values = [self._small(value) for value in self._yields(instruction)]
            self._own[-1] |= own
        self._clock = end
        return values

    def _yields(self, instruction: Instruction) -> list[Value]:
        values = self._region(instruction.regions[0])
        if len(values) != len(instruction.types):
            refuse("the loop does not yield what it carries", instruction.span, "yield a value for each type")
        return values

    def _sums(
        self, instruction: Instruction, local: Local, carried: Sequence[Local], values: Sequence[Value], turns: range
    ) -> list[Value] | None:
        """Return the carried values after all turns if each turn only adds to them; else None."""
        if not all(is_expression(value) and value.type == "real" for value in values):
            return None
        index = Index(name=self._index(local.name), low=0, high=len(turns))
        statements: list[Statement] = []
        clock, written = self._clock, self._written
        marks = [f"carried.{next(self._numbers)}" for _ in carried]
        try:
            with self._inner(statements) as own:
                self._define(local, Affine.make(turns.start, {index.name: turns.step}))
                for name, mark in zip(carried, marks, strict=True):
                    self._define(name, Read(tensor=mark))
                yielded = self._yields(instruction)
        except NeedsConstant:
            yielded, own = [], set()
        found: list[Value] = []
        for mark, begin, value in zip(marks, values, yielded, strict=False):
            others = [read.tensor for read in reads_of(value)] if is_expression(value) else marks
            after = joined(index, value, mark, ()) if is_expression(value) else None
            if after is None or statements or own or sum(other in marks for other in others) != 1:
                break
            found.append(_replaced(after, mark, begin))
        if len(found) == len(carried):
            return found
        self._clock, self._written = clock, written
        return None


def _replaced(expression: Expression, mark: str, begin: Value) -> Expression:
    """Return ``mark + sum`` with the first value in the place of the mark."""
    assert is_expression(begin)
    match expression:
        case Read(tensor=tensor) if tensor == mark:
            return begin
        case Reduce() | Number():
            return expression
        case Apply(function=function, arguments=(left, right)):
            if function == "add" and isinstance(begin, Number) and not begin.value:
                return right
            return apply(function, _replaced(left, mark, begin), right)
        case _:
            raise AssertionError(expression)
