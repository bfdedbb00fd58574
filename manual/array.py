"""The animated drawing of the array on the start page: ``python -m manual.array`` writes ``docs/array.svg``.

The drawing plays one sample of ``examples/logistic.t``, as README builds it, through its real schedule. Which part is
lit in which cycle comes from the timeline of that build (`tabla.build.files.timeline`), and nothing in this file knows
a cycle. Animations of CSS move it, so a page that shows the file as a picture needs no script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import tabla
from tabla.base.source import Span
from tabla.build.files.array_picture import HEIGHT, STYLE, WIDTH, ArrayPicture, Part, array_picture
from tabla.build.files.timeline import Bar, Timeline, timeline
from tabla.schedule.strands.streams import Filling, streamed

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/array.svg"
PROGRAM, FORMAT = ROOT / "examples/logistic.t", "q7.11"
TENTHS, PAUSE = 1, 14
"""How many tenths of a second a cycle is shown, and how many cycles the drawing rests at the end."""

LEFT, LINE = 34, 21
TEXT_TOP = HEIGHT + 10
ROWS: dict[str, str] = {
    "stream": "words in",
    "lanes": "lanes",
    "tree": "tree",
    "root": "root",
    "function": "function",
    "bus": "bus",
    "writes": "models",
}
"""The kinds of rows that the strip below the drawing shows, with their names."""
ROW, STRIP_LEFT = 15, 112

Cycles = tuple[int, int]


def picture() -> str:
    """Return the drawing as SVG that needs no other file. The same schedule gives the same text."""
    build = tabla.compile(PROGRAM, format=FORMAT)
    drawn = timeline(build.schedule, build.reading.text.locate)
    return _Film(drawn).svg()


class _Film:
    """The drawing of a timeline, and the animations that play it."""

    def __init__(self, drawn: Timeline) -> None:
        self.drawn = drawn
        self.first = min(bar.start for row in drawn.rows for bar in row.bars)
        self.end = max(bar.end for row in drawn.rows for bar in row.bars)
        self.frames: dict[tuple[Cycles, ...], str] = {}

    @property
    def length(self) -> int:
        """The cycles from the first word of the sample to its last update, and the pause."""
        return self.end - self.first + PAUSE

    def svg(self) -> str:
        """Return the whole drawing."""
        array = array_picture(self.drawn)
        body = [array.ground, *self._parts(array)]
        text, height = self._program(TEXT_TOP)
        body.append(text)
        strip, height = self._strip(height + 30)
        body.append(strip)
        seconds = self.length * TENTHS / 10
        title = (
            f"One sample of logistic regression on {array.lanes} lanes, cycle by cycle: its words come in, are "
            f"multiplied by the weights and summed, the sum goes through the sigmoid, and the error goes back to all "
            f"lanes, which update their weights. {self.end - self.first} cycles from the first word to the last "
            f"update; a sample begins every {self.drawn.schedule.cycles} cycles."
        )
        # The attributes tell the script of the start page how the cycles are counted.
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="array" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-labelledby="array-title" data-first="{self.first}" data-end="{self.end}" '
            f'data-milliseconds="{100 * TENTHS}">\n<title id="array-title">{title}</title>\n'
            f"<style>\n:root {{ color-scheme: light dark }}\n{STYLE}{self._style(seconds)}</style>\n"
            f'<rect class="ground" width="{WIDTH}" height="{height}" rx="10"/>\n' + "\n".join(body) + "\n</svg>\n"
        )

    def _parts(self, array: ArrayPicture) -> Iterable[str]:
        """Yield each part, lit in the cycles of its rows. The data of a lane are lit when its own words come in."""
        words = self._words_of_boxes(array)
        for part in array.parts:
            if part.kind == "stream" and part.lane >= 0:
                yield self._shown(part.kind, part.drawn, words[part.lane])
            else:
                yield self._shown(part.kind, part.drawn, self._cycles(part))

    def _cycles(self, part: Part) -> list[Cycles]:
        return [(bar.start, bar.end) for row in part.rows for bar in self.drawn.rows[row].bars]

    def _words_of_boxes(self, array: ArrayPicture) -> list[list[Cycles]]:
        """Return for each drawn box of lanes the cycles in which a beat brings its lanes words."""
        schedule, stream = self.drawn.schedule, self.drawn.rows[0]
        words: list[list[Cycles]] = [[] for _ in range(array.boxes)]
        keys = streamed(schedule.layout)
        for key, strand, bar in zip(keys, schedule.stream_sample, stream.bars, strict=True):
            if Filling.of(schedule.layout, key, schedule.template).row == 1:
                continue
            blocks = strand.values(strand.body[0].addresses["block"])
            for cycle, block in zip(strand.cycles(0), blocks, strict=True):
                first, at = int(block) * schedule.stream_words, bar.start + int(cycle)
                for lane in range(first, min(first + schedule.stream_words, array.lanes)):
                    words[lane * array.boxes // array.lanes].append((at, at + 1))
        return words

    def _program(self, top: int) -> tuple[str, int]:
        """Return the lines of the program, each lit in the cycles of its bars, and the height where they end."""
        cycles: dict[int, list[Cycles]] = {}
        texts: dict[int, str] = {}
        for row in self.drawn.rows:
            for bar in row.bars:
                if bar.span is not None:
                    number, text = _line(self.drawn.locate(bar.span))
                    texts[number] = text
                    cycles.setdefault(number, []).append((bar.start, bar.end))
        parts = [f'<text class="soft small" x="{LEFT}" y="{top + 4}">the program</text>']
        for place, number in enumerate(sorted(texts)):
            y = top + 14 + LINE * place
            text = f'<text class="code" x="{LEFT + 10}" y="{y + 15}">{escape(texts[number])}</text>'
            box = f'<rect x="{LEFT}" y="{y}" width="{WIDTH - LEFT - 8}" height="{LINE - 1}" rx="3"/>'
            parts.append(f'<g class="line">{text}</g>')
            parts.append(self._shown("root", box + text, cycles[number]))
        return "\n".join(parts), top + 14 + LINE * len(texts)

    def _strip(self, top: int) -> tuple[str, int]:
        """Return the timeline as a strip with a line that moves over it, and the height where it ends."""
        scale = (WIDTH - 8 - STRIP_LEFT) / (self.end - self.first)
        rows: dict[str, list[Bar]] = {}
        for row in self.drawn.rows:
            if row.kind in ROWS:
                rows.setdefault(row.kind, []).extend(row.bars)
        parts = []
        for place, kind in enumerate(kind for kind in ROWS if kind in rows):
            y = top + ROW * place
            names = [row.name for row in self.drawn.rows if row.kind == kind]
            name = ", ".join(names) if kind == "function" else ROWS[kind]
            parts.append(f'<text class="soft small right" x="{STRIP_LEFT - 8}" y="{y + 11}">{escape(name)}</text>')
            parts.append(
                f'<rect class="band" x="{STRIP_LEFT}" y="{y}" width="{WIDTH - 8 - STRIP_LEFT}" height="{ROW - 2}"/>'
            )
            for bar in rows[kind]:
                x, width = STRIP_LEFT + (bar.start - self.first) * scale, (bar.end - bar.start) * scale
                parts.append(
                    f'<rect class="bar {kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 2}" rx="2"/>'
                )
        foot = top + ROW * len(rows)
        for cycle in range(0, self.end - self.first + 1, 10):
            x = STRIP_LEFT + cycle * scale
            anchor = "" if cycle else " start"
            parts.append(f'<text class="soft small middle{anchor}" x="{x:.1f}" y="{foot + 14}">{cycle}</text>')
        parts.append(f'<text class="soft small right" x="{STRIP_LEFT - 8}" y="{foot + 14}">cycle</text>')
        parts.append(f'<path class="head" d="M{STRIP_LEFT} {top - 4}V{foot}"/>')
        return "\n".join(parts), foot + 24

    def _shown(self, kind: str, drawn: str, cycles: Sequence[Cycles]) -> str:
        """Return a group that is shown in `cycles` only. Groups with the same cycles share an animation."""
        merged = tuple(_merged(cycles))
        if not merged:
            return ""
        name = self.frames.setdefault(merged, f"f{len(self.frames)}")
        return f'<g class="lit {kind} {name}">{drawn}</g>'

    def _style(self, seconds: float) -> str:
        away = WIDTH - 8 - STRIP_LEFT
        played = 100 * (self.end - self.first) / self.length
        rules = [
            ".array .ground { fill: light-dark(#f8fafc, #11161d) } .array .band { fill: var(--edge); opacity: .25 }",
            ".array .bar { fill: var(--c) } .array .head { stroke: var(--ink); stroke-width: 2 }",
            '.array .code { font: 14px ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre }',
            ".array .lit .code { font-weight: 400 }",
            f".array .lit, .array .head {{ animation: {seconds:g}s step-end infinite }}",
            f".array .head {{ animation-name: head; animation-timing-function: steps({self.end - self.first}, end) }}",
            f"@keyframes head {{ 0% {{ transform: none }} {played:.2f}%, 100% {{ transform: translateX({away}px) }} }}",
        ]
        for cycles, name in self.frames.items():
            steps = ["0% { opacity: 0 }"] if cycles[0][0] > self.first else []
            for start, end in cycles:
                steps += [f"{self._at(start)}% {{ opacity: 1 }}", f"{self._at(end)}% {{ opacity: 0 }}"]
            rules += [f".array .{name} {{ animation-name: {name} }}", f"@keyframes {name} {{ {' '.join(steps)} }}"]
        # For readers who want no motion the strip alone says what works when, until they ask for motion.
        still = ".array:not(.moving) :is(.lit, .head) { animation: none }"
        rules.append(f"@media (prefers-reduced-motion: reduce) {{ {still} }}")
        return "\n".join(rules) + "\n"

    def _at(self, cycle: int) -> str:
        return f"{100 * (cycle - self.first) / self.length:.2f}"


def _merged(cycles: Sequence[Cycles]) -> Iterable[Cycles]:
    """Yield the cycles as ranges that neither touch nor overlap."""
    begin, stop = None, 0
    for start, end in sorted(cycles):
        if begin is not None and start <= stop:
            stop = max(stop, end)
            continue
        if begin is not None:
            yield begin, stop
        begin, stop = start, end
    if begin is not None:
        yield begin, stop


def _line(span: Span) -> tuple[int, str]:
    """Return the number and the text of the line of the program where a span begins."""
    number = span.source.line_column(span.start)[0]
    return number, re.sub(r"\s*//.*", "", span.source.line(number)).rstrip()


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8", newline="\n")
