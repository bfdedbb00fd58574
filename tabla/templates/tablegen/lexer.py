"""Characters to tokens, of a file and of all files that it includes (the programmer's reference, section 1.2, "Lexical
analysis", and section 1.7, "Preprocessing facilities").

One pattern reads every token. What needs a decision (comments that nest, code fragments, escapes, directives, includes)
is decided by the function for its group. Includes are expanded here, because ``include`` is lexical and may stand
anywhere, and text that ``#ifdef`` switches off is never tokenised: nothing but the directives in it has to be well
formed. A token knows its index in the run; `positions` knows its place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabla.base.source import Label, Source, Span, TablaError
from tabla.templates.tablegen.operators import OPERATORS
from tabla.templates.tablegen.pool import DEFAULT_LLVM
from tabla.templates.tablegen.positions import IncludedSource, Positions

KEYWORDS = {
    word: word.upper()
    for word in (
        "assert bit bits class code dag def defm defset deftype defvar dump else false field foreach "
        "if in include int let list multiclass string then true"
    ).split()
}

# PLY reads these two names for the grammar.
literals = ":;,<>[]{}()=?.-+"
tokens = (
    *sorted(set(KEYWORDS.values()) - {"INCLUDE"}),
    *("ID", "INTEGER", "BINARY", "TEXT", "CODE_TEXT", "VARIABLE", "OPERATOR", "COND", "ELLIPSIS"),
    *("PASTE", "TRAILING_PASTE", "FAULT"),
)

# Deeper than any real tree of files; a file that includes itself ends here instead of filling the memory.
MAX_INCLUDE_DEPTH = 200
# More than any real tree has; files that include each other twice would otherwise double at each level.
MAX_INCLUDES = 10_000
MAX_TOKENS = 1_500_000
"""The most tokens of a run, with all files that are included: some seconds of reading."""

# From this version on a decimal number of 64 bits may use the bit of the sign, as a hexadecimal one does.
_UNSIGNED_SINCE = 19

# The limits of Linux, in bytes, which a message about a long name mentions.
_MAX_NAME, _MAX_PATH = 255, 4095
# Longer names of files are cut in messages.
_SHOWN_OF_A_NAME = 120

# `dump` and `deftype` are words of the newer language: names everywhere but where a statement may start.
_STATEMENT_STARTS_AFTER = frozenset({";", "}", "{", "IN", "THEN", "ELSE"})
_NEVER_AFTER_DUMP = frozenset({",", "}", "=", ".", "#", "-", "PASTE"})

# The groups, in the order of the pattern: the frequent ones come first. A letter after the digits would make a name of
# them, a string with an escape has to be translated, and "[{" opens a code fragment. Possessive repetitions keep the
# time linear.
_GROUPS = (
    r"([a-zA-Z_][0-9a-zA-Z_]*)",
    r"([:;,<>\](){}=?]|\[(?!\{))",
    r"([0-9]{1,18}(?![0-9a-zA-Z_]))",
    r'"([^"\\\n]*)"',
    r"\$([a-zA-Z_][0-9a-zA-Z_]*)",
    r"!([a-zA-Z]+)",
    r"(0x[0-9a-fA-F]+|0b[01]+|[0-9]+(?=x[0-9a-fA-F]|b[01])|[-+]?[0-9]+(?![0-9a-zA-Z_])|[-+][0-9]+)",
    r"([0-9]+[a-zA-Z_][0-9a-zA-Z_]*)",
    r'("(?:[^"\\\n]|\\[^\n])*+")',
    r"(\[\{)",
    r"(/\*)",
    r"(\#)",
    r"(\.\.\.?)",
    r"([-+.])",
    r"(.)",
)
_TOKEN = re.compile(rf"(?:[ \t\n]++|//[^\n]*+)*+(?:{'|'.join(_GROUPS)})", re.DOTALL)
_NAME, _MARK, _SHORT, _TEXT, _VARIABLE, _OPERATOR = range(1, 7)
_NUMBER, _DIGITS_NAME, _ESCAPED, _CODE, _COMMENT, _HASH, _DOTS, _SIGN, _OTHER = range(7, 16)
_KINDS = {_MARK: "", _SHORT: "INTEGER", _TEXT: "TEXT", _VARIABLE: "VARIABLE"}

_INT64_MAX = (1 << 63) - 1
_INT64_DIGITS = 20
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "t": "\t", "n": "\n"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

_DIRECTIVE = re.compile(r"#(ifdef|ifndef|else|endif|define)(?=[ \t\n]|//|/\*|\Z)")
_MACRO = re.compile(r"[ \t]*([a-zA-Z_][0-9a-zA-Z_]*)?")
_LINE_START = re.compile(r"[ \t\n]*")


class Token:
    """A token as PLY wants it. `lexpos` is the index of the token in the run, see `positions`."""

    # PLY itself sets `lexer` before it reports a fault.
    __slots__ = ("lexer", "lexpos", "lineno", "type", "value")

    def __init__(self, type: str, value: Any, lexpos: int) -> None:
        self.type = type
        self.value = value
        self.lexpos = lexpos
        self.lineno = 0


class LexicalFault(Exception):
    """A fault at an offset of the text that is being read. `Lexer` knows the file and makes the message."""

    def __init__(self, message: str, offset: int, *, hint: str | None = None, also: tuple[int, str] | None = None):
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint
        self.also = also


@dataclass(slots=True)
class Control:
    """One open ``#ifdef`` or ``#ifndef``: whether its text counts, and whether its ``#else`` was seen."""

    active: bool
    offset: int
    in_else: bool = False


