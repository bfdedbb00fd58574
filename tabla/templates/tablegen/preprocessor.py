"""``#define``, ``#ifdef``, ``#ifndef``, ``#else``, ``#endif`` (reference, section 1.7, "Preprocessing facilities").

A directive is a word right after a ``#`` that is the first thing on its line. Text that is switched off is never
tokenised, so nothing but the directives in it has to be well formed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_DIRECTIVE = re.compile(r"#(ifdef|ifndef|else|endif|define)(?=[ \t\n]|//|/\*|\Z)")
_MACRO = re.compile(r"[ \t]*([a-zA-Z_][0-9a-zA-Z_]*)?")
_LINE_START = re.compile(r"[ \t\n]*")


class LexicalFault(Exception):
    """A fault at an offset of the text that is being read. The scanner knows the file and makes the message."""

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


@dataclass(slots=True)
class FileState:
    """What one reading of one file needs to know. `macros` is shared by all files of a run."""

    macros: set[str]
    controls: list[Control] = field(default_factory=list)
    last_end: int | None = None
    # Texts of warnings with an offset and a cure.
    warnings: list[tuple[str, int, str]] = field(default_factory=list)

    def warn(self, message: str, offset: int, hint: str) -> None:
        """Remember a warning."""
        self.warnings.append((message, offset, hint))

    def active(self) -> bool:
        """Return whether every enclosing condition holds."""
        return all(control.active for control in self.controls)

    def check_closed(self, text: str) -> None:
        """Raise a fault if the file leaves a condition open."""
        if self.controls:
            raise LexicalFault(
                "end of file without a matching #endif",
                len(text),
                also=(self.controls[-1].offset, "the latest preprocessor control is here"),
            )


def skip_block_comment(text: str, start: int) -> int:
    """Return the offset after the comment that starts at `start`, which may hold further comments."""
    depth, position = 1, start + 2
    for match in re.compile(r"/\*|\*/").finditer(text, position):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    raise LexicalFault("unterminated comment", start, hint="close it with */; comments nest")


def is_directive(text: str, offset: int, last_end: int | None) -> bool:
    """Return whether the ``#`` at `offset` starts a directive: a known word follows, and nothing stands before it on
    its line.
    """
    if not _DIRECTIVE.match(text, offset):
        return False
    return last_end is None or "\n" in text[last_end:offset]


def run_directive(text: str, offset: int, state: FileState) -> int:
    """Obey the directive at `offset` and return where the next live text starts."""
    position = _obey(text, offset, state, live=True)
    while not state.active():
        position = _next_directive(text, position, state)
        position = _obey(text, position, state, live=False)
    return position


def _obey(text: str, offset: int, state: FileState, *, live: bool) -> int:
    match = _DIRECTIVE.match(text, offset)
    assert match is not None, "the caller looked"
    word, position = match.group(1), match.end()
    if word in ("ifdef", "ifndef"):
        name, position = _macro_name(text, position, word)
        state.controls.append(Control(active=(name in state.macros) == (word == "ifdef"), offset=offset + 1))
        word = f"{word} NAME"
    elif word == "else":
        if not state.controls:
            raise LexicalFault("#else without #ifdef or #ifndef", offset + 1)
        control = state.controls[-1]
        if control.in_else:
            raise LexicalFault("double #else", offset + 1, also=(control.offset, "the previous #else is here"))
        state.controls[-1] = Control(active=not control.active, offset=offset + 1, in_else=True)
    elif word == "endif":
        if not state.controls:
            raise LexicalFault("#endif without #ifdef", offset + 1)
        state.controls.pop()
        if position == len(text):
            state.warn("llvm-tblgen does not see an #endif without an end of line", offset, "end the line")
    elif live:
        name, position = _macro_name(text, position, word)
        if name in state.macros:
            at = position - len(name)
            state.warn(f"duplicate definition of macro '{name}'", at, "define it once, or guard it by #ifndef")
        state.macros.add(name)
        word = "define NAME"
    return _directive_end(text, position, word)


def _macro_name(text: str, position: int, word: str) -> tuple[str, int]:
    match = _MACRO.match(text, position)
    assert match is not None, "the pattern matches anything"
    if match.group(1) is None:
        raise LexicalFault(f"expected macro name after #{word}", match.end())
    return match.group(1), match.end()


def _directive_end(text: str, position: int, word: str) -> int:
    while position < len(text):
        if text[position] in " \t":
            position += 1
        elif text[position] == "\n":
            return position
        elif text.startswith("//", position):
            end = text.find("\n", position)
            return len(text) if end < 0 else end
        elif text.startswith("/*", position):
            position = skip_block_comment(text, position)
        else:
            raise LexicalFault(f"only comments are supported after #{word}", position)
    return position


def _next_directive(text: str, position: int, state: FileState) -> int:
    """The next directive other than ``#define`` at the start of a line of text that is switched off."""
    while True:
        position = text.find("\n", position)
        if position < 0:
            state.check_closed(text)
            raise AssertionError("text is switched off, so a condition is open")
        match = _LINE_START.match(text, position)
        assert match is not None, "the pattern matches anything"
        position = match.end()
        while text.startswith("/*", position):
            position = skip_block_comment(text, position)
            match = _LINE_START.match(text, position)
            assert match is not None, "the pattern matches anything"
            position = match.end()
        directive = _DIRECTIVE.match(text, position)
        if directive and directive.group(1) != "define":
            return position
