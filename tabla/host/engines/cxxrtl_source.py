"""Rewrites the C++ of Yosys so that it compiles sooner and runs faster, with the same meaning.

The design has one clock and no combinational loop, and the driver gives each evaluation a clock edge. So the edge
can be a constant, and registers are copied without asking whether they changed. A compiler's time grows faster than
the length of a function, so one huge function becomes many small ones in several files that compile side by side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tabla.host.engines.cxxrtl_words import fits, plain

FUNCTION_LINES = 200
"""The number of lines of a piece of `eval`; shorter pieces compile no faster."""

_EDGE = "\tbool posedge_p_clk = this->posedge_p_clk();"
_HELD = re.compile(r"^\t(?:/\*\w+\*/ )?((?:value|wire|memory)<\d+> \w+(?: \{ \d+u \})?;)$", re.MULTILINE)
_MEMORY_COMMIT = re.compile(r"if \((\w+)\.commit\(observer\)\) changed = true;")
_DECLARATION = re.compile(r"\tvalue<\d+> \w+;")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The C++ of a design: `header` declares it, and `parts` are the files that include the header.

    With `feedback` set the text is as Yosys wrote it. With `words` set it needs the run-time library of
    :mod:`tabla.host.engines.cxxrtl_words` in place of CXXRTL's.
    """

    header: str
    parts: tuple[str, ...]
    feedback: bool
    words: bool = False


def recast(text: str, name: str, files: int) -> Source:
    """Rewrite `text`, the design of C++ class `name`, into `files` parts.

    A design that has a combinational loop or another clock stays as it is.
    """
    edges = set(re.findall(r"\b(?:posedge|negedge)_p_\w+", text))
    if "converged = false" in text or edges != {"posedge_p_clk"} or text.count(_EDGE) != 1:
        return Source(header="#pragma once\n" + text, parts=(), feedback=True)
    text = _plain_commit(text)
    begin = text.index(f"bool {name}::eval(performer *performer) {{\n")
    end = text.index("\n}\n", begin) + 3
    lines = text[begin:end].split("\n")[1:-2]
    kept = ("\tbool converged = true;", _EDGE, "\treturn converged;")
    members = [line for line in lines if _DECLARATION.fullmatch(line)]
    statements = [
        line
        for line in lines
        if not _DECLARATION.fullmatch(line) and line not in kept and not line.lstrip().startswith("//")
    ]
    pieces = _pieces(statements)
    on_words = _on_words(text, name, members, pieces, files)
    if on_words is not None:
        return on_words
    declared = [*members, *(f"\tvoid eval_{number}(performer *performer);" for number in range(len(pieces)))]
    # Functions defined outside the class belong to one file; the first of them ends the header.
    outside = re.search(rf"^\w[\w<>:* ]* {name}::\w+\(", text, re.MULTILINE)
    assert outside is not None
    opening = f"struct {name} : public module {{\n"
    head = text[: outside.start()].replace(opening, opening + "\n".join(declared) + "\n", 1)
    namespace = "namespace cxxrtl_design {\n"
    rest = text[outside.start() : begin] + text[end:]
    calls = "".join(f"\teval_{number}(performer);\n" for number in range(len(pieces)))
    rest = f"bool {name}::eval(performer *performer) {{\n{calls}\treturn true;\n}}\n" + rest
    bodies = [
        f"void {name}::eval_{number}(performer *performer) {{\n\tconstexpr bool posedge_p_clk = true;\n"
        + "\n".join(piece)
        + "\n}\n"
        for number, piece in enumerate(pieces)
    ]
    closed = "\n} // namespace cxxrtl_design\n"
    include = '#include "design.h"\nusing namespace cxxrtl_yosys;\n' + namespace
    parts = tuple(include + "".join(bodies[file::files]) + closed for file in range(files))
    # What follows the design's namespace in `rest` (the C interface) closes it itself.
    first = '#include "design.h"\nusing namespace cxxrtl_yosys;\n' + namespace + "".join(bodies[0::files]) + rest
    return Source(header="#pragma once\n" + head + closed, parts=(first, *parts[1:]), feedback=False)


