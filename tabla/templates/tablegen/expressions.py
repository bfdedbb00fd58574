"""Syntax to values: everything but the bang operators (reference, section 1.4, "Values and expressions")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabla.templates.tablegen import bang, syntax
from tabla.templates.tablegen.evaluator import MAX_RANGE, Evaluator
from tabla.templates.tablegen.inheritance import missing_argument
from tabla.templates.tablegen.literals import BitsValue, IntValue
from tabla.templates.tablegen.operation import Operation
from tabla.templates.tablegen.operators import CAST, joined_lists, joined_strings
from tabla.templates.tablegen.record import Record, field_named
from tabla.templates.tablegen.references import ClassInstance, FieldAccess
from tabla.templates.tablegen.resolvers import MapResolver
from tabla.templates.tablegen.scope import Scope
from tabla.templates.tablegen.types import BIT, STRING, BitsType, ListType, Type
from tabla.templates.tablegen.values import UNSET_VALUE, TypedValue, Value
from tabla.templates.tablegen.variables import Variable

# From this version on known numbers of elements are written as computed ones, also while the list waits.
_ELEMENTS_WAIT_SINCE = 19


class Expressions(Evaluator):
    """Evaluates expressions in a scope.

    `record` is the record whose fields may be named. `wanted` is the type that the place asks for; lists take their
    element type from it. `as_text` is set in names and on the right of a paste.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._handlers: dict[type, Callable[[Any, Record | None, Type | None, bool], Value]] = {
            syntax.Name: self._name,
            syntax.Integer: self._integer,
            syntax.Text: self._text,
            syntax.Binary: self._binary,
            syntax.Question: self._question,
            syntax.Braces: self._braces,
            syntax.ListLiteral: self._list,
            syntax.DagLiteral: self._dag,
            syntax.Reference: self._instance,
            syntax.Bang: self._bang,
            syntax.Cond: self._cond,
            syntax.BitSelection: self._bit_selection,
            syntax.ElementSelection: self._element_selection,
            syntax.FieldSelection: self._field_selection,
            syntax.Paste: self._paste,
        }

    def evaluate(
        self, node: syntax.Expression, record: Record | None, wanted: Type | None = None, *, as_text: bool = False
    ) -> Value:
        return self._handlers[type(node)](node, record, wanted, as_text)

    # Literals

    def _name(self, node: syntax.Name, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        found = self.scope.lookup(node.text, record, as_text=as_text)
        if found is None:
            raise self.fault(f"variable not defined: '{node.text}'", node.at)
        return found

    def _integer(self, node: syntax.Integer, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        return self.pool.integer(node.value)

    def _binary(self, node: syntax.Binary, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        # A literal of more than 64 digits repeats, as shift counts do in the reference tool.
        return self.pool.bits([self.pool.bit(node.value >> (index & 63) & 1) for index in range(node.width)])

    def _text(self, node: syntax.Text, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        return self.pool.string(node.value, is_code=node.is_code)

    def _question(self, node: syntax.Question, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        return UNSET_VALUE

    def _braces(self, node: syntax.Braces, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        bits: list[Value] = []
        values: list[Value] = []
        for piece in node.pieces:
            values.append(self.evaluate(piece.first, record))
            if piece.last is not None:
                raise self.fault("a list of bits has no ranges", piece.first.end + 1)
        for number, value in enumerate(values):
            if isinstance(value, BitsValue):
                bits.extend(reversed(value.bits))
            elif isinstance(value, Variable) and isinstance(value.type, BitsType):
                bits.extend(value.bit(index, self.pool) for index in reversed(range(value.type.width)))
            else:
                bit = value.cast(BIT, self.pool)
                if bit is None:
                    raise self.fault(f"element #{number} ({value.text()}) is not convertible to a bit", node.at)
                bits.append(bit)
        return self.pool.bits(bits[::-1])

    def _list(self, node: syntax.ListLiteral, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        if wanted is not None and not isinstance(wanted, ListType):
            raise self.fault(f"encountered a list when expecting a {wanted}", node.at + 1)
        wanted_element = wanted.element if wanted is not None else None
        items = [self.evaluate(item, record, wanted_element) for item in node.items]
        given = None if node.element_type is None else self.type_of(node.element_type)
        after = node.end + 1
        element: Type | None = None
        for item in items:
            if isinstance(item, TypedValue):
                element = item.type if element is None else self.pool.common_type(element, item.type)
                if element is None:
                    raise self.fault("incompatible types in list elements", after)
        if given is not None:
            if element is not None and not element.converts_to(given):
                raise self.fault(f"incompatible types in list elements: '{element}' and '{given}'", after)
            element = given
        if element is None:
            if wanted_element is None:
                raise self.fault("no type for list", after, hint="write the type after it: []<int>")
            element = wanted_element
        elif wanted_element is not None and not element.converts_to(wanted_element):
            raise self.fault(
                f"element type mismatch for list: '{element}' is not convertible to '{wanted_element}'", after
            )
        return self.pool.list(items, element)

    def _dag(self, node: syntax.DagLiteral, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        head = node.operator
        while isinstance(head, syntax.BitSelection | syntax.ElementSelection | syntax.FieldSelection | syntax.Paste):
            head = head.left if isinstance(head, syntax.Paste) else head.base
        is_operator = isinstance(head, syntax.Bang) and head.operator in ("cast", "getop", "getdagop")
        if not is_operator and not isinstance(head, syntax.Name | syntax.Reference | syntax.Question):
            raise self.fault("expected the name of a record as operator of a dag", head.at)
        operator = self.evaluate(node.operator, record)
        arguments = [UNSET_VALUE if one.value is None else self.evaluate(one.value, record) for one in node.arguments]
        name, *names = [
            UNSET_VALUE if one is None else self.pool.string(one)
            for one in (node.operator_name, *[each.name for each in node.arguments])
        ]
        return self.pool.dag(operator, name, arguments, names)

    def _bang(self, node: syntax.Bang, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        return bang.evaluate(self, node, record, wanted)

    def _cond(self, node: syntax.Cond, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        return bang.evaluate_cond(self, node, record, wanted)

    # Instantiations

    def _instance(self, node: syntax.Reference, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        class_ = self.keeper.classes.get(node.name)
        if class_ is None:
            raise self.fault(f"expected a class name, got '{node.name}'", node.at)
        given = self._given_values(node, record, class_, cast=True)
        for index, name in enumerate(class_.template_arguments):
            if index not in given and not class_.fields[name].value.is_complete():
                raise missing_argument(self.keeper, name, index, "parent class", class_, node.at)
        is_named = [argument.name is not None for argument in node.arguments or ()]
        names = tuple(
            class_.template_arguments[index] if named else None for index, named in zip(given, is_named, strict=True)
        )
        previous, self.keeper.current = self.keeper.current, node.at
        instance = self.pool.unique(ClassInstance, self.keeper, class_, names, *given.values())
        if instance.at is None:
            instance.at = node.at
        value = instance.fold(self.pool)
        self.keeper.current = previous
        return value

    def template_values(
        self, node: syntax.Reference, record: Record | None, owner: Record, *, cast: bool = True
    ) -> list[Value]:
        """Return the values given for the template arguments of a class or multiclass, each cast to its type.

        The reference tool forgets the `cast` for the parents of a multiclass.
        """
        return self._without_gaps(self._given_values(node, record, owner, cast=cast), owner, node.at)

    def _given_values(
        self, node: syntax.Reference, record: Record | None, owner: Record, *, cast: bool
    ) -> dict[int, Value]:
        """The values that are written, by the numbers of the template arguments, in the order of writing."""
        names = owner.template_arguments
        given: dict[int, Value] = {}
        named = False
        for position, argument in enumerate(node.arguments or ()):
            at = argument.value.at
            if argument.name is None:
                if position >= len(names):
                    raise self.fault(f"too many template arguments: {position + 1}", at)
                if named:
                    raise self.fault("a positional argument may not follow a named one", at)
                index = position
            else:
                named = True
                index = self._named_index(argument.name, names, at)
                if index in given:
                    raise self.fault(f"template argument '{argument.name}' is given twice", at)
            given[index] = self.evaluate(argument.value, record, owner.fields[names[index]].type)
        for index, value in given.items():
            field = owner.fields[names[index]]
            if cast and isinstance(value, TypedValue):
                fitting = value.cast(field.type, self.pool)
                if fitting is None:
                    raise self.fault(
                        f"value specified for template argument '{field.name}' (#{index}) is of type {value.type}; "
                        f"expected type {field.type}: {value.text()}",
                        node.at,
                    )
                given[index] = fitting
        return given

    def _named_index(self, name: str, names: list[str], at: int) -> int:
        for index, qualified in enumerate(names):
            if qualified.rsplit(":", 1)[-1] == name:
                return index
        raise self.fault(f"there is no template argument '{name}'", at - 2)

    def _without_gaps(self, given: dict[int, Value], owner: Record, at: int) -> list[Value]:
        """Named arguments may leave defaults between them."""
        count = max(given, default=-1) + 1
        if len(given) == count:
            return list(given[index] for index in range(count))
        resolver = MapResolver(self.pool)
        for index, value in given.items():
            resolver.bind(owner.template_arguments[index], value)
        for index in range(count):
            if index not in given:
                name = owner.template_arguments[index]
                if not owner.fields[name].value.is_complete():
                    raise missing_argument(self.keeper, name, index, "parent class", owner, at)
                given[index] = owner.fields[name].value.resolve(resolver)
        return [given[index] for index in range(count)]

    # Suffixes

    def ranges(self, pieces: tuple[syntax.RangePiece, ...], record: Record | None = None) -> list[int]:
        """Return the numbers of a range list, in the order they were written."""
        numbers: list[int] = []
        for piece in pieces:
            first = self.evaluate(piece.first, record)
            numbers.extend(self.numbers_of(piece, first))
        return numbers

    def numbers_of(self, piece: syntax.RangePiece, first: Value) -> list[int]:
        """Return the numbers of one piece whose start is evaluated already."""
        after = piece.first.end + 1
        if not isinstance(first, IntValue):
            raise self.fault("expected integer or bitrange", after)
        if first.value < 0:
            raise self.fault("invalid range, cannot be negative", after)
        if piece.last is None:
            return [first.value]
        last = self.evaluate(piece.last, None)
        after = piece.last.end + 1
        if not isinstance(last, IntValue):
            raise self.fault("expected integer value as end of range", after)
        if last.value < 0:
            raise self.fault("invalid range, cannot be negative", after)
        if abs(last.value - first.value) > MAX_RANGE:
            raise self.fault(f"a range of more than {MAX_RANGE} numbers", piece.first.at)
        step = 1 if first.value < last.value else -1
        return list(range(first.value, last.value + step, step))

    def _bit_selection(
        self, node: syntax.BitSelection, record: Record | None, wanted: Type | None, as_text: bool
    ) -> Value:
        base = self.evaluate(node.base, record, wanted, as_text=as_text)
        selected = base.select_bits(self.ranges(node.pieces)[::-1], self.pool)
        if selected is None:
            raise self.fault("invalid bit range for value", node.open)
        return selected

    def _element_selection(
        self, node: syntax.ElementSelection, record: Record | None, wanted: Type | None, as_text: bool
    ) -> Value:
        base = self.evaluate(node.base, record, wanted, as_text=as_text)
        # Since it waits, a number that names no element is a fault where the element is needed, and not here.
        waits = self.pool.llvm >= _ELEMENTS_WAIT_SINCE
        numbers = None if waits else self._known_numbers(node, record)
        if numbers is None:
            return bang.select_elements(self, node, base, record)
        selected = base.select_elements(numbers, self.pool)
        if selected is None:
            return bang.select_elements(self, node, base, record)
        if node.trailing_comma and len(numbers) == 1:
            assert isinstance(base, TypedValue) and isinstance(base.type, ListType)
            return self.pool.list([selected], base.type.element)
        return selected

    def _known_numbers(self, node: syntax.ElementSelection, record: Record | None) -> list[int] | None:
        """The numbers of a slice, or None if one of them is computed (as the newer language allows)."""
        numbers: list[int] = []
        for piece in node.pieces:
            first = self.evaluate(piece.first, record)
            last = self.evaluate(piece.last, record) if piece.last is not None else first
            if not isinstance(first, IntValue) or not isinstance(last, IntValue):
                return None
            numbers.extend(self.numbers_of(piece, first))
        return numbers

    def _field_selection(
        self, node: syntax.FieldSelection, record: Record | None, wanted: Type | None, as_text: bool
    ) -> Value:
        base = self.evaluate(node.base, record, wanted, as_text=as_text)
        if field_named(base, node.field) is None:
            raise self.fault(f"cannot access field '{node.field}' of value '{base.text()}'", node.end)
        previous, self.keeper.current = self.keeper.current, node.end
        value = self.pool.unique(FieldAccess, base, node.field).fold(record, self.pool)
        self.keeper.current = previous
        return value

    def _paste(self, node: syntax.Paste, record: Record | None, wanted: Type | None, as_text: bool) -> Value:
        left = self.evaluate(node.left, record, wanted, as_text=as_text)
        if not isinstance(left, TypedValue):
            raise self.fault("left side of paste has no type", node.hash)
        if isinstance(left.type, ListType):
            if node.right is None:
                return left
            return joined_lists(left, self.evaluate(node.right, record, wanted), self.pool)
        left_text = self._as_string(left, record, node.hash)
        if node.right is None:
            return joined_strings(left_text, self.pool.string(""), self.pool)
        right = self.evaluate(node.right, record, as_text=True)
        if not isinstance(right, TypedValue):
            raise self.fault("right side of paste has no type", node.hash)
        return joined_strings(left_text, self._as_string(right, record, node.hash), self.pool)

    def _as_string(self, value: TypedValue, record: Record | None, at: int) -> Value:
        if value.type is STRING:
            return value
        cast = self.pool.unique(Operation, CAST, STRING, None, (), value).fold(record, self.pool)
        if not isinstance(cast, TypedValue):
            raise self.fault(f"can't cast '{value.text()}' to string", at)
        return cast
