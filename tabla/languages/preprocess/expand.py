"""Goes through a text once: definitions are noted and taken out, uses are replaced, and braces open and close
regions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tabla.base.faults import Faults
from tabla.base.source import Label, Source, Span, TablaError
from tabla.languages.preprocess.comments import TENSOR_COMPREHENSIONS, Comments
from tabla.languages.preprocess.positions import Edit, Preprocessed
from tabla.languages.preprocess.right_hand_side import read_value
from tabla.languages.preprocess.scanner import Scanner, written
from tabla.languages.preprocess.scopes import AlreadyReported, Scopes
from tabla.languages.preprocess.types import SHAPED, read_type
from tabla.languages.preprocess.values import Definition, Kind, Value, WrongKind

_BECOMES = re.compile(r"=(?!=)|\?=(?!=)")
_GOES_ON = re.compile(r"[ \t]*([+*^]|-(?!>)|/(?![/*])|%(?![\w$]))[ \t]*(\$?\w+)?")
_REST = re.compile(r"[^\n}]*")
_DEFINED = re.compile(r"(\$[A-Za-z0-9]\w*)\s*(?:=(?!=)|\?=)")
_TEXT = r'"(?:[^"\\\n]|\\.)*"'
_DEFINABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*|[0-9]+")


class Expansion:
    """One text on its way: what has been written so far, and what is defined."""

    def __init__(self, source: Source, comments: Comments, given: Mapping[str, Definition | TablaError]) -> None:
        self.source, self.faults = source, Faults()
        self.scanner = Scanner(source, comments)
        self.scopes = Scopes(given)
        self.definitions = [definition for definition in given.values() if isinstance(definition, Definition)]
        self.edits: list[Edit] = []
        self.pieces: list[str] = []
        self.copied = self.length = 0
        # Sizes glued to a shaped type (f32x$n) stay glued; elsewhere a use is a word of its own.
        self.shaped_until = 0
        shaped = "|".join(sorted(SHAPED))
        calculation = "" if comments == TENSOR_COMPREHENSIONS else r"|(?P<calculation>!\s*calc\b)"
        self.marks = re.compile(
            rf"(?P<skipped>{comments.pattern.pattern}|{_TEXT})|(?P<brace>[{{}}])|(?P<dollar>\$)"
            rf"|(?P<shaped>\b(?:{shaped})\s*<){calculation}"
        )

    def run(self) -> Preprocessed:
        """Expand the whole text. All its faults are raised together."""
        position = 0
        while (mark := self.marks.search(self.source.text, position)) is not None:
            position = mark.end()
            match mark.lastgroup:
                case "brace" if mark.group() == "{":
                    self.scopes.enter()
                case "brace":
                    self.scopes.leave()
                case "dollar":
                    position = self._variable(mark.start())
                case "shaped":
                    self._shaped(mark.start())
                case "calculation":
                    span = Span(source=self.source, start=mark.start(), end=mark.end())
                    hint = "give it a name before: $n = !calc(...)"
                    self.faults.add("a calculation is the right-hand side of a definition", span, hint=hint)
        self.faults.raise_any()
        self._copy(len(self.source.text))
        return Preprocessed(
            source=Source(name=self.source.name, text="".join(self.pieces)),
            original=self.source,
            definitions=tuple(self.definitions),
            used=frozenset(self.scopes.used),
            edits=tuple(self.edits),
        )

    def _variable(self, start: int) -> int:
        """A definition or a use that begins at `start`; the answer is where to go on."""
        scanner = self.scanner
        scanner.position = start
        try:
            name = scanner.name()
            assert name is not None
            if (sign := scanner.take(_BECOMES)) is not None:
                self._define(name, optional=written(sign) == "?=")
                return scanner.position
            definition = self.scopes.find(name)
            self._replace(name.start, name.end, definition.value.text, definition)
        except AlreadyReported:
            return scanner.position
        except TablaError as fault:
            self.faults.include(fault)
            return max(scanner.position, start + 1)
        return name.end

    def _define(self, name: Span, *, optional: bool) -> None:
        text = written(name)[1:]
        try:
            replaced = optional and self.scopes.offered(text)
            value = read_value(self.scanner, self.scopes)
            self._end_of_value(value)
        except (TablaError, AlreadyReported) as fault:
            self.scopes.poison(name)
            self._skip_line()
            if isinstance(fault, TablaError):
                raise
            return
        if not replaced:
            definition = Definition(name=text, value=value, span=name)
            self.scopes.define(definition)
            self.definitions.append(definition)
        end = self.scanner.position
        self._replace(name.start, end, "\n" * self.source.text.count("\n", name.start, end), None)

    def _skip_line(self) -> None:
        """Pass the rest of a line that cannot be read: it would bring only faults that follow from the first."""
        start = self.scanner.position
        rest = _REST.match(self.source.text, start)
        self.scanner.position = rest.end() if rest else start
        for name in _DEFINED.finditer(self.source.text, start, self.scanner.position):
            self.scopes.poison(Span(source=self.source, start=name.start(1), end=name.end(1)))

    def _end_of_value(self, value: Value) -> None:
        """A value that runs on into the next word is none, and an operator does not go on with it either.

        In no notation does a statement begin with an operator. Without this fault ``$a = 1 / 2`` would define 1, and
        leave the rest of the line to the notation.
        """
        end, text = self.scanner.position, self.source.text
        if _word_at(text, end - 1) and _word_at(text, end):
            raise self.scanner.unexpected("white space after the value", "a value ends where a word ends")
        if (found := _GOES_ON.match(text, end)) is not None:
            operator, operand = found.groups()
            left = text[text.rfind("=", 0, end) + 1 : end].strip()
            hint = "!calc(...) computes with integers alone: write the result as a number"
            if value.kind is Kind.INT:
                hint = f"write !calc({left} {operand or 'b'} {operator}): operands come before their operator"
            place = Span(source=self.source, start=found.start(1), end=found.end(1))
            raise TablaError(f"a value ends before '{operator}'", Label(place), hint=hint)

    def _shaped(self, start: int) -> None:
        """Check the kinds inside a shaped type of the text around; its uses are replaced like all others."""
        if start < self.shaped_until:
            return
        scanner = Scanner(self.source, self.scanner.comments, start)
        try:
            read_type(scanner, self.scopes)
            self.shaped_until = scanner.position
        except WrongKind as fault:
            self.faults.include(fault)
        except (TablaError, AlreadyReported):
            # A name without a definition is reported where it is replaced, all else is the front end's to say.
            return

    def _replace(self, start: int, end: int, text: str, meaning: Definition | None) -> None:
        self._copy(start)
        glued = start < self.shaped_until
        follows = text or self.source.text[end : end + 1]
        if not glued and self.pieces and _word_at(self.pieces[-1], -1) and _word_at(follows, 0):
            self._write(" ")
        new_start = self.length
        self._write(text)
        if not glued and text and _word_at(text, -1) and _word_at(self.source.text, end):
            self._write(" ")
        self.edits.append(Edit(start=start, end=end, new_start=new_start, new_end=self.length, meaning=meaning))
        self.copied = end

    def _copy(self, end: int) -> None:
        self._write(self.source.text[self.copied : end])
        self.copied = end

    def _write(self, text: str) -> None:
        if text:
            self.pieces.append(text)
            self.length += len(text)


def _word_at(text: str, at: int) -> bool:
    """Whether the character there, if there is one, belongs to a word."""
    return -len(text) <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def from_command_line(defines: Mapping[str, str], comments: Comments) -> dict[str, Definition | TablaError]:
    """Return the definitions of ``-D NAME=VALUE``. Each may use those before it.

    A value that the preprocessor cannot read becomes a fault to raise when the text uses the name, because it may be
    meant for a constant of the notation. A name that the preprocessor does not allow is left to the notation too.
    """
    given: dict[str, Definition | TablaError] = {}
    for name, value in defines.items():
        source = Source.from_text(f"${name}={value}", f"-D {name}={value}")
        place = Span(source=source, start=0, end=len(name) + 1)
        if not _DEFINABLE.fullmatch(name):
            continue
        scanner = Scanner(source, comments, len(name) + 2)
        try:
            read = read_value(scanner, Scopes(given))
            scanner.skip()
            if scanner.position < len(source.text):
                raise scanner.unexpected("the end of the value", "-D NAME=VALUE takes one value")
            given[name] = Definition(name=name, value=read, span=place)
        except TablaError as fault:
            given[name] = TablaError(fault.message, *(fault.labels or (Label(place),)), hint=fault.hint)
    return given
