"""Statements to records (reference, section 1.5, "Statements", and 1.6, "Record bodies")."""

from __future__ import annotations

from typing import assert_never

from tabla.base.source import TablaError
from tabla.templates.tablegen import syntax
from tabla.templates.tablegen.expansion import Expansion
from tabla.templates.tablegen.expressions import Expressions
from tabla.templates.tablegen.inheritance import Inheritance, missing_argument
from tabla.templates.tablegen.operation import Operation
from tabla.templates.tablegen.operators import IF
from tabla.templates.tablegen.record import Assertion, DumpRequest, Field, Record
from tabla.templates.tablegen.recovery import unfinished
from tabla.templates.tablegen.resolvers import NameSearch
from tabla.templates.tablegen.scope import Defset, Entry, LetBinding, Loop, Multiclass, Scope
from tabla.templates.tablegen.types import BIT, INT, STRING, BitsType, ListType, Type
from tabla.templates.tablegen.values import TypedValue, UnsetValue, Value
from tabla.templates.tablegen.variables import Variable

# From this version on a variable in a body may name fields and template arguments.
_FIELDS_IN_DEFVAR_SINCE = 19


class Statements:
    """Evaluates statements one after the other, in the scope they share."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.keeper = scope.keeper
        self.pool = scope.pool
        self.expressions = Expressions(scope)
        self.expansion = Expansion(scope)
        self.inheritance = Inheritance(scope)

    def fault(self, message: str, at: int, *, hint: str | None = None) -> TablaError:
        """Return the user's fault at a token."""
        return self.keeper.fault(message, at, hint=hint)

    def check(self, partial: syntax.Statement) -> None:
        """Find the faults in the beginning of a statement that a syntax error breaks off."""
        self.expansion.unfinished = unfinished(partial)
        warnings = len(self.keeper.warnings)
        self.run(partial)
        # What follows the error may use the arguments.
        del self.keeper.warnings[warnings:]

    def run(self, statement: syntax.Statement) -> None:
        """Evaluate one statement: enter its records and names into the keeper and the scope."""
        self.keeper.current = statement.at
        match statement:
            case syntax.DefStatement():
                self._def(statement)
            case syntax.ClassStatement():
                self._class(statement)
            case syntax.DefmStatement():
                self._defm(statement)
            case syntax.LetStatement():
                self._let(statement)
            case syntax.ForeachStatement():
                self._foreach(statement)
            case syntax.MulticlassStatement():
                self._multiclass(statement)
            case syntax.IfStatement():
                self._if(statement)
            case syntax.DefsetStatement():
                self._defset(statement)
            case syntax.Defvar():
                self._defvar(statement)
            case syntax.Assert():
                self.expansion.add(self._assertion(statement, None))
            case syntax.Dump():
                self.expansion.add(DumpRequest(at=statement.at, message=self._value(statement.message, None)))
            case syntax.DeftypeStatement():
                self._deftype(statement)
            case _:
                assert_never(statement)

    def _block(self, statements: tuple[syntax.Statement, ...]) -> None:
        with self.scope.block():
            for statement in statements:
                self.run(statement)

    def _value(self, node: syntax.Expression, record: Record | None) -> Value:
        return self.expressions.evaluate(node, record)

    # Classes and defs

    def _class(self, node: syntax.ClassStatement) -> None:
        scope = self.scope
        if scope.multiclass is not None:
            raise self.fault("class is not allowed inside multiclass", node.keyword)
        if scope.loops:
            raise self.fault("class is not allowed inside foreach loop", node.keyword)
        record = self.keeper.classes.get(node.name)
        if record is None:
            record = self.keeper.new_class(node.name, node.at)
        elif record.fields or record.parents or record.template_arguments:
            raise self.fault(f"class '{node.name}' already defined", node.at)
        self._template_arguments(node.arguments, record, record)
        self._body(node.body, record)
        self.keeper.warn_of_unused(record, scope.used_arguments)

    def _template_arguments(
        self, declarations: tuple[syntax.Declaration, ...], owner: Record, record: Record | None
    ) -> None:
        for declaration in declarations:
            name = self._declare(declaration, owner, record)
            if name in owner.template_arguments:
                raise self.fault(
                    f"template argument '{declaration.name}' has already been defined", declaration.type.at
                )
            owner.template_arguments.append(name)

    def _declare(self, node: syntax.Declaration, owner: Record, record: Record | None) -> str:
        """Enter a template argument under its qualified name."""
        type = self.expressions.type_of(node.type)
        self._check_field_name(node)
        multiclass = self.scope.multiclass
        name = multiclass.qualified(node.name) if multiclass else f"{owner.name_text()}:{node.name}"
        self.inheritance.add_field(owner, Field(name, type, node.at, pool=self.pool, is_argument=True), node.at)
        if node.value is not None:
            self._initialise(owner, name, node.value, record, type)
        return name

    def _initialise(self, owner: Record, name: str, node: syntax.Expression, record: Record | None, type: Type) -> None:
        """Give a declared field its value. After a fault the field stays unset, and the run goes on."""
        current = self.keeper.current
        try:
            value = self.expressions.evaluate(node, record, type)
            self.inheritance.set_value(owner, name, value, node.at)
        except TablaError as fault:
            self.keeper.collect(fault)
            self.keeper.current = current

    def _check_field_name(self, node: syntax.Declaration) -> None:
        if node.name == "NAME":
            raise self.fault("'NAME' is a reserved variable name", node.at)

    def _body(self, body: syntax.Body, record: Record) -> None:
        for parent in body.parents:
            class_ = self.expressions.class_named(parent.name, parent.at)
            arguments = self.expressions.template_values(parent, record, class_)
            self.inheritance.inherit(record, class_, arguments, parent.at)
        self.inheritance.apply_lets(record)
        if body.items:
            with self.scope.block(is_body=True):
                for item in body.items:
                    self._item(item, record)

    def _item(self, item: syntax.BodyItem, record: Record) -> None:
        match item:
            case syntax.Declaration():
                type = self.expressions.type_of(item.type)
                self._check_field_name(item)
                field = Field(item.name, type, item.at, pool=self.pool, may_wait=item.is_field)
                self.inheritance.add_field(record, field, item.at)
                if item.value is not None:
                    self._initialise(record, item.name, item.value, record, type)
            case syntax.Binding():
                self._let_item(item, record)
            case syntax.Defvar():
                self._body_defvar(item, record)
            case syntax.Assert():
                record.assertions.append(self._assertion(item, record))
            case syntax.Dump():
                record.dumps.append(DumpRequest(at=item.at, message=self._value(item.message, record)))
            case _:
                assert_never(item)

    def _let_item(self, item: syntax.Binding, record: Record) -> None:
        bits = self.expressions.ranges(item.pieces)[::-1] if item.pieces is not None else []
        field = record.fields.get(item.name)
        if field is None:
            raise self.fault(f"value '{item.name}' unknown", item.equals + 1)
        type = field.type
        if bits and isinstance(type, BitsType):
            type = self.pool.bits_type(len(bits))
        value = self.expressions.evaluate(item.value, record, type)
        self.inheritance.set_value(record, item.name, value, item.at, bits)

    def _name(self, node: syntax.Expression | None) -> Value | None:
        """The name of a def or defm; inside a multiclass it gets the prefix of the ``defm``."""
        if node is None:
            return None
        multiclass = self.scope.multiclass
        owner = multiclass.record if multiclass is not None else None
        name = self.expressions.evaluate(node, owner, STRING, as_text=True)
        if multiclass is None:
            return name
        search = NameSearch(self.pool, multiclass.qualified("NAME"))
        name.resolve(search)
        return name if search.found else self.expansion.prefixed(multiclass, name)

    def _def(self, node: syntax.DefStatement) -> None:
        name = self._name(node.name)
        if name is None or isinstance(name, UnsetValue):
            record = self.keeper.new_anonymous(node.at)
        else:
            record = self.keeper.new_def(name, node.at)
        self._body(node.body, record)
        self.expansion.add(record)

    # Multiclasses

    def _multiclass(self, node: syntax.MulticlassStatement) -> None:
        scope = self.scope
        if scope.loops:
            raise self.fault("multiclass is not allowed inside foreach loop", node.keyword)
        if scope.multiclass is not None:
            raise self.fault("a multiclass is not allowed inside a multiclass", node.keyword)
        if node.name in scope.multiclasses:
            raise self.fault(f"multiclass '{node.name}' already defined", node.at)
        record = Record(self.pool.string(node.name), (node.at,), self.pool, anonymous=False, is_class=False)
        multiclass = scope.multiclasses[node.name] = Multiclass(record=record)
        scope.multiclass = multiclass
        self._template_arguments(node.arguments, record, None)
        for parent in node.parents:
            base = self._multiclass_named(parent)
            arguments = self.expressions.template_values(parent, record, base.record, cast=False)
            own_name = self.pool.unique(Variable, multiclass.qualified("NAME"), STRING)
            bindings = self._bindings(base, arguments, own_name, parent.at)
            self.expansion.expand(base.entries, bindings, multiclass.entries, final=False)
        self._block(node.statements)
        scope.multiclass = None
        self.keeper.warn_of_unused(record, scope.used_arguments)

    def _multiclass_named(self, node: syntax.Reference) -> Multiclass:
        found = self.scope.multiclasses.get(node.name)
        if found is None:
            raise self.fault(f"couldn't find multiclass '{node.name}'", node.at)
        return found

    def _bindings(
        self, multiclass: Multiclass, arguments: list[Value], name: Value, at: int
    ) -> list[tuple[str, Value]]:
        """What the template arguments of a multiclass stand for in one instantiation."""
        bindings: list[tuple[str, Value]] = []
        record = multiclass.record
        for index, argument in enumerate(record.template_arguments):
            value = arguments[index] if index < len(arguments) else record.fields[argument].value
            if index >= len(arguments) and not value.is_complete():
                raise missing_argument(self.keeper, argument, index, "multiclass", record, at)
            bindings.append((argument, value))
        bindings.append((multiclass.qualified("NAME"), name))
        return bindings

    def _defm(self, node: syntax.DefmStatement) -> None:
        scope = self.scope
        name = self._name(node.name)
        if name is None or isinstance(name, UnsetValue):
            name = self.keeper.new_anonymous_name()
            if scope.multiclass is not None:
                name = self.expansion.prefixed(scope.multiclass, name)
        entries: list[Entry] = []
        references = list(node.references)
        while references:
            reference = references[0]
            if len(references) < len(node.references) and reference.name in self.keeper.classes:
                break
            references.pop(0)
            multiclass = self._multiclass_named(reference)
            arguments = self.expressions.template_values(reference, None, multiclass.record)
            bindings = self._bindings(multiclass, arguments, name, reference.at)
            final = scope.multiclass is None and not scope.loops
            with self.keeper.instantiating("multiclass", reference.name, reference.at):
                self.expansion.expand(multiclass.entries, bindings, entries, final=final, at=reference.at)
        for reference in references:
            class_ = self.expressions.class_named(reference.name, reference.at)
            arguments = self.expressions.template_values(reference, None, class_)
            for entry in entries:
                self.inheritance.inherit(entry, class_, arguments, reference.at)
        for entry in entries:
            self.inheritance.apply_lets(entry)
            if isinstance(entry, Assertion):
                # Unlike a record, an assertion has no name that says which defm it is from.
                with self.keeper.instantiating("defm", name.plain_text, node.at):
                    self.expansion.add(entry)
            else:
                self.expansion.add(entry)

    # Blocks

    def _let(self, node: syntax.LetStatement) -> None:
        bindings: list[LetBinding] = []
        for binding in node.bindings:
            bits = self.expressions.ranges(binding.pieces)[::-1] if binding.pieces is not None else []
            value = self._value(binding.value, None)
            bindings.append(LetBinding(at=binding.at, name=binding.name, bits=bits, value=value))
        self.scope.lets.append(bindings)
        self._block(node.statements)
        self.scope.lets.pop()

    def _foreach(self, node: syntax.ForeachStatement) -> None:
        values, element = self._loop_values(node)
        loop = Loop(at=node.at, variable=self.pool.unique(Variable, node.variable, element), values=values)
        self.scope.loops.append(loop)
        self._block(node.statements)
        self.scope.loops.pop()
        self.expansion.add(loop)

    def _loop_values(self, node: syntax.ForeachStatement) -> tuple[Value, Type]:
        piece = node.values
        if isinstance(piece.first, syntax.Braces) and piece.last is None:
            numbers = self.expressions.ranges(piece.first.pieces)
            if not numbers:
                raise self.fault("expected declaration in for", node.in_)
        else:
            first = self._value(piece.first, None)
            if isinstance(first, TypedValue) and isinstance(first.type, ListType):
                if piece.last is not None:
                    raise self.fault("a range of lists", piece.first.end + 1)
                return first, first.type.element
            if not isinstance(first, TypedValue):
                raise self.fault(f"expected a list, got '{first.text()}'", piece.first.at)
            numbers = self.expressions.numbers_of(piece, first)
        return self.pool.list([self.pool.integer(number) for number in numbers], INT), INT

    def _if(self, node: syntax.IfStatement) -> None:
        pool = self.pool
        condition = self._value(node.condition, None)
        once, never = pool.list([pool.one], BIT), pool.list([], BIT)
        for branch, if_true, if_false in ((node.then, once, never), (node.otherwise, never, once)):
            if branch is None:
                continue
            values = pool.unique(Operation, IF, once.type, None, (), condition, if_true, if_false).fold(None, pool)
            # A branch is a loop without a variable that runs once or not at all.
            loop = Loop(at=node.at, variable=None, values=values)
            self.scope.loops.append(loop)
            self._block(branch)
            self.scope.loops.pop()
            self.expansion.add(loop)

    def _defset(self, node: syntax.DefsetStatement) -> None:
        scope = self.scope
        if scope.multiclass is not None:
            raise self.fault("defset is not allowed inside multiclass", node.type.at - 1)
        type = self.expressions.type_of(node.type)
        if not isinstance(type, ListType):
            raise self.fault("expected list type", node.type.at)
        if self.keeper.global_value(node.name) is not None:
            raise self.fault(f"a def or global variable '{node.name}' already exists", node.at)
        defset = Defset(at=node.type.at, element=type.element)
        scope.defsets.append(defset)
        for statement in node.statements:
            self.run(statement)
        scope.defsets.pop()
        self.keeper.globals[node.name] = self.pool.list(defset.members, type.element)

    def _defvar(self, node: syntax.Defvar, record: Record | None = None) -> None:
        if self.scope.is_taken(node.name):
            raise self.fault(f"a variable '{node.name}' already exists", node.at)
        self.scope.define(node.name, self._value(node.value, record))

    def _body_defvar(self, node: syntax.Defvar, record: Record) -> None:
        """Define a variable in the body of a record, where it may name fields and template arguments.

        Version 14 knows neither there: what it accepts keeps its meaning.
        """
        if self.pool.llvm < _FIELDS_IN_DEFVAR_SINCE:
            current = self.keeper.current
            try:
                self._defvar(node)
                return
            except TablaError:
                self.keeper.current = current
        self._defvar(node, record)

    def _assertion(self, node: syntax.Assert, record: Record | None) -> Assertion:
        condition = self._value(node.condition, record)
        return Assertion(at=node.condition.at, condition=condition, message=self._value(node.message, record))

    def _deftype(self, node: syntax.DeftypeStatement) -> None:
        if node.name in self.scope.type_names or node.name in self.keeper.classes:
            raise self.fault(f"type '{node.name}' already exists", node.at)
        self.scope.type_names[node.name] = self.expressions.type_of(node.type)