class Lexer:
    """Reads sources and everything that they include. A lexical fault ends the list of tokens as a ``FAULT`` token.

    `llvm` is the version of the reference tool that answers where the versions differ.
    """

    def __init__(
        self, include_dirs: Iterable[str | Path] = (), macros: Iterable[str] = (), *, llvm: int = DEFAULT_LLVM
    ) -> None:
        self.positions = Positions()
        self.tokens: list[Any] = []
        self.dependencies: list[str] = []
        self.warnings: list[str] = []
        self.llvm = llvm
        self._include_dirs = [str(directory) for directory in include_dirs]
        # All files of a run share the macros.
        self._macros = set(macros)

    def read(self, *sources: Source) -> list[Any]:
        """Return the tokens of the sources, one after the other. The last one is always an end or a fault."""
        try:
            for source in sources:
                self._file(source, included_at=None, depth=0)
        except TablaError as fault:
            self.tokens.append(Token("FAULT", fault, len(self.positions.starts) - 1))
        self._mark_contextual_words()
        return self.tokens

    def _file(self, source: Source, *, included_at: int | None, depth: int) -> None:
        number = len(self.positions.sources)
        self.positions.sources.append(IncludedSource(source=source, included_at=included_at))
        reading = _Reading(source=source, macros=self._macros, llvm=self.llvm)
        try:
            position = self._tokens(reading, number, 0)
            while position is not None:
                name, index, position = self._file_name(reading, number, position)
                self._include(name, index, depth + 1)
                position = self._tokens(reading, number, position)
            reading.check_closed()
        except LexicalFault as fault:
            raise self._user_fault(fault, number) from None
        finally:
            for message, offset, hint in reading.warnings:
                label = Label(Span(source=source, start=offset, end=offset + 1))
                self.warnings.append(self.positions.warning(message, label, hint=hint))
        if included_at is None:
            # The place of "the file ends here".
            self.positions.add(number, len(source.text), len(source.text))

    def _tokens(self, reading: _Reading, number: int, position: int) -> int | None:
        """Append the tokens from `position` on. Return the offset after the word ``include``, None at the end."""
        positions, text, append = self.positions, reading.source.text, self.tokens.append
        match, keyword = _TOKEN.match, KEYWORDS.get
        add_source, add_start, add_end = positions.source_of.append, positions.starts.append, positions.ends.append
        index = len(positions.starts)
        while (found := match(text, position)) is not None:
            kind = found.lastindex or _OTHER
            value: Any = found[kind]
            start, position = found.start(kind), found.end()
            if kind == _NAME:
                type = keyword(value, "ID")
            elif kind == _MARK:
                type = value
            elif kind in _KINDS:
                type = _KINDS[kind]
                if kind == _SHORT:
                    value = int(value)
                else:
                    start -= 1
            else:
                type, value, start, position = reading.token(kind, value, start, position)
                if not type:
                    continue
            if index >= MAX_TOKENS:
                raise LexicalFault(f"the files have more than {MAX_TOKENS:,} words and signs", start)
            add_source(number)
            add_start(start)
            add_end(position)
            reading.last_end = position
            if type == "INCLUDE":
                return position
            append(Token(type, value, index))
            index += 1
        return None

    def _file_name(self, reading: _Reading, number: int, position: int) -> tuple[str, int, int]:
        """The string after the word ``include``: its text, its index and the offset after it."""
        type, value, start = "", "", self.positions.starts[-1]
        while not type and (found := _TOKEN.match(reading.source.text, position)) is not None:
            kind = found.lastindex or _OTHER
            start, position, value = found.start(kind) - (kind == _TEXT), found.end(), found[kind]
            if kind in (_TEXT, _NAME, _MARK, _SHORT, _VARIABLE):
                type = "TEXT" if kind == _TEXT else "another"
            else:
                type, value, start, position = reading.token(kind, value, start, position)
        if type != "TEXT":
            raise LexicalFault("expected a file name after include", start)
        reading.last_end = position
        return value, self.positions.add(number, start, position), position

    def _include(self, name: str, index: int, depth: int) -> None:
        if depth > MAX_INCLUDE_DEPTH:
            raise self.positions.fault(
                f"includes are nested more than {MAX_INCLUDE_DEPTH} deep", index, hint="does a file include itself?"
            )
        if len(self.dependencies) >= MAX_INCLUDES:
            raise self.positions.fault(
                f"more than {MAX_INCLUDES} files are included", index, hint="does a file include another one twice?"
            )
        # The reference tool tries the name as it stands (from the working directory), then the -I directories.
        candidates = [name, *(f"{directory}/{name}" for directory in self._include_dirs)]
        found = next((path for path in candidates if _is_file(path)), None)
        if found is None:
            searched = ", ".join(self._include_dirs) or "no -I directories"
            hint = f"searched: working directory, {searched}"
            if len(name.encode()) > _SHOWN_OF_A_NAME:
                hint += f"; a file name has at most {_MAX_NAME} bytes, and a path {_MAX_PATH}"
                name = f"{name[:_SHOWN_OF_A_NAME]}..."
            raise self.positions.fault(f"could not find include file '{name}'", index, hint=hint)
        self._refuse_outside(found, name, index)
        self.dependencies.append(found)
        self._file(Source.from_path(found), included_at=index, depth=depth)

    def _refuse_outside(self, found: str, name: str, index: int) -> None:
        """Raise `TablaError` for a file outside the folders in which users have us search, or have given us a file.

        The reference tool reads any file of the machine, and quotes it in its messages.
        """
        path = os.path.abspath(found)
        given = {os.path.dirname(each.source.name) for each in self.positions.sources if each.included_at is None}
        folders = [os.path.abspath(folder) for folder in (".", *given, *self._include_dirs)]
        if not any(path.startswith(os.path.join(folder, "")) for folder in folders):
            raise self.positions.fault(
                f"the include file '{name}' lies outside the folders that are searched",
                index,
                hint=f"name its folder: -I {os.path.dirname(found)}",
            )

    def _user_fault(self, fault: LexicalFault, number: int) -> TablaError:
        positions = self.positions
        source = positions.sources[number].source
        index = positions.add(number, fault.offset, min(fault.offset + 1, len(source.text)))
        result = positions.fault(fault.message, index, hint=fault.hint)
        if fault.also is None:
            return result
        offset, text = fault.also
        second = Label(Span(source=source, start=offset, end=offset + 1), text)
        return TablaError(result.message, *result.labels, second, hint=result.hint, notes=result.notes)

    def _mark_contextual_words(self) -> None:
        """Give ``#`` before ``: ; {`` its own type (it pastes nothing), and names back to words of the new language."""
        tokens: Sequence[Any] = self.tokens
        class_names: set[str] = set()
        for position, token in enumerate(tokens):
            kind = token.type
            if kind == "PASTE":
                if position + 1 < len(tokens) and tokens[position + 1].type in (":", ";", "{"):
                    token.type = "TRAILING_PASTE"
            elif kind in ("DUMP", "DEFTYPE"):
                starts = position == 0 or tokens[position - 1].type in _STATEMENT_STARTS_AFTER
                following = tokens[position + 1].type if position + 1 < len(tokens) else ""
                if position > 0 and tokens[position - 1].type == "CLASS":
                    class_names.add(kind)
                if not starts or following in _NEVER_AFTER_DUMP or kind in class_names:
                    token.type = "ID"