def _on_words(text: str, name: str, members: list[str], pieces: list[list[str]], files: int) -> Source | None:
    """Return the design on machine words; None if it uses more than :mod:`tabla.host.engines.cxxrtl_words` offers."""
    opening, closing = f"struct {name} : public module {{\n", f"\t{name}(interior) {{}}\n"
    if opening not in text or closing not in text:
        return None
    held = [f"\t{line}" for line in _HELD.findall(text[text.index(opening) : text.index(closing)])]
    commit = _lines(text, "\tbool commit(ObserverT &observer) {\n", "\n\t}\n")
    commit = [_MEMORY_COMMIT.sub(r"\1.commit();", line) for line in commit if "changed;" not in line]
    reset = _lines(text, f"void {name}::reset() {{\n", "\n}\n")
    if not fits("\n".join((*held, *members, *commit, *reset, *(line for piece in pieces for line in piece)))):
        return None
    work = {"reset": _pieces(reset), "eval": pieces, "commit": _pieces(commit)}
    functions = {f"{what}_{n}": "\n".join(piece) for what, found in work.items() for n, piece in enumerate(found)}
    functions |= {what: "\n".join(f"\t{what}_{n}();" for n in range(len(found))) for what, found in work.items()}
    state = [*(line for line in held if "memory<" not in line), *members]
    memories = [line for line in held if "memory<" in line]
    declared = [*memories, f"\t{name}();", *(f"\tvoid {function}();" for function in functions)]
    bodies = [
        f"void {name}::{function}() {{\n\tconstexpr bool posedge_p_clk = true;\n{plain(statements)}\n}}\n"
        for function, statements in functions.items()
    ]
    # All is 0 at first, set at once; the constructor stands in one file, not wherever the header is read.
    bodies.append(f"{name}::{name}() : state() {{ reset(); }}\n")
    inside = "namespace cxxrtl_design {\nusing namespace cxxrtl;\n"
    structs = "\n".join(("struct state {", *state, "};", f"struct {name} : state {{", *declared, "};", "}\n"))
    header = f'#pragma once\n#include "words.h"\n{inside}{structs}'
    parts = tuple(f'#include "design.h"\n{inside}' + "".join(bodies[file::files]) + "}\n" for file in range(files))
    return Source(header=header, parts=parts, feedback=False, words=True)


def _lines(text: str, opening: str, closing: str) -> list[str]:
    """Return the lines of `text` between `opening` and the next `closing`."""
    begin = text.index(opening) + len(opening)
    return text[begin : text.index(closing, begin)].split("\n")


def _plain_commit(text: str) -> str:
    begin = text.index("\tbool commit(ObserverT &observer) {")
    end = text.index("\n\t}\n", begin)
    registers = set(re.findall(r"\twire<\d+> (\w+)", text))

    def copied(found: re.Match[str]) -> str:
        register = found[1]
        return f"{register}.curr = {register}.next;" if register in registers else found[0]

    commit = re.sub(r"if \((\w+)\.commit\(observer\)\) changed = true;", copied, text[begin:end])
    return text[:begin] + commit + text[end:]


def _pieces(statements: list[str]) -> list[list[str]]:
    """Cut statements into pieces of about FUNCTION_LINES, where no block is open and no temporary is in use."""
    pieces: list[list[str]] = [[]]
    depth = 0
    for number, line in enumerate(statements):
        pieces[-1].append(line)
        depth += line.count("{") - line.count("}")
        following = statements[number + 1] if number + 1 < len(statements) else ""
        if depth == 0 and len(pieces[-1]) >= FUNCTION_LINES and not re.search(r"\b(?:tmp|mem_init)_\d+", following):
            pieces.append([])
    return [piece for piece in pieces if piece]
