"""Recasts the C++ that Yosys writes, so that it compiles sooner and runs faster without meaning anything else.

The design has one clock and no combinational loop, and the driver gives each evaluation a clock edge. So the edge is
a constant, registers are copied without asking whether they changed, and one huge function becomes many small ones (a
compiler's time grows faster than a function's length), spread over files that compile side by side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FUNCTION_LINES = 200
"""Lines of a piece of `eval`; shorter pieces compile no faster."""

_EDGE = "\tbool posedge_p_clk = this->posedge_p_clk();"
_DECLARATION = re.compile(r"\tvalue<\d+> \w+;")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """`header` declares the design; `parts` are files that include it; `feedback`: nothing was recast."""

    header: str
    parts: tuple[str, ...]
    feedback: bool


def recast(text: str, name: str, files: int) -> Source:
    """Recast `text`, the design of C++ class `name`, into `files` parts; as it is when it has loops or other clocks."""
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
    """Statements in runs of about FUNCTION_LINES, cut where no block and no temporary is open."""
    pieces: list[list[str]] = [[]]
    depth = 0
    for number, line in enumerate(statements):
        pieces[-1].append(line)
        depth += line.count("{") - line.count("}")
        following = statements[number + 1] if number + 1 < len(statements) else ""
        if depth == 0 and len(pieces[-1]) >= FUNCTION_LINES and not re.search(r"\btmp_\d+", following):
            pieces.append([])
    return [piece for piece in pieces if piece]