def _is_file(path: str) -> bool:
    """Whether there is a file of this name. The system refuses even to look for a name that is too long."""
    try:
        return Path(path).is_file()
    except OSError:
        return False


@dataclass(slots=True, kw_only=True)
class _Reading:
    """One reading of one file: the tokens that need a decision, and the conditions that are open."""

    source: Source
    macros: set[str]
    llvm: int
    controls: list[Control] = field(default_factory=list)
    # The end of the token before. None means that there is none.
    last_end: int | None = None
    # Texts of warnings with an offset and a cure.
    warnings: list[tuple[str, int, str]] = field(default_factory=list)

    def token(self, kind: int, value: str, start: int, end: int) -> tuple[str, Any, int, int]:
        """Return type, value, start and end of a token. An empty type says that nothing is read."""
        match kind:
            case n if n == _OPERATOR:
                return _operator(value, start - 1, end)
            case n if n == _NUMBER:
                return self._number(value, start, end)
            case n if n == _DIGITS_NAME:
                return "ID", value, start, end
            case n if n == _ESCAPED:
                return "TEXT", _ESCAPE.sub(_unescape(start + 1), value[1:-1]), start, end
            case n if n == _CODE:
                return self._code(start)
            case n if n == _COMMENT:
                return "", None, start, _after_comment(self.source.text, start)
            case n if n == _HASH:
                if self._is_directive(start):
                    return "", None, start, self._run_directive(start)
                return "PASTE", value, start, end
            case n if n == _DOTS:
                if value == "..":
                    raise LexicalFault("invalid '..' punctuation", start, hint="a range is written with '...'")
                return "ELLIPSIS", value, start, end
            case n if n == _SIGN:
                return value, value, start, end
            case _:
                raise _unexpected(self.source.text, value, start)

    def _code(self, start: int) -> tuple[str, str, int, int]:
        text = self.source.text
        position = text.find("}", start + 2)
        # The reference tool looks at the text two characters at a time after a brace: "}}]" does not end a fragment.
        while 0 <= position and not text.startswith("]", position + 1):
            position = text.find("}", position + 2)
        if position < 0:
            raise LexicalFault("unterminated code fragment", start, hint="close it with }]")
        # A fragment keeps the line ends of the file, as by the reference tool.
        return "CODE_TEXT", self.source.as_written(start + 2, position), start, position + 2

    def _number(self, text: str, start: int, end: int) -> tuple[str, Any, int, int]:
        if text.startswith("0b"):
            bits, width = int(text[2:], 2), len(text) - 2
            fits = bits < 1 << 64 and self.llvm >= _UNSIGNED_SINCE
            return "BINARY", (_signed(bits) if fits else min(bits, _INT64_MAX), width), start, end
        if not text.startswith("0x"):
            return "INTEGER", self._decimal(text), start, end
        value = int(text, 16)
        if value >= 1 << 64:
            raise LexicalFault("hexadecimal number out of range", start, hint="64 bits hold 16 digits")
        return "INTEGER", _signed(value), start, end

    def _decimal(self, text: str) -> int:
        """The number, or the nearest one of 64 bits, as the reference tool has it.

        Python refuses to read 4,301 digits.
        """
        digits = text.lstrip("+-").lstrip("0")
        value = int(digits or "0") if len(digits) <= _INT64_DIGITS else 1 << 64
        if text.startswith("-"):
            return max(-value, -_INT64_MAX - 1)
        if value < 1 << 64 and self.llvm >= _UNSIGNED_SINCE:
            return _signed(value)
        return min(value, _INT64_MAX)

    # Directives

    def check_closed(self) -> None:
        """Raise a fault if the file leaves a condition open."""
        if self.controls:
            raise LexicalFault(
                "end of file without a matching #endif",
                len(self.source.text),
                also=(self.controls[-1].offset, "the latest preprocessor control is here"),
            )

    def _is_active(self) -> bool:
        return all(control.active for control in self.controls)

    def _is_directive(self, offset: int) -> bool:
        """Whether the ``#`` starts a directive: a known word follows, and nothing stands before it on its line."""
        text = self.source.text
        if not _DIRECTIVE.match(text, offset):
            return False
        return self.last_end is None or "\n" in text[self.last_end : offset]

    def _run_directive(self, offset: int) -> int:
        """Obey the directive at `offset` and return where the next live text starts."""
        position = self._obey(offset, live=True)
        while not self._is_active():
            position = self._obey(self._next_directive(position), live=False)
        return position

    def _obey(self, offset: int, *, live: bool) -> int:
        text, controls = self.source.text, self.controls
        match = _DIRECTIVE.match(text, offset)
        assert match is not None, "the caller looked"
        word, position = match.group(1), match.end()
        if word in ("ifdef", "ifndef"):
            name, position = self._macro_name(position, word)
            controls.append(Control(active=(name in self.macros) == (word == "ifdef"), offset=offset + 1))
            word = f"{word} NAME"
        elif word == "else":
            if not controls:
                raise LexicalFault("#else without #ifdef or #ifndef", offset + 1)
            if controls[-1].in_else:
                raise LexicalFault("double #else", offset + 1, also=(controls[-1].offset, "the previous #else is here"))
            controls[-1] = Control(active=not controls[-1].active, offset=offset + 1, in_else=True)
        elif word == "endif":
            if not controls:
                raise LexicalFault("#endif without #ifdef", offset + 1)
            controls.pop()
            if position == len(text):
                self.warnings.append(
                    ("llvm-tblgen does not see an #endif without an end of line", offset, "end the line")
                )
        elif live:
            name, position = self._macro_name(position, word)
            if name in self.macros:
                message = f"duplicate definition of macro '{name}'"
                self.warnings.append((message, position - len(name), "define it once, or guard it by #ifndef"))
            self.macros.add(name)
            word = "define NAME"
        return self._directive_end(position, word)

    def _macro_name(self, position: int, word: str) -> tuple[str, int]:
        match = _MACRO.match(self.source.text, position)
        assert match is not None, "the pattern matches anything"
        if match.group(1) is None:
            raise LexicalFault(f"expected macro name after #{word}", match.end())
        return match.group(1), match.end()

    def _directive_end(self, position: int, word: str) -> int:
        text = self.source.text
        while position < len(text):
            if text[position] in " \t":
                position += 1
            elif text[position] == "\n":
                return position
            elif text.startswith("//", position):
                end = text.find("\n", position)
                return len(text) if end < 0 else end
            elif text.startswith("/*", position):
                position = _after_comment(text, position)
            else:
                raise LexicalFault(f"only comments are supported after #{word}", position)
        return position

    def _next_directive(self, position: int) -> int:
        """The next directive other than ``#define`` at the start of a line of text that is switched off."""
        text = self.source.text
        while True:
            position = text.find("\n", position)
            if position < 0:
                self.check_closed()
                raise AssertionError("text is switched off, so a condition is open")
            position = _line_start(text, position)
            while text.startswith("/*", position):
                position = _line_start(text, _after_comment(text, position))
            directive = _DIRECTIVE.match(text, position)
            if directive and directive.group(1) != "define":
                return position


