"""Pictures of a graph: a DOT text for Graphviz, and an SVG that needs no other tool."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from tabla.build.files.layered import Place, arrange
from tabla.graph.graph import Compare, Divide, Extreme, Function, Gather, Graph, Linear, Product, Scatter, Statement
from tabla.graph.text import statement_text

CHARACTER = 6.7  # pixels: the width of a character of the 11-pixel monospaced font
LONGEST = 56
LINE, PADDING, ROW = 15, 9, 92
FACE = "ui-monospace, DejaVu Sans Mono, monospace"
QUIET = ' fill="#64748b"'

# The colours of fill and edge for each kind of box. The fills are pale enough for black text.
_COLOURS = {
    "input": ("#dbeafe", "#2563eb"),
    "label": ("#ffedd5", "#ea580c"),
    "model": ("#dcfce7", "#16a34a"),
    "next": ("#bbf7d0", "#15803d"),
    "value": ("#f8fafc", "#64748b"),
    "function": ("#f3e8ff", "#9333ea"),
    "result": ("#fef9c3", "#ca8a04"),
}
_LEGEND = {
    "input": "model_input",
    "label": "model_output",
    "model": "model",
    "next": "next model",
    "value": "sum of products, comparison",
    "function": "function unit",
    "result": "result",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One node of the picture. `kind` is a key of the table of colours, and `lines` is the text."""

    name: str
    kind: str
    lines: tuple[str, ...]

    @property
    def width(self) -> float:
        """The width in pixels."""
        return max(len(line) for line in self.lines) * CHARACTER + 2 * PADDING

    @property
    def height(self) -> float:
        """The height in pixels."""
        return len(self.lines) * LINE + PADDING


def _shape(shape: tuple[int, ...]) -> str:
    return "".join(f"[{n}]" for n in shape)


def _folded(text: str) -> tuple[str, ...]:
    """Break the text of a statement: the formula into at most three lines, at spaces, then the ranges in one line."""
    rest, _, ranges = text.partition("   for ")
    lines: list[str] = []
    while len(rest) > LONGEST and len(lines) < 2:
        cut = rest.rfind(" ", 0, LONGEST)
        cut = LONGEST if cut <= 2 else cut
        lines.append(rest[:cut])
        rest = "  " + rest[cut:].lstrip()
    return tuple(map(_cut, (*lines, rest, *([f"for {ranges}"] if ranges else []))))


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def _kind(graph: Graph, statement: Statement) -> str:
    if graph.tensors[statement.target].role == "next":
        return "next"
    if any(tensor == statement.target for _, tensor in graph.results):
        return "result"
    match statement.operation:
        case Function() | Divide():
            return "function"
        case Linear() | Compare() | Product() | Extreme() | Gather() | Scatter():
            return "value"


def boxes_and_edges(graph: Graph) -> tuple[list[Box], list[tuple[str, str]]]:
    """Return the boxes of the picture, and the edges as pairs of box names.

    Every statement has a box, and so has every tensor that is read and comes from outside. An edge leads from the
    writer of a tensor to each statement that reads it.
    """
    boxes: list[Box] = []
    edges: dict[tuple[str, str], None] = {}
    writers: dict[str, list[str]] = {}
    for statement in graph.statements:
        writers.setdefault(statement.target, []).append(f"s{statement.id}")
    read = {tensor for s in graph.statements for tensor in s.sources}
    for tensor in graph.tensors.values():
        if tensor.name not in writers and tensor.name in read:
            boxes.append(Box(name=f"t {tensor.name}", kind=tensor.role, lines=(tensor.name + _shape(tensor.shape),)))
    for statement in graph.statements:
        boxes.append(
            Box(name=f"s{statement.id}", kind=_kind(graph, statement), lines=_folded(statement_text(statement)))
        )
        for tensor_name in statement.sources:
            for source in writers.get(tensor_name, [f"t {tensor_name}"]):
                edges[source, f"s{statement.id}"] = None
    return boxes, list(edges)


