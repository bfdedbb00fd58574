"""Text to syntax tree by recursive descent: what follows an instruction depends on its name alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import NoReturn, TypeVar

from tabla.base.faults import Faults, did_you_mean
from tabla.base.lexemes import MOST_DIGITS, Lexeme, Token, is_too_long
from tabla.base.source import Label, Source, Span, TablaError
from tabla.languages.tinytc.lexer import read_tokens
from tabla.languages.tinytc.syntax import (
    INTEGERS,
    REALS,
    Function,
    Group,
    Instruction,
    Literal,
    Local,
    Memref,
    Operand,
    Parameter,
    Scalar,
    Slice,
    Type,
)

ARITHMETIC = frozenset({"add", "sub", "mul", "div", "rem", "max", "min", "shl", "shr", "and", "or", "xor"})
UNARY = frozenset({"abs", "neg", "not", "cast", "conj", "im", "re"})
MATH = frozenset(
    f"{prefix}{name}" for name in ("cos", "sin", "exp", "exp2", "log", "log2") for prefix in ("", "native_")
)
COMPARISONS = frozenset({"equal", "not_equal", "greater_than", "greater_than_equal", "less_than", "less_than_equal"})
_COMPARED = {
    "eq": "equal", "ne": "not_equal", "gt": "greater_than", "ge": "greater_than_equal", "lt": "less_than",
    "le": "less_than_equal",
}  # fmt: skip
BLOCKS = {"axpby": 4, "cumsum": 5, "gemm": 5, "gemv": 5, "ger": 5, "hadamard": 5, "sum": 4}
"""The block instructions, and how many operands each has."""
NAMES = sorted(
    {
        *ARITHMETIC, *UNARY, *MATH, *COMPARISONS, *BLOCKS, "alloca", "barrier", "constant", "expand", "for", "foreach",
        "fuse", "group_id", "if", "lifetime_stop", "load", "parallel", "size", "store", "subview", "yield",
    }
)  # fmt: skip
"""All instructions that are read, without their modifiers."""
REFUSED = {
    "foreach_tile": "write foreach, which has no tiles",
    "num_groups": "a program runs for each sample that comes, and their number is not known",
    "num_subgroups": "the array has no subgroups; leave out what depends on them",
    "subgroup_size": "the array has no subgroups; leave out what depends on them",
    "associated": "each memref is there",
}
_DEEPEST = 60
Part = TypeVar("Part")
_ELEMENT = re.compile(r"(bf16|f16|f32|f64|c32|c64|index|i8|i16|i32|i64|bool)((?:x(?:[0-9]+|\?))*)")
_FORM = "a function is written func @name(%A: memref<f32x4x8>) { ... }"


def parse(source: Source) -> tuple[Function, ...]:
    """Return the functions of a text. The first fault of its grammar is a `TablaError`."""
    faults = Faults()
    found = read_tokens(source, faults)
    faults.raise_any()
    parser = _Parser(source, found)
    functions: list[Function] = []
    while parser.token() is not None:
        functions.append(parser.function())
    if not functions:
        raise TablaError(f"'{source.name}' has no function", hint=_FORM)
    for number, function in enumerate(functions):
        if any(function.name == other.name for other in functions[:number]):
            raise TablaError(f"there are two functions '@{function.name}'", Label(function.span), hint="rename one")
    return tuple(functions)


_NO_BRACKETS = "operands stand without brackets: gemv %c, %A, ...; for %i = %from, %to { ... }; if %c { ... }"
_OTHER_LANGUAGES = {
    "while": "write for %i = %from, %to { ... }: a loop has constant ends",
    "return": "leave it out: a function gives what it writes into its memrefs",
    "func": "functions stand side by side: close the one before it with '}'",
    "call": "there are no calls: write the instructions here",
    "sqrt": "the language has no root: the root of a number above 0 is exp2 of half its log2",
    "pow": "the language has no powers: write products, or exp2 of a product with log2",
    "fadd": "write add: the type says that the numbers are real",
    "fmul": "write mul: the type says that the numbers are real",
}
"""Instructions of other languages, and what to write for them."""


class _Parser:
    def __init__(self, source: Source, found: list[Token]) -> None:
        self._source, self._tokens, self._position, self._depth = source, found, 0, 0

    def token(self) -> Token | None:
        """Return the next token, which stays."""
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def function(self) -> Function:
        begin = self._word("func", _FORM)
        name = self._take("GLOBAL", "the name of a function, such as @name", _FORM)
        parameters = self._list("LPAREN", "RPAREN", self._parameter)
        end = self._before()
        self._attributes("attributes")
        body = self._region()
        span = begin.span.to(end)
        return Function(name=name.text[1:], parameters=tuple(parameters), body=body, span=span)

    def _parameter(self) -> Parameter:
        name = self._take("LOCAL", "a parameter, such as %A", "write %A: memref<f32x4x8>")
        self._take("COLON", "':'", "each parameter has a type: %A: memref<f32x4x8>")
        type = self._type()
        if self._is("LBRACE"):
            self._brackets()
        return Parameter(name=name.text[1:], type=type, span=name.span.to(type.span))

    def _region(self) -> tuple[Instruction, ...]:
        opened = self._take("LBRACE", "'{'", "a region is written { ... }")
        self._depth += 1
        if self._depth > _DEEPEST:
            raise TablaError(f"regions are nested more than {_DEEPEST} deep", Label(opened.span), hint="nest fewer")
        body: list[Instruction] = []
        while not self._is("RBRACE"):
            if self.token() is None:
                self._expected("an instruction or '}'", "close the region with '}'", Label(opened.span, "opened here"))
            body.append(self._instruction())
        self._position += 1
        self._depth -= 1
        return tuple(body)

    def _instruction(self) -> Instruction:
        start = self._here()
        results: list[Local] = []
        if self._is("LOCAL"):
            results.append(self._local())
            while self._accept("COMMA"):
                results.append(self._local())
            self._take("ASSIGN", "'='", "what an instruction gives is named before it: %c = add %a, %b : f32")
        all_names = f"there are {', '.join(NAMES)}"
        renamed = results and self._is("LOCAL")
        word = self._take("NAME", "an instruction", "a value has one name: use that one" if renamed else all_names)
        name, modifiers = word.text, []
        while self._accept("DOT"):
            modifiers.append(self._take("NAME", "a modifier", "such as gemm.n.t").text)
        if name in ("arith", "math") and modifiers:
            name, modifiers = modifiers[0], modifiers[1:]
        elif name == "cmp" and modifiers and modifiers[0] in _COMPARED:
            name, modifiers = _COMPARED[modifiers[0]], modifiers[1:]
        self._known(name, modifiers, word)
        parts = self._parts(name)
        return Instruction(
            name=name,
            modifiers=tuple(modifiers),
            results=tuple(results),
            operands=parts.operands,
            bound=parts.bound,
            begin=parts.begin,
            types=parts.types,
            regions=parts.regions,
            span=Span(source=self._source, start=start.start, end=parts.span.end),
        )

    def _known(self, name: str, modifiers: list[str], word: Lexeme) -> None:
        """Refuse the instructions that no kernel says."""
        if name in REFUSED or name.startswith(("subgroup_", "cooperative_matrix", "atomic_")):
            hint = REFUSED.get(name)
            if hint is None:
                hint = "the array has no subgroups; leave out what depends on them"
                if name.startswith("atomic_"):
                    hint = "one sample runs at a time: write load, add and store"
                if name.startswith("cooperative_matrix"):
                    hint = "write gemm, or load and store"
            raise TablaError(f"'{name}' is refused", Label(word.span), hint=hint)
        if "atomic" in modifiers:
            hint = "one sample runs at a time; leave .atomic out"
            raise TablaError(f"'{name}.atomic' is refused", Label(word.span), hint=hint)
        if name not in NAMES:
            hint = _OTHER_LANGUAGES.get(name) or did_you_mean(name, NAMES) or f"there are {', '.join(NAMES)}"
            raise TablaError(f"there is no instruction '{name}'", Label(word.span), hint=hint)

    def _parts(self, name: str) -> Instruction:
        """Read what follows the name of an instruction, up to where its place ends."""
        operands: list[Operand] = []
        bound: list[Local] = []
        begin: list[Local | Literal] = []
        types: list[Type] = []
        regions: list[tuple[Instruction, ...]] = []
        end: Span | None = None
        match name:
            case "for":
                bound.append(self._local())
                self._take("ASSIGN", "'='", "write for %i = %from, %to { ... }")
                operands.append(self._value())
                self._take("COMMA", "','", "write for %i = %from, %to { ... }")
                operands.append(self._value())
                if self._accept("COMMA"):
                    operands.append(self._value())
                if self._accept_word("init"):
                    for local, value in self._list("LPAREN", "RPAREN", self._carried):
                        bound.append(local)
                        begin.append(value)
                    self._take("ARROW", "'->'", "write init(%a = %b) -> (f32)")
                    types = self._list("LPAREN", "RPAREN", self._type)
                end = self._before()
                regions.append(self._region())
                self._attributes("attributes")
            case "foreach":
                bound = self._list("LPAREN", "RPAREN", self._local) if self._is("LPAREN") else [self._local()]
                self._take("ASSIGN", "'='", "write foreach (%i, %j) = (%a, %b), (%c, %d) { ... }")
                operands += self._list("LPAREN", "RPAREN", self._value) if self._is("LPAREN") else [self._value()]
                self._take("COMMA", "','", "write foreach (%i, %j) = (%a, %b), (%c, %d) { ... }")
                operands += self._list("LPAREN", "RPAREN", self._value) if self._is("LPAREN") else [self._value()]
                end = self._before()
                regions.append(self._region())
                self._attributes("attributes")
            case "if":
                operands.append(self._value())
                if self._accept("ARROW"):
                    types = self._list("LPAREN", "RPAREN", self._type)
                end = self._before()
                regions.append(self._region())
                if self._accept_word("else"):
                    regions.append(self._region())
            case "parallel":
                end = self._before()
                regions.append(self._region())
            case "yield":
                operands += self._list("LPAREN", "RPAREN", self._value)
            case "alloca":
                if self._is("LBRACE"):
                    self._brackets()
                types.append(self._annotation())
            case "barrier":
                pass
            case "constant":
                operands.append(self._literal())
                types.append(self._annotation())
            case "group_id":
                types.append(self._annotation())
            case "load" | "subview" | "expand" | "fuse" | "size":
                operands.append(self._local())
                operands += self._bracketed(name)
                types.append(self._annotation())
            case "store":
                operands.append(self._value())
                self._take("COMMA", "','", "write store %value, %A[%i, %j]")
                operands.append(self._local())
                operands += self._bracketed(name)
            case _:
                operands.append(self._value())
                while self._accept("COMMA"):
                    operands.append(self._value())
                if name not in BLOCKS and name != "lifetime_stop":
                    types.append(self._annotation())
        return Instruction(
            name=name,
            operands=tuple(operands),
            bound=tuple(bound),
            begin=tuple(begin),
            types=tuple(types),
            regions=tuple(regions),
            span=end or self._before(),
        )

    def _carried(self) -> tuple[Local, Local | Literal]:
        local = self._local()
        self._take("ASSIGN", "'='", "write init(%a = %b) -> (f32)")
        return local, self._value()

    def _bracketed(self, name: str) -> list[Operand]:
        if name != "expand":
            return self._list("LBRACKET", "RBRACKET", self._slice if name == "subview" else self._value)
        opened = self._take("LBRACKET", "'['", "write expand %A[1 -> 2x8]")
        found: list[Operand] = [self._literal()]
        self._take("ARROW", "'->'", "write expand %A[1 -> 2x8]")
        closing = self._position
        while closing < len(self._tokens) and self._tokens[closing].type != "RBRACKET":
            closing += 1
        if closing == len(self._tokens):
            self._expected("']'", "close it with ']'", Label(opened.span, "opened here"))
        first, last = self._tokens[self._position].value.span, self._tokens[closing - 1].value.span
        text = self._source.text[first.start : last.end]
        self._position = closing + 1
        for size in "".join(text.split()).split("x"):
            if not size.isdigit():
                message = f"'{size}' is no constant size"
                raise TablaError(message, Label(first.to(last)), hint="sizes are constants: expand %A[1 -> 2x8]")
            found.append(Literal(value=int(size), span=first.to(last)))
        return found

    def _slice(self) -> Slice:
        offset = self._value()
        size = self._value() if self._accept("COLON") else None
        return Slice(offset=offset, size=size, span=offset.span.to(size.span if size is not None else offset.span))

    def _annotation(self) -> Type:
        self._take("COLON", "':' and a type", "what an instruction gives has a type: %c = add %a, %b : f32")
        return self._type()

    def _type(self) -> Type:
        word = self._take("NAME", "a type", "types are f32, f64, index, bool, memref<f32x4x8>, group<memref<f32x4>x?>")
        if not self._is("LESS"):
            if word.text not in REALS | INTEGERS | {"bool"}:
                _refuse_type(word.text, word.span)
            return Scalar(name=word.text, span=word.span)
        depth, end = 0, word.span
        while (token := self.token()) is not None:
            self._position += 1
            end = token.value.span
            depth += (token.type == "LESS") - (token.type == "GREATER")
            if not depth:
                break
        span = word.span.to(end)
        if depth:
            raise TablaError("this type is not closed", Label(span), hint="close it with '>'")
        text = "".join(re.sub(r";[^\n]*", "", self._source.text[span.start : span.end]).split())
        return _shaped(text, span)

    def _local(self) -> Local:
        hint = _NO_BRACKETS if self._is("LPAREN") else "local names begin with '%'"
        word = self._take("LOCAL", "a name such as %a", hint)
        return Local(name=word.text[1:], span=word.span)

    def _value(self) -> Local | Literal:
        return self._local() if self._is("LOCAL") else self._literal()

    def _literal(self) -> Literal:
        token = self.token()
        if token is not None and token.type == "NAME" and token.value.text in ("true", "false", "inf", "nan"):
            self._position += 1
            if token.value.text in ("inf", "nan"):
                raise TablaError("a number that is not finite", Label(token.value.span), hint="use a finite number")
            return Literal(value=token.value.text == "true", span=token.value.span)
        if token is not None and token.type == "LBRACKET":
            _refuse_type("c32", token.value.span)
        hint = "local names begin with '%'"
        if self._is("LPAREN"):
            hint = _NO_BRACKETS
        elif self._is("COLON"):
            hint = "a whole mode is 0:size"
        word = self._take("NUMBER", "a name such as %a, or a constant", hint)
        return Literal(value=_number(word), span=word.span)

    # Tokens

    def _list(self, opener: str, closer: str, part: Callable[[], Part]) -> list[Part]:
        sign = {"LPAREN": "'('", "RPAREN": "')'", "LBRACKET": "'['", "RBRACKET": "']'"}
        opened = self._take(opener, sign[opener], f"write {sign[opener]} and {sign[closer]} around the list")
        found: list[Part] = []
        while not self._is(closer):
            if found:
                label = Label(opened.span, "opened here")
                self._take("COMMA", f"',' or {sign[closer]}", f"close it with {sign[closer]}", label)
            found.append(part())
        self._position += 1
        return found

    def _brackets(self) -> None:
        """Pass over a dictionary of attributes, which change no value."""
        opened, depth = self._here(), 0
        while (token := self.token()) is not None:
            self._position += 1
            depth += (token.type in ("LBRACE", "LBRACKET")) - (token.type in ("RBRACE", "RBRACKET"))
            if not depth:
                return
        self._expected("'}'", "close the attributes with '}'", Label(opened, "opened here"))

    def _attributes(self, word: str) -> None:
        if self._accept_word(word):
            self._brackets()

    def _word(self, word: str, hint: str) -> Lexeme:
        if not self._is_word(word):
            self._expected(f"'{word}'", hint)
        return self._take("NAME", word, hint)

    def _is(self, kind: str) -> bool:
        token = self.token()
        return token is not None and token.type == kind

    def _is_word(self, word: str) -> bool:
        token = self.token()
        return token is not None and token.type == "NAME" and token.value.text == word

    def _accept(self, kind: str) -> bool:
        accepted = self._is(kind)
        self._position += accepted
        return accepted

    def _accept_word(self, word: str) -> bool:
        accepted = self._is_word(word)
        self._position += accepted
        return accepted

    def _take(self, kind: str, expected: str, hint: str, *also: Label) -> Lexeme:
        token = self.token()
        if token is None or token.type != kind:
            self._expected(expected, hint, *also)
        self._position += 1
        found: Lexeme = token.value
        return found

    def _here(self) -> Span:
        token = self.token()
        if token is not None:
            found: Span = token.value.span
            return found
        end = self._before().end
        return Span(source=self._source, start=end, end=end)

    def _before(self) -> Span:
        span: Span = self._tokens[self._position - 1].value.span
        return span

    def _expected(self, expected: str, hint: str, *also: Label) -> NoReturn:
        token = self.token()
        what = f"'{token.value.text}'" if token is not None else "the end of the file"
        raise TablaError(f"expected {expected}, not {what}", Label(self._here()), *also, hint=hint)


def _number(word: Lexeme) -> int | Fraction:
    text = word.text
    if len(text) > MOST_DIGITS or ("x" not in text.lower() and is_too_long(text)):
        raise TablaError("this number is too long", Label(word.span), hint="no type can hold it")
    try:
        if "x" in text.lower() and not {".", "p", "P"} & set(text):
            return int(text, 16)
        if "x" in text.lower():
            return Fraction(float.fromhex(text))
        return int(text) if text.lstrip("+-").isdigit() else Fraction(text)
    except (ValueError, OverflowError):
        raise TablaError(f"'{text}' is no number", Label(word.span), hint="write 1.5, 3 or 0x1.8p3") from None


def _shaped(text: str, span: Span) -> Type:
    """Read a type with ``<...>``, whose blanks are left out."""
    group = re.fullmatch(r"group<(memref<.*>)x([0-9]+|\?)(?:,offset:([0-9]+|\?))?>", text)
    if group is not None:
        inner = _shaped(group[1], span)
        if group[3] not in (None, "0"):
            raise TablaError("a group with an offset", Label(span), hint="leave the offset out")
        assert isinstance(inner, Memref)
        return Group(memref=inner, span=span)
    found = re.fullmatch(r"memref<([^,<>]*)((?:,strided<[0-9,?]*>)?(?:,(?:local|global))?)>", text)
    element = _ELEMENT.fullmatch(found[1]) if found is not None else None
    if element is None:
        if text.startswith("coopmatrix"):
            raise TablaError("cooperative matrices are refused", Label(span), hint="use a memref")
        raise TablaError("this is no type", Label(span), hint="write memref<f32x4x8> or group<memref<f32x4x8>x?>")
    if element[1] not in REALS:
        _refuse_type(element[1], span)
    sizes = tuple(None if size == "?" else int(size) for size in element[2].split("x")[1:])
    if 0 in sizes:
        raise TablaError("a memref without elements", Label(span), hint="sizes are positive")
    return Memref(element=element[1], shape=sizes, span=span)


def _refuse_type(name: str, span: Span) -> NoReturn:
    what = (
        "complex numbers" if name[0] in "c[" else f"memrefs of '{name}'" if name in INTEGERS else f"the type '{name}'"
    )
    raise TablaError(
        f"{what} are refused" if name[0] in "ci" else f"there is no type '{name}'",
        Label(span),
        hint="memrefs hold f32, f64, f16 or bf16; all are words of the number format",
    )