def _operator(name: str, start: int, end: int) -> tuple[str, str, int, int]:
    if name not in OPERATORS:
        raise LexicalFault(f"unknown operator '!{name}'", start)
    return "COND" if name == "cond" else "OPERATOR", name, start, end


def _unescape(start: int) -> Any:
    def replace(match: re.Match[str]) -> str:
        try:
            return _ESCAPES[match.group(1)]
        except KeyError:
            raise LexicalFault(
                "invalid escape in string literal", start + match.start() + 1, hint=r"the escapes are \\ \' \" \t \n"
            ) from None

    return replace


def _signed(value: int) -> int:
    """The number whose 64 bits are those of `value`: the top one is the sign."""
    return value - (1 << 64) if value > _INT64_MAX else value


def _unexpected(text: str, character: str, start: int) -> LexicalFault:
    match character:
        case '"':
            at_end = text.find("\n", start) < 0
            return LexicalFault(
                f"end of {'file' if at_end else 'line'} in string literal", start, hint='close it with "'
            )
        case "$":
            return LexicalFault("invalid variable name", start)
        case "!":
            return LexicalFault('invalid "!operator"', start)
        case _:
            return LexicalFault(f"unexpected character {character!r}", start)


def _after_comment(text: str, start: int) -> int:
    """The offset after the comment that starts at `start`, which may hold further comments."""
    depth = 1
    for match in re.compile(r"/\*|\*/").finditer(text, start + 2):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    raise LexicalFault("unterminated comment", start, hint="close it with */; comments nest")


def _line_start(text: str, position: int) -> int:
    match = _LINE_START.match(text, position)
    assert match is not None, "the pattern matches anything"
    return match.end()