def dot(graph: Graph) -> str:
    """Return the graph as a DOT text for Graphviz."""
    boxes, edges = boxes_and_edges(graph)
    lines = [f"digraph {_quoted(graph.name)} {{", '  node [shape=box style="rounded,filled" fontname=monospace];']
    for box in boxes:
        fill, stroke = _COLOURS[box.kind]
        text = _quoted("\n".join(box.lines))
        lines.append(f'  {_quoted(box.name)} [label={text} fillcolor="{fill}" color="{stroke}"];')
    lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in edges]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l") + '"'


def _escaped(text: str) -> str:
    """Return a text as XML.

    It has no sign for a control character, in place of which the replacement character shows.
    """
    return escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text))


def svg(graph: Graph) -> str:
    """Return the graph as an SVG picture."""
    boxes, edges = boxes_and_edges(graph)
    picture = arrange({b.name: b.width for b in boxes}, edges)
    by_name = {b.name: b for b in boxes}
    kinds = [k for k in _COLOURS if any(b.kind == k for b in boxes)]
    legend = [(k, 2 * PADDING + 16 + len(_LEGEND[k]) * CHARACTER) for k in kinds]
    margin, head = 20, 62
    width = max(picture.width, sum(w for _, w in legend), len(graph.name) * 11 + 200) + 2 * margin
    shift = (width - picture.width) / 2
    height = head + picture.layers * ROW + margin

    def middle(place: Place) -> tuple[float, float]:
        return shift + place.x, head + ROW * place.layer + ROW / 2

    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FACE}" font-size="11">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{margin}" y="26" font-size="15" font-weight="bold" fill="#0f172a">{_escaped(graph.name)}</text>',
    ]
    at = float(margin)
    for kind, step in legend:
        fill, stroke = _COLOURS[kind]
        parts.append(f'<rect x="{at:.0f}" y="38" width="11" height="11" rx="2" fill="{fill}" stroke="{stroke}"/>')
        parts.append(f'<text x="{at + 16:.0f}" y="48" fill="#334155">{_LEGEND[kind]}</text>')
        at += step
    for edge in edges:
        (x0, y0), (x1, y1) = middle(picture.places[edge[0]]), middle(picture.places[edge[1]])
        start = (x0, y0 + by_name[edge[0]].height / 2)
        end = (x1, y1 - by_name[edge[1]].height / 2 - 5)
        passed = [middle(b) for b in picture.bends[edge]]
        # An edge runs vertically past the boxes of a layer, so that it does not cut their corners.
        upright = [(x, y + dy) for x, y in passed for dy in (-ROW / 4, ROW / 4)]
        parts.append(_curve([start, *upright, end]))
    for box in boxes:
        parts.append(_box(box, *middle(picture.places[box.name])))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _curve(points: list[tuple[float, float]]) -> str:
    """Draw a smooth line that passes every point vertically, with an arrow head at the end."""
    (x, y), path = points[0], [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for nx, ny in points[1:]:
        half = (y + ny) / 2
        straight = f"L{nx:.1f} {ny:.1f}"
        path.append(straight if nx == x else f"C{x:.1f} {half:.1f} {nx:.1f} {half:.1f} {nx:.1f} {ny:.1f}")
        x, y = nx, ny
    head = f"M{x - 3.5:.1f} {y - 2:.1f}L{x:.1f} {y + 5:.1f}L{x + 3.5:.1f} {y - 2:.1f}Z"
    return (
        f'<path d="{"".join(path)}" fill="none" stroke="#94a3b8" stroke-width="1.2"/><path d="{head}" fill="#94a3b8"/>'
    )


def _box(box: Box, x: float, y: float) -> str:
    fill, stroke = _COLOURS[box.kind]
    left, top = x - box.width / 2, y - box.height / 2
    texts = "".join(
        f'<tspan x="{left + PADDING:.1f}" y="{top + PADDING / 2 + 11 + k * LINE:.1f}"'
        f"{QUIET if line.startswith('for ') else ''}>{_escaped(line)}</tspan>"
        for k, line in enumerate(box.lines)
    )
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="5" '
        f'fill="{fill}" stroke="{stroke}"/><text xml:space="preserve" fill="#0f172a">{texts}</text>'
    )
