"""From files to one list of tokens.

Includes are expanded here, because ``include`` is lexical and may stand anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tabla.base.source import Label, Source, Span, TablaError
from tabla.templates.tablegen import lexer as rules
from tabla.templates.tablegen.fast_lexer import MAX_TOKENS, Token, fast_tokens
from tabla.templates.tablegen.positions import IncludedSource, Positions
from tabla.templates.tablegen.preprocessor import FileState, LexicalFault

# Deeper than any real tree of files; a file that includes itself ends here instead of filling the memory.
MAX_INCLUDE_DEPTH = 200

# More than any real tree has; files that include each other twice would otherwise double at each level.
MAX_INCLUDES = 10_000

# The limits of Linux, in bytes, which a message about a long name mentions.
_MAX_NAME, _MAX_PATH = 255, 4095

# Longer names of files are cut in messages.
_SHOWN_OF_A_NAME = 120

# `dump` and `deftype` are words of the newer language: names everywhere but where a statement may start.
_STATEMENT_STARTS_AFTER = frozenset({";", "}", "{", "IN", "THEN", "ELSE"})
_NEVER_AFTER_DUMP = frozenset({",", "}", "=", ".", "#", "-", "PASTE"})


class Scanner:
    """Reads a source and everything it includes. A lexical fault ends the list as a ``FAULT`` token."""

    def __init__(self, include_dirs: Iterable[str | Path] = (), macros: Iterable[str] = ()) -> None:
        self.positions = Positions()
        self.tokens: list[Any] = []
        self.dependencies: list[str] = []
        self.warnings: list[str] = []
        self._include_dirs = [str(directory) for directory in include_dirs]
        self._macros = set(macros)

    def scan(self, *sources: Source) -> list[Any]:
        """Return the tokens of the sources, one after the other. The last one is always an end or a fault."""
        try:
            for source in sources:
                self._file(source, included_at=None, depth=0)
        except TablaError as fault:
            self._fault_token(fault)
        self._mark_contextual_words()
        return self.tokens

    def _file(self, source: Source, *, included_at: int | None, depth: int) -> None:
        positions, tokens = self.positions, self.tokens
        number = len(positions.sources)
        positions.sources.append(IncludedSource(source=source, included_at=included_at))
        lexer = rules.prototype().clone()
        lexer.source = source
        lexer.file_state = state = FileState(self._macros)
        lexer.input(source.text)
        next_token, add = lexer.token, positions.add
        try:
            while True:
                fast_tokens(lexer, number, positions, tokens)
                if (token := next_token()) is None:
                    break
                if len(positions.starts) >= MAX_TOKENS:
                    raise LexicalFault(f"the files have more than {MAX_TOKENS:,} words and signs", token.lexpos)
                start = token.lexpos
                state.last_end = lexer.lexpos
                token.lexpos = add(number, start, lexer.lexpos)
                if token.type != "INCLUDE":
                    tokens.append(token)
                    continue
                name = next_token()
                if name is None or name.type != "TEXT":
                    raise LexicalFault("expected a file name after include", name.lexpos if name else start)
                state.last_end = lexer.lexpos
                index = add(number, name.lexpos, lexer.lexpos)
                self._include(name.value, index, depth + 1)
            state.check_closed(source.text)
        except LexicalFault as fault:
            raise self._user_fault(fault, number) from None
        finally:
            self._warn(state, number)
        if included_at is None:
            # The place of "the file ends here".
            add(number, len(source.text), len(source.text))

    def _warn(self, state: FileState, number: int) -> None:
        """Keep the warnings of the preprocessor about a file."""
        source = self.positions.sources[number].source
        for message, offset, hint in state.warnings:
            label = Label(Span(source=source, start=offset, end=offset + 1))
            self.warnings.append(self.positions.warning(message, label, hint=hint))

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

    def _fault_token(self, fault: TablaError) -> None:
        self.tokens.append(Token("FAULT", fault, len(self.positions.starts) - 1))

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
