"""The array as a drawing: each part stands for rows of the timeline, which say in which cycles the part works.

The schedule page lights the parts of a cycle with its script. ``manual/array.py`` lights the parts of the start page's
drawing with animations. Both find a part by its `rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape

from tabla.build.files.timeline import Timeline

WIDTH, HEIGHT = 640, 318
MOST_DRAWN = 16
"""The most lanes that are drawn. With more lanes, each box stands for several neighbours."""
WIDE_BOXES = 11
"""The most boxes that are wide enough for the names of the memories. In narrower boxes stands the first letter."""
LEFT, RIGHT, TOP, FOOT = 34, 632, 66, 156
"""Where the row of lanes begins and ends, in x and in y."""
TREE_FOOT, ROOT_LEFT, ROOT_RIGHT, ROOT_FOOT = 240, 216, 396, 290

STYLE = """\
.array { --ink: light-dark(#0f172a, #e5e9f0); --soft: light-dark(#52606f, #9aa7b8);
  --edge: light-dark(#b6c2d1, #46536a); --box: light-dark(#ffffff, #1a222d);
  font: 15px system-ui, "DejaVu Sans", sans-serif }
.array .stream { --c: light-dark(#0369a1, #38bdf8) } .array .lanes { --c: light-dark(#2563eb, #7aa7ff) }
.array .writes { --c: light-dark(#0e7490, #22d3ee) } .array .tree { --c: light-dark(#0f766e, #2dd4bf) }
.array .root { --c: light-dark(#7c3aed, #b794ff) } .array .root_writes { --c: light-dark(#a21caf, #f0abfc) }
.array .function { --c: light-dark(#b45309, #fbbf24) } .array .bus { --c: light-dark(#be185d, #f9a8d4) }
.array .output { --c: light-dark(#15803d, #4ade80) }
.array .box { fill: var(--box); stroke: var(--edge); stroke-width: 1.5 }
.array .wire { fill: none; stroke: var(--edge); stroke-width: 2 }
.array text { fill: var(--ink) } .array .soft { fill: var(--soft) } .array .middle { text-anchor: middle }
.array .right { text-anchor: end } .array .small { font-size: 13px }
.array .lit { opacity: 0 } .array .lit.on { opacity: 1 } .array .lit.faint { opacity: .3 }
.array .lit rect, .array .lit circle { fill: var(--c); stroke: var(--c) }
.array .lit path { fill: none; stroke: var(--c); stroke-width: 4 }
.array .lit text { fill: var(--box); font-weight: 600 }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the drawing that lights up while one of `rows` of the timeline has a bar.

    `kind` names the colour. `drawn` is the SVG of the part in both states: lit it has a colour, and else none. `lane`
    is the number of a drawn box of lanes, where the part belongs to one.
    """

    kind: str
    rows: tuple[int, ...]
    drawn: str
    lane: int = -1

    def lit(self, more: str = "") -> str:
        """Return the group that is shown while the part works. `more` are further attributes."""
        rows = " ".join(map(str, self.rows))
        return f'<g class="lit {self.kind}" data-rows="{rows}"{more}>{self.drawn}</g>'


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayPicture:
    """The drawing of an array: what always stands there, and the parts that light up over it.

    `lanes` is the number of lanes, `boxes` that of the boxes which are drawn for them.
    """

    ground: str
    parts: tuple[Part, ...]
    lanes: int
    boxes: int

    def svg(self) -> str:
        """Return the drawing as an element of a page. The page's script gives the parts the class ``on``."""
        lit = "\n".join(part.lit() for part in self.parts)
        return (
            f'<svg class="array" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="the array, with the parts that '
            f'work in this cycle">\n{self.ground}\n{lit}\n</svg>'
        )


def array_picture(drawn: Timeline) -> ArrayPicture:
    """Return the drawing of the array of a schedule. With several roots, it shows one of their groups."""
    template = drawn.schedule.template
    lanes = template.lanes
    boxes = min(lanes, MOST_DRAWN)
    rows = _Rows(drawn)
    parts = [*_lanes(rows, lanes, boxes, template.lanes_per_sequencer), *_below(rows, _tree(boxes))]
    groups = max(1, template.roots)
    name = f"{lanes} lane{'s' if lanes > 1 else ''}"
    if groups > 1:
        name = f"one of {groups} groups with {name} each"
    if boxes < lanes:
        name += f", {boxes} drawn"
    name += ": d data, m models, × multiplier" if boxes > WIDE_BOXES else ": data, models, × multiplier"
    ground = [
        f'<text class="soft small" x="{LEFT}" y="15">words in</text>',
        f'<text class="soft small right" x="{RIGHT}" y="15">{name}</text>',
    ]
    for part in parts:
        ground.append(f'<g class="{_rest(part.kind)}">{part.drawn}</g>')
    ground.append(f'<text class="soft small" x="{LEFT}" y="{ROOT_FOOT - 12}">bus</text>')
    ground.append(f'<text class="soft small right" x="{RIGHT}" y="{TREE_FOOT - 12}">tree of adders</text>')
    return ArrayPicture(ground="\n".join(ground), parts=tuple(parts), lanes=lanes, boxes=boxes)


def _rest(kind: str) -> str:
    """Return the class of a part at rest."""
    return "rest wires" if kind in ("stream", "tree", "bus", "output") else "rest"


class _Rows:
    """The numbers of the timeline's rows by their kind."""

    def __init__(self, drawn: Timeline) -> None:
        self.rows = drawn.rows

    def of(self, kind: str) -> tuple[int, ...]:
        """Return the numbers of all rows of a kind."""
        return tuple(number for number, row in enumerate(self.rows) if row.kind == kind)

    def of_lane(self, kind: str, sequencer: int) -> tuple[int, ...]:
        """Return the numbers of the rows of one sequencer of the lanes."""
        unit = {"lanes": "lane_issue", "writes": "lane_write"}[kind]
        numbers = [n for n in self.of(kind) if self.rows[n].unit in (unit, f"{unit}_{sequencer}")]
        return tuple(numbers)


def _lanes(rows: _Rows, lanes: int, boxes: int, per_sequencer: int) -> list[Part]:
    """Return the parts of each lane: its words that come in, its multiplier, its models, and its end of the bus."""
    pitch = (RIGHT - LEFT) / boxes
    width = min(48.0, pitch - 6)
    parts = [
        Part(kind="stream", rows=rows.of("stream"), drawn=f'<path class="wire" d="M{LEFT} 26H{RIGHT - 6}"/>'),
    ]
    for box in range(boxes):
        left = LEFT + pitch * box + (pitch - width) / 2
        middle = left + width / 2
        sequencer = (box * lanes // boxes) // per_sequencer
        parts += [
            Part(
                kind="stream",
                rows=rows.of("stream"),
                lane=box,
                drawn=f'<path class="wire" d="M{left + 7:g} 26V{TOP}"/>{_cell(left, TOP, width, "data")}',
            ),
            Part(
                kind="writes",
                rows=rows.of_lane("writes", sequencer),
                lane=box,
                drawn=_cell(left, TOP + 26, width, "model"),
            ),
            Part(
                kind="lanes",
                rows=rows.of_lane("lanes", sequencer),
                lane=box,
                drawn=f'<circle class="box" cx="{middle:g}" cy="{FOOT - 13}" r="12"/>'
                f'<text class="middle" x="{middle:g}" y="{FOOT - 8}">×</text>',
            ),
            Part(
                kind="bus",
                rows=rows.of("bus"),
                lane=box,
                drawn=f'<path class="wire" d="M{left + width - 6:g} 46V{TOP}"/>',
            ),
        ]
    return parts


def _cell(left: float, top: float, width: float, name: str) -> str:
    """Return a memory of a lane: wide boxes say what it is, narrow ones show its first letter."""
    text = name if width > 44 else name[0]
    return (
        f'<rect class="box" x="{left:g}" y="{top:g}" width="{width:g}" height="22" rx="3"/>'
        f'<text class="middle small" x="{left + width / 2:g}" y="{top + 16:g}">{text}</text>'
    )


def _tree(boxes: int) -> str:
    """Return the wires of the tree of adders, which joins neighbours until one sum is left above the root."""
    pitch = (RIGHT - LEFT) / boxes
    ends = [LEFT + pitch * (box + 0.5) for box in range(boxes)]
    levels = max(1, (boxes - 1).bit_length())
    step, top, lines = (TREE_FOOT - FOOT) / levels, float(FOOT), []
    for level in range(levels):
        joined = [sum(ends[n : n + 2]) / len(ends[n : n + 2]) for n in range(0, len(ends), 2)]
        if level == levels - 1:
            joined = [(ROOT_LEFT + ROOT_RIGHT) / 2]
        for number, end in enumerate(ends):
            lines.append(f"M{end:g} {top:g}L{joined[number // 2]:g} {top + step:g}")
        ends, top = joined, top + step
    return f'<path class="wire" d="{"".join(lines)}"/>'


def _below(rows: _Rows, tree: str) -> list[Part]:
    """Return the parts below the lanes: the tree, the root and its memory, the function unit, the bus, the way out."""
    middle, high, functions = (TREE_FOOT + ROOT_FOOT) / 2, ROOT_FOOT - TREE_FOOT, rows.of("function")
    names = ", ".join(rows.rows[number].name for number in functions) or "functions"
    if len(names) > 24:
        names = "function unit"
    parts = [
        Part(kind="tree", rows=rows.of("tree"), drawn=tree),
        Part(
            kind="root",
            rows=rows.of("root"),
            drawn=f'<rect class="box" x="{ROOT_LEFT}" y="{TREE_FOOT}" width="96" height="{high}" rx="6"/>'
            f'<text class="middle" x="{ROOT_LEFT + 48}" y="{middle + 5:g}">root × +</text>',
        ),
        Part(
            kind="root_writes",
            rows=rows.of("root_writes"),
            drawn=f'<rect class="box" x="{ROOT_LEFT + 102}" y="{TREE_FOOT}" width="78" height="{high}" rx="6"/>'
            f'<text class="middle small" x="{ROOT_LEFT + 141}" y="{middle + 5:g}">memory</text>',
        ),
        Part(
            kind="function",
            rows=functions,
            drawn=f'<path class="wire" d="M{ROOT_RIGHT} {middle:g}H{ROOT_RIGHT + 30}"/>'
            f'<rect class="box" x="{ROOT_RIGHT + 30}" y="{TREE_FOOT}" width="{RIGHT - ROOT_RIGHT - 30}" '
            f'height="{high}" rx="6"/>'
            f'<text class="middle" x="{(ROOT_RIGHT + 30 + RIGHT) / 2:g}" y="{middle + 5:g}">{escape(names)}</text>',
        ),
        Part(
            kind="bus",
            rows=rows.of("bus"),
            drawn=f'<path class="wire" d="M{ROOT_LEFT} {middle:g}H12V46H{RIGHT - 6}"/>',
        ),
    ]
    if sent := rows.of("output"):
        down = (ROOT_LEFT + ROOT_RIGHT) / 2
        parts.append(
            Part(kind="output", rows=sent, drawn=f'<path class="wire" d="M{down:g} {ROOT_FOOT}V{HEIGHT - 8}h80"/>')
        )
    return parts
