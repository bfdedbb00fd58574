"""Random programs through both tools: classes, defs, multiclasses, lets, loops, conditions and bang operators.

The generator knows the types of what it names, so most programs are accepted; now and then it forgets, and
both tools must refuse at the same line.
"""

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabla.templates import tablegen
from tests.templates.tablegen.conftest import Outcome

SIMPLE = ("bit", "int", "string", "bits<4>", "list<int>", "list<string>", "dag")
INTEGERS = ("0", "1", "2", "3", "7", "-1", "0x1F", "15")
WORDS = ('"a"', '"bc"', '""', '"x"', "[{code}]")


class Generator:
    """Writes one program."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.classes: dict[str, list[tuple[str, str, bool]]] = {}
        self.class_fields: dict[str, dict[str, str]] = {}
        self.ancestors: dict[str, set[str]] = {}
        self.multiclasses: dict[str, list[tuple[str, str, bool]]] = {}
        self.defs: dict[str, str] = {}
        self.count = 0

    def choice(self, options):
        return self.random.choice(list(options))

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def any_type(self) -> str:
        return self.choice([*SIMPLE, "int", "string", *self.classes])

    # Expressions

    def value(self, type: str, names: dict[str, str], depth: int = 2) -> str:
        if depth == 2 and self.chance(2):
            return "?"
        if self.random.randrange(400) == 0:
            type = self.choice(SIMPLE)
        fitting = [name for name, known in names.items() if known == type]
        if fitting and self.chance(40):
            return self.choice(fitting)
        if depth > 0 and self.chance(15):
            return f"!if({self.value('bit', names, depth - 1)}, {self.two(type, names, depth)})"
        # Not of bits: a value of !cond that does not fit is dropped in silence by the reference tool, and refused here.
        if depth > 0 and type not in ("bit", "bits<4>") and self.chance(5):
            condition, other = self.value("bit", names, depth - 1), self.value("bit", names, depth - 1)
            first, second = self.value(type, names, depth - 1), self.value(type, names, depth - 1)
            return f"!cond({condition} : {first}, {other} : {second}, true : {self.value(type, names, depth - 1)})"
        if depth > 0 and type in ("int", "string", "bit") and self.chance(10):
            total, item = self.fresh("acc"), self.fresh("elt")
            start, items = self.value(type, names, 0), self.value("list<int>", names, depth - 1)
            step = self.value(type, {**names, total: type, item: "int"}, depth - 1)
            return f"!foldl({start}, {items}, {total}, {item}, {step})"
        fields = [
            f"{name}.{field}"
            for name, known in names.items()
            for field, field_type in self.class_fields.get(known, {}).items()
            if field_type == type
        ]
        if fields and self.chance(30):
            return self.choice(fields)
        match type:
            case "bit":
                return self.bit(names, depth)
            case "int":
                return self.integer(names, depth)
            case "string":
                return self.string(names, depth)
            case "bits<4>":
                return self.bits(names, depth)
            case "list<int>" | "list<string>":
                return self.list_of(type[5:-1], names, depth)
            case "dag":
                return self.dag(names, depth)
            case _:
                return self.record(type, names, depth)

    def two(self, type: str, names: dict[str, str], depth: int) -> str:
        return f"{self.value(type, names, depth - 1)}, {self.value(type, names, depth - 1)}"

    def bit(self, names: dict[str, str], depth: int) -> str:
        if depth <= 0 or self.chance(30):
            return self.choice(("0", "1", "true", "false"))
        type = self.choice(("int", "string", "bit", "bits<4>"))
        match self.random.randrange(6):
            case 0 | 1:
                return f"!{self.choice(('eq', 'ne', 'lt', 'le', 'gt', 'ge'))}({self.two(type, names, depth)})"
            case 2:
                return f"!empty({self.value('list<int>', names, depth - 1)})"
            case 3:
                return f"!not({self.value('bit', names, depth - 1)})"
            case 4:
                known = [name for name, one in names.items() if one == "bits<4>"]
                return f"{self.choice(known)}{{{self.random.randrange(4)}}}" if known else "1"
            case _:
                wanted = self.choice([*self.classes, "int", "string"])
                return f"!isa<{wanted}>({self.value(self.any_type(), names, depth - 1)})"

    def integer(self, names: dict[str, str], depth: int) -> str:
        if depth <= 0 or self.chance(30):
            return self.choice(INTEGERS)
        match self.random.randrange(8):
            case 0 | 1 | 2:
                operator = self.choice(("add", "sub", "mul", "and", "or", "xor", "shl", "srl", "sra"))
                return f"!{operator}({self.two('int', names, depth)})"
            case 3:
                of = self.choice(("list<int>", "string", "dag", "list<string>"))
                return f"!size({self.value(of, names, depth - 1)})"
            case 4:
                return (
                    f"!head(!listconcat([{self.value('int', names, 0)}], {self.value('list<int>', names, depth - 1)}))"
                )
            case 5:
                return f"!find({self.two('string', names, depth)})"
            case 6:
                return f"!cast<int>({self.value(self.choice(('bits<4>', 'bit', 'int')), names, depth - 1)})"
            case _:
                return f"!add({self.two('int', names, depth)}, {self.value('bits<4>', names, depth - 1)})"

    def string(self, names: dict[str, str], depth: int) -> str:
        if depth <= 0 or self.chance(30):
            return self.choice(WORDS)
        match self.random.randrange(8):
            case 0 | 1:
                return f"!strconcat({self.two('string', names, depth)})"
            case 2:
                left = self.value(self.choice(("string", "int")), names, 0)
                return f"{left} # {self.value(self.choice(('string', 'int')), names, 0)}"
            case 3:
                return f"!cast<string>({self.value(self.choice(('int', *self.classes)), names, depth - 1)})"
            case 4:
                return f"!subst({self.choice(WORDS[:2])}, {self.two('string', names, depth)})"
            case 5:
                of = self.choice(("list<int>", "list<string>"))
                return f'!interleave({self.value(of, names, depth - 1)}, ",")'
            case 6:
                return f"!substr({self.value('string', names, depth - 1)}, {self.choice(('0', '0', '1'))})"
            case _:
                return f"!head({self.value('list<string>', names, depth - 1)} # [{self.choice(WORDS)}])"

    def bits(self, names: dict[str, str], depth: int) -> str:
        match self.random.randrange(6):
            case 0 | 1:
                return self.choice(("5", "0b1010", "15", "-8", "0", "16" if self.chance(10) else "1"))
            case 2 | 3:
                parts = [self.value("bit", names, depth - 1) if self.chance(70) else "?" for _ in range(4)]
                return "{ " + ", ".join(parts) + " }"
            case 4:
                known = [name for name, one in names.items() if one == "bits<4>"]
                return f"{self.choice(known)}{{{self.choice(('3-0', '0-3', '1,0,3,2', '2...0,3'))}}}" if known else "6"
            case _:
                return f"!and({self.value('bits<4>', names, depth - 1)}, 15)" if depth > 0 else "3"

    def list_of(self, element: str, names: dict[str, str], depth: int) -> str:
        if depth <= 0 or self.chance(35):
            items = [self.value(element, names, 0) for _ in range(self.random.randrange(4))]
            return f"[{', '.join(items)}]" + ("" if items else f"<{element}>")
        type = f"list<{element}>"
        match self.random.randrange(7):
            case 0:
                return f"!listconcat({self.two(type, names, depth)})"
            case 1:
                return f"!tail(!listconcat([{self.value(element, names, 0)}], {self.value(type, names, depth - 1)}))"
            case 2 | 3:
                other = self.choice(("int", "string"))
                items = self.value(f"list<{other}>", names, depth - 1)
                item = self.fresh("it")
                return f"!foreach({item}, {items}, {self.value(element, {**names, item: other}, depth - 1)})"
            case 4:
                items = self.value(type, names, depth - 1)
                item = self.fresh("it")
                return f"!filter({item}, {items}, {self.value('bit', {**names, item: element}, depth - 1)})"
            case 5:
                return f"!listsplat({self.value(element, names, depth - 1)}, {self.random.randrange(3)})"
            case _:
                known = [name for name, one in names.items() if one == type]
                return f"{self.choice(known)}[1,0]" if known else f"{self.value(type, names, 0)} # []<{element}>"

    def dag(self, names: dict[str, str], depth: int) -> str:
        operators = [name for name in self.defs if name in names] or ["op"]
        if depth > 0 and self.chance(30):
            match self.random.randrange(3):
                case 0:
                    return f"!con({self.two('dag', names, depth)})"
                case 1:
                    return f"!setop({self.value('dag', names, depth - 1)}, {self.choice(operators)})"
                case _:
                    return f"!dag(op, {self.value('list<int>', names, depth - 1)}, ?)"
        arguments = [
            self.value(self.choice(("int", "string", "dag")), names, depth - 1)
            + (f":$n{index}" if self.chance(50) else "")
            for index in range(self.random.randrange(3))
        ]
        return f"({'op' if self.chance(60) else self.choice(operators)} {', '.join(arguments)})"

    def record(self, class_: str, names: dict[str, str], depth: int) -> str:
        known = [name for name, one in self.defs.items() if one == class_]
        if known and self.chance(50):
            name = self.choice(known)
            return name if self.chance(70) else f'!cast<{class_}>("{name}")'
        return f"{class_}<{self.arguments(self.classes[class_], names, depth - 1)}>"

    def arguments(self, parameters: list[tuple[str, str, bool]], names: dict[str, str], depth: int) -> str:
        required = sum(not default for _, _, default in parameters)
        count = self.random.randrange(required, len(parameters) + 1)
        return ", ".join(self.value(type, names, depth) for _, type, _ in parameters[:count])

    # Statements

    def parameters(self) -> tuple[str, list[tuple[str, str, bool]]]:
        parameters: list[tuple[str, str, bool]] = []
        texts: list[str] = []
        for _ in range(self.random.randrange(4)):
            type, name = self.any_type(), self.fresh("a")
            default = bool(parameters and parameters[-1][2]) or self.chance(25)
            earlier = {one: known for one, known, _ in parameters}
            texts.append(f"{type} {name}" + (f" = {self.value(type, earlier, 1)}" if default else ""))
            parameters.append((name, type, default))
        return (f"<{', '.join(texts)}>" if texts else ""), parameters

    def body(self, names: dict[str, str], fields: dict[str, str]) -> str:
        items: list[str] = []
        for _ in range(self.random.randrange(4)):
            if fields and self.chance(30):
                name = self.choice(fields)
                # Mostly no fields, whose values could come to depend on each other.
                hidden = fields if self.chance(90) else {name: ""} if self.chance(80) else {}
                outer = {one: known for one, known in names.items() if one not in hidden}
                if fields[name] == "bits<4>" and self.chance(50):
                    items.append(f"  let {name}{{{self.choice(('0', '3-2', '1,0'))}}} = {self.value('bit', outer, 1)};")
                else:
                    items.append(f"  let {name} = {self.value(fields[name], outer)};")
            else:
                type, name = self.any_type(), self.fresh("f")
                value = f" = {self.value(type, names)}" if self.chance(85) else ""
                items.append(f"  {type} {name}{value};")
                fields[name] = names[name] = type
        return "{\n" + "\n".join(items) + "\n}" if items else ";"

    def parents(self, names: dict[str, str], fields: dict[str, str]) -> tuple[str, str]:
        self.latest: set[str] = set()
        if not self.classes or self.chance(30):
            return "", ""
        chosen = [self.choice(self.classes)]
        if self.chance(20):
            other = self.choice(self.classes)
            if self.chance(5) or not self.ancestors[other] & self.ancestors[chosen[0]]:
                chosen.append(other)
        texts = []
        for class_ in chosen:
            arguments = self.arguments(self.classes[class_], names, 1)
            texts.append(f"{class_}<{arguments}>" if arguments else class_)
            fields.update(self.class_fields[class_])
            names.update(self.class_fields[class_])
        self.latest = set().union(*(self.ancestors[class_] for class_ in chosen))
        return " : " + ", ".join(texts), chosen[0]

    def class_(self) -> str:
        text, parameters = self.parameters()
        names = {name: type for name, type, _ in parameters} | dict.fromkeys(("NAME",), "string")
        fields: dict[str, str] = {}
        parents, _ = self.parents(names, fields)
        ancestors = self.latest
        name = self.fresh("C")
        body = self.body(names, fields)
        self.classes[name], self.class_fields[name] = parameters, fields
        self.ancestors[name] = {name} | ancestors
        return f"class {name}{text}{parents} {body}"

    def def_(self, names: dict[str, str], name: str | None = None) -> str:
        names = dict(names)
        fields: dict[str, str] = {}
        parents, class_ = self.parents(names, fields)
        plain = name is None
        name = name or self.fresh("d")
        text = f"def {name}{parents} {self.body(names, fields)}"
        if plain and class_:
            self.defs[name] = class_
        return text

    def inner(self, names: dict[str, str], depth: int) -> str:
        """A statement inside a loop or a multiclass."""
        suffix = "".join(f"#{name}" for name, type in names.items() if type == "int" and name.startswith("i"))
        match self.random.randrange(9 if depth > 0 else 3):
            case 3:
                text = f"if {self.value('bit', names, 1)} then {{\n{self.inner(names, depth - 1)}\n}}"
                return text + (f" else {{\n{self.inner(names, depth - 1)}\n}}" if self.chance(50) else "")
            case 6:
                type, name = self.choice(("int", "string", "list<int>")), self.fresh("v")
                inner = self.inner({**names, name: type}, depth - 1)
                return f"defvar {name} = {self.value(type, names, 1)};\n{inner}"
            case 7:
                return f"assert !ne({self.value('int', names, 1)}, 77), {self.value('string', names, 0)};"
            case 8 if self.class_fields:
                return self.let(names, f"{self.fresh('l')}{suffix}")
            case 4:
                name = self.fresh("i")
                inner = self.inner({**names, name: "int"}, depth - 1)
                return f"foreach {name} = {self.value('list<int>', {}, 0)} in {{\n{inner}\n}}"
            case 5 if self.multiclasses:
                return self.defm(names, f"{self.fresh('m')}{suffix}")
            case _:
                return self.def_(names, f"{self.fresh('n')}{suffix}")

    def multiclass(self) -> str:
        text, parameters = self.parameters()
        names = {name: type for name, type, _ in parameters}
        name = self.fresh("M")
        if self.multiclasses and self.chance(30):
            base = self.choice(self.multiclasses)
            arguments = self.arguments(self.multiclasses[base], names, 1)
            text += f" : {base}" + (f"<{arguments}>" if arguments else "")
        statements = [self.inner(names, 2) for _ in range(self.random.randrange(1, 4))]
        self.multiclasses[name] = parameters
        return f"multiclass {name}{text} {{\n" + "\n".join(statements) + "\n}"

    def defm(self, names: dict[str, str], name: str) -> str:
        multiclass = self.choice(self.multiclasses)
        arguments = self.arguments(self.multiclasses[multiclass], names, 1)
        return f"defm {name} : {multiclass}" + (f"<{arguments}>;" if arguments else ";")

    def let(self, names: dict[str, str], name: str) -> str:
        fields = [(class_, *one) for class_, fields in self.class_fields.items() for one in fields.items()]
        if not fields:
            return self.def_(names, name)
        class_, field, type = self.choice(fields)
        arguments = self.arguments(self.classes[class_], names, 1)
        place = f"{field}<{self.choice(('0', '3-2'))}>" if type == "bits<4>" and self.chance(40) else field
        value = self.value("bit" if place.endswith("<0>") else type, names, 1)
        return f"let {place} = {value} in {{\ndef {name} : {class_}<{arguments}>;\n}}"

    def defset(self) -> str:
        if not self.classes:
            return self.def_(dict(self.defs))
        class_, name = self.choice(self.classes), self.fresh("s")
        members = [
            f"def {self.fresh('e')} : {class_}<{self.arguments(self.classes[class_], dict(self.defs), 1)}>;"
            for _ in range(self.random.randrange(3))
        ]
        total = f"def {self.fresh('d')} {{ int n = !size({name}); list<{class_}> l = {name}; }}"
        return f"defset list<{class_}> {name} = {{\n" + "\n".join(members) + f"\n}}\n{total}"

    def program(self) -> str:
        statements = ["def op;"]
        for _ in range(self.random.randrange(2, 12)):
            match self.random.randrange(11):
                case 0 | 1 | 2:
                    statements.append(self.class_())
                case 3 | 4:
                    statements.append(self.def_(dict(self.defs)))
                case 5:
                    statements.append(self.multiclass())
                case 6 if self.multiclasses:
                    statements.append(self.defm(dict(self.defs), self.fresh("x")))
                case 7:
                    statements.append(self.let(dict(self.defs), self.fresh("l")))
                case 8:
                    statements.append(self.defset())
                case _:
                    statements.append(self.inner({}, 2))
        return "\n".join(statements) + "\n"


class NewerGenerator(Generator):
    """Writes programs with what version 14 does not know, too: newer operators, computed elements, and variables in
    bodies.
    """

    def value(self, type: str, names: dict[str, str], depth: int = 2) -> str:
        if depth > 0 and self.chance(20) and (text := self.newer(type, names, depth - 1)) is not None:
            return text
        return super().value(type, names, depth)

    def newer(self, type: str, names: dict[str, str], depth: int) -> str | None:
        def one(of: str) -> str:
            return self.value(of, names, depth)

        index = self.choice(("0", "0", "1", "!add(0, 1)"))
        match type:
            case "int":
                texts = [
                    f"!div({one('int')}, {self.choice(('2', '-3', one('int')))})",
                    f"!initialized({one(self.any_type())})",
                    f"[3, {one('int')}][{index}]",
                    f"{one('list<int>')} [{one('int')}]",
                    f"!getdagarg<int>((op {one('int')}, {one('int')}), {index})",
                    f"!or({self.choice(('-1', one('int')))}, {one('int')})",
                    f"!and({self.choice(('0', one('int')))}, {one('int')})",
                ]
                if self.classes:
                    class_ = self.choice(self.classes)
                    texts += [f"!exists<{class_}>({one('string')})", f"!size(!instances<{class_}>())"]
            case "string":
                texts = [
                    f"!{self.choice(('toupper', 'tolower'))}({one('string')})",
                    f"!repr({one(self.choice(('int', 'string', 'list<int>', 'dag')))})",
                    f"!getdagname((op {one('int')}:$k, 1:$l), {index})",
                    f"!getdagopname(!setdagopname({one('dag')}, {self.choice(WORDS[:2])}))",
                ]
            case "bit":
                texts = [f'!match({one("string")}, "{self.choice(("a|b", "^x", "[a-c]$", ".*"))}")']
            case "list<int>" | "list<string>":
                element = type[5:-1]
                texts = [
                    f"!listremove({one(type)}, {one(type)})",
                    f"!listflatten([{one(type)}, {one(type)}])",
                    f"[{one(element)}, {one(element)}][0, {index}]",
                    f"!listconcat([{one(element)}, {one(element)}], {one(type)})[0...{index}]",
                ]
                if element == "int":
                    texts.append(f"!range({self.choice(('0', '1'))}, {self.choice(('3', one('int')))})")
            case "dag":
                texts = [
                    f"!setdagarg((op 1:$k, {one('int')}), {index}, {one('string')})",
                    f'!setdagname((op 1:$k, {one("int")}), {index}, "m")',
                    f"!setdagopname({one('dag')}, {self.choice(WORDS[:2])})",
                ]
            case _:
                return None
        return self.choice(texts)

    def body(self, names: dict[str, str], fields: dict[str, str]) -> str:
        if not self.chance(25):
            return super().body(names, fields)
        type, name = self.choice(SIMPLE), self.fresh("b")
        text = f"{{\n  defvar {name} = {self.value(type, names, 1)};\n"
        rest = super().body({**names, name: type}, fields)
        return text + (rest[2:] if rest.startswith("{") else "}")


# The suite runs the same programs every time; TABLEGEN_PROGRAMS=5000 looks for new ones.
PROGRAMS = os.environ.get("TABLEGEN_PROGRAMS")


OPTIONS = {
    "derandomize": PROGRAMS is None,
    "database": None,
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
}


@settings(max_examples=int(PROGRAMS or 300), **OPTIONS)
@given(random=st.randoms(use_true_random=False))
def test_random_programs(random: Random, ours, reference, reference_of, tmp_path_factory) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "random.td"
    text = Generator(random).program()
    path.write_text(text)
    mine, theirs = ours(path), reference(path)
    difference = mine.differs(theirs)
    if difference and not theirs.accepted:
        # What one version accepts is accepted. So a program may go on past the place where version 14 refuses it, to
        # where version 22 refuses it. It may go on past both places if they are two: each version accepts one of them.
        path.write_text(_with_newer_names(text))
        newer = reference_of(22)(path)
        difference = "" if mine.accepted and newer.accepted else mine.differs(newer)
        if difference and theirs.differs(newer) and all(_goes_past(mine, other) for other in (theirs, newer)):
            difference = ""
    assert difference == "", f"{difference}\n{text}"


def _goes_past(mine: Outcome, other: Outcome) -> bool:
    """Whether `other` refuses a program, and `mine` accepts it or refuses it further down."""
    if other.place is None:
        return not other.accepted
    return mine.accepted or mine.place is None or mine.place[1] > other.place[1]


def _with_newer_names(text: str) -> str:
    """Version 22 has forgotten the older names of two operators."""
    return text.replace("!setop", "!setdagop").replace("!getop", "!getdagop")


@pytest.mark.parametrize("writer", [Generator, NewerGenerator])
@pytest.mark.parametrize("version", [19, 22])
@settings(max_examples=int(PROGRAMS or 50), **OPTIONS)
@given(random=st.randoms(use_true_random=False))
def test_random_programs_of_newer_versions(
    version: int, writer: type[Generator], random: Random, ours, reference_of, tmp_path_factory
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / f"random{version}.td"
    text = _with_newer_names(writer(random).program())
    path.write_text(text)
    theirs = reference_of(version)(path)
    if theirs.accepted:
        difference = ours(path, [f"--llvm={version}"]).differs(theirs)
        assert difference == "", f"{difference}\n{text}"


@pytest.mark.parametrize("writer", [Generator, NewerGenerator])
@settings(max_examples=int(PROGRAMS or 50), **OPTIONS)
@given(random=st.randoms(use_true_random=False))
def test_what_one_version_accepts_is_accepted_under_each(
    writer: type[Generator], random: Random, ours, reference_of, tmp_path_factory
) -> None:
    """The option is about bytes: a text that the reference tool of any version reads is read under every option."""
    path: Path = tmp_path_factory.getbasetemp() / "random_each.td"
    text = writer(random).program()
    for names in (text, _with_newer_names(text)):
        path.write_text(names)
        if any(reference_of(version)(path).accepted for version in tablegen.LLVM_VERSIONS):
            for version in tablegen.LLVM_VERSIONS:
                mine = ours(path, [f"--llvm={version}"])
                assert mine.accepted, f"--llvm {version}: {mine.message}\n{names}"
