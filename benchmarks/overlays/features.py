"""What each feature of an overlay costs in LUTs of an ECP5, by synthesis of its parts alone.

python -m benchmarks.overlays.features [--template NAME] [--json FILE]

A row is a part of an overlay of 16 PEs, by default of the default one, with and without a feature. FILE gets the rows,
and a file beside it with the suffix ``.md`` the table of ``docs/overlays.md``. The sum of all parts is somewhat more
than the whole, which Yosys optimises across its parts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from tabla.build.synth.yosys import synthesise_flat
from tabla.hw.control import MacControl
from tabla.hw.emit import component_verilog
from tabla.hw.features import Features
from tabla.hw.function_unit import pipeline_for
from tabla.hw.lane import Lane, LaneShape, lane_shape
from tabla.hw.overlay.features import overlay_features
from tabla.hw.overlay.loader import Loader
from tabla.hw.overlay.sequencer import BankedSequencer
from tabla.hw.root import Root
from tabla.hw.tree import Tree
from tabla.program.image import Parameters
from tabla.program.overlay import Overlay, overlay_of
from tabla.templates.overlays import FEATURES, overlay_rooms
from tabla.templates.targets import target
from tabla.templates.template import presets

PES = 16
Make = Callable[[], wiring.Component]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A part of an overlay, the number of its instances, a feature, and LUT4s with the feature and without it.

    A row without a feature is the part itself.
    """

    part: str
    times: int
    feature: str
    full: int
    without: int

    @property
    def saved(self) -> int:
        """The LUT4s that the array of 16 PEs takes for the feature."""
        return self.times * (self.full - self.without)


def luts(make: Make) -> int:
    """Return the LUT4s of a part."""
    netlist = synthesise_flat(component_verilog(make(), "part"), "part", target("ecp5").narrowed)
    return netlist.taken["LUT"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of an overlay."""

    overlay: Overlay

    def parameters(self, **changes: Any) -> Parameters:
        """Return the sizes of the overlay, or others."""
        return replace(self.overlay.parameters, **changes)

    def features(self, parameters: Parameters | None = None) -> Features:
        """Return what the overlay's units can do."""
        return overlay_features(parameters or self.overlay.parameters, self.overlay.room.posts)

    def _features(self) -> Iterator[tuple[str, str]]:
        """Yield the features that the overlay has and another one may lack, each with its name in the table."""
        names = {"extremes": "extremes", "comparisons": "comparisons with 0"}
        yield from ((feature, names[feature]) for feature in FEATURES if feature in self.overlay.room.features)

    def _lanes(self) -> Iterator[tuple[str, Make]]:
        shape = lane_shape(self.parameters(), self.features())

        def lane(shape: LaneShape) -> Lane:
            return Lane(shape)

        def places(count: int) -> LaneShape:
            some = frozenset(range(count))
            fewer = self.parameters(shifts=self.parameters().shifts[:count])
            return replace(shape, parameters=fewer, addend_shifts=some, result_shifts=some)

        yield "", partial(lane, shape)
        for feature, name in self._features():
            yield name, partial(lane, replace(shape, posts=shape.posts - FEATURES[feature]))
        for count in (8, 1):
            yield f"places of sums {count} to {len(shape.shifts) - 1}", partial(lane, places(count))
        yield "bus words written by lanes", partial(lane, replace(shape, writes_bus=False))
        accumulator = self.parameters().accumulator - 4
        yield (
            "4 of 44 bits of sums (16 times the terms)",
            partial(lane, replace(shape, parameters=self.parameters(accumulator=accumulator))),
        )

    def _trees(self) -> Iterator[tuple[str, Make]]:
        width, extremes = self.parameters().accumulator, "extremes" in self.overlay.room.features
        yield "", partial(Tree, leaves=2, width=width, extremes=extremes)
        if extremes:
            yield "extremes", partial(Tree, leaves=2, width=width)

    def _root(self, features: Features) -> Root:
        sizes = self.parameters(functions=())
        control = MacControl(unit="root_issue", parameters=sizes, features=features["root_issue"])
        # Only its members are looked at; Amaranth would warn that it goes unused.
        control._MustUse__silence = True
        return Root(parameters=sizes, features=features, control=control)

    def _roots(self) -> Iterator[tuple[str, Make]]:
        every = self.features(self.parameters(functions=()))

        def changed(**fields: frozenset[str]) -> Features:
            unit = every["root_issue"]
            unit = replace(unit, values={**unit.values, **fields})
            return replace(every, units={**every.units, "root_issue": unit})

        values = every["root_issue"].values
        yield "", partial(self._root, every)
        for feature, name in self._features():
            yield name, partial(self._root, changed(post=values["post"] - FEATURES[feature]))
        gathered = frozenset(name for name in values["a"] if name.startswith("gathered_"))
        yield "gathers", partial(self._root, changed(a=values["a"] - gathered, b=values["b"] - {"position"}))
        late = frozenset(name for name in values["c"] if name.startswith("late_"))
        yield "results added at once", partial(self._root, changed(c=values["c"] - late))
        yield "half units for words of the tree", partial(self._root, replace(every, tree_half=False))

    def _sequencer(self, unit: str, sizes: Parameters, *, windows: bool = True) -> BankedSequencer:
        features = self.features(sizes)[unit]
        if not windows:
            features = replace(features, windowed=frozenset())
        return BankedSequencer(unit=unit, parameters=sizes, features=features)

    def _sequencers(self, unit: str) -> Iterator[tuple[str, Make]]:
        sizes = self.parameters()
        yield "", partial(self._sequencer, unit, sizes)
        if unit != "lane_issue":
            return
        for levels in sorted({min(3, sizes.levels), sizes.levels - 1} - {sizes.levels}, reverse=True):
            name = f"loop {sizes.levels}" if levels == sizes.levels - 1 else f"loops {levels + 1} to {sizes.levels}"
            yield name, partial(self._sequencer, unit, self.parameters(levels=levels))
        for body in sorted({2, 1} - {sizes.body}, reverse=True):
            name = f"bodies of more operations than {body}"
            yield name, partial(self._sequencer, unit, self.parameters(body=body))
        yield "intervals above 1", partial(self._sequencer, unit, self.parameters(interval_bits=1))
        yield "windows of the ring", partial(self._sequencer, unit, sizes, windows=False)
        narrower = {**sizes.address_bits, unit: sizes.address_bits[unit] - 1}
        yield "a bit of its 3 addresses", partial(self._sequencer, unit, self.parameters(address_bits=narrower))
        fewer = self.parameters(guard_bits=sizes.guard_bits - 1)
        yield "a bit of its 2 bounds of lanes", partial(self._sequencer, unit, fewer)
        fewer = self.parameters(count_bits=sizes.count_bits - 1)
        yield "a bit of the counts of its loops", partial(self._sequencer, unit, fewer)

    def parts(self) -> Iterator[tuple[str, int, list[tuple[str, Make]]]]:
        """Yield the parts: the name, the number in the array, and what is made with all features and without each."""
        yield "lane", PES, list(self._lanes())
        yield "adder of the tree", PES - 1, list(self._trees())
        yield "root without functions", 1, list(self._roots())
        for table in self.parameters().functions:
            make = partial(pipeline_for, table, width=self.parameters().width, fraction=self.parameters().fraction)
            yield f"function {table.name}", 1, [("", make)]
        for unit in ("lane_issue", "lane_write", "root_issue", "root_write", "stream"):
            yield f"sequencer of {unit}", 1, list(self._sequencers(unit))
        yield "loader", 1, [("", partial(Loader, self.overlay))]


def rows(overlay: Overlay) -> Iterator[Row]:
    """Yield the rows of an overlay, those of a part together."""
    for part, times, variants in Parts(overlay=overlay).parts():
        full = 0
        for feature, make in variants:
            found = luts(make)
            full = full if feature else found
            yield Row(part=part, times=times, feature=feature, full=full, without=found if feature else 0)


def markdown(found: list[Row]) -> str:
    """Return the table of ``docs/overlays.md``."""
    heads = ("part", "feature", "LUT4s of the part", "without the feature", "of the array, for the feature")
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row in found:
        part = f"{row.part}, {row.times} of them" if row.times > 1 else row.part
        without = f"{row.without:,}" if row.feature else ""
        lines.append(f"| {part} | {row.feature or 'the whole part'} | {row.full:,} | {without} | {row.saved:,} |")
    return "\n".join(lines) + "\n"


def main(words: list[str]) -> int:
    """Measure, print and write the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overlays.features")
    parser.add_argument("--template", choices=sorted(overlay_rooms()), default="DefaultOverlay")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(words)
    found: list[Row] = []
    for row in rows(overlay_of(presets()[f"Pe{PES}"], overlay_rooms()[asked.template])):
        found.append(row)
        print(f"{row.part:<26} {row.feature:<42} {row.full:>6} {row.without:>6} {row.saved:>6}", flush=True)
        if asked.json is not None:
            content = {
                "schema": "tabla-overlay-features-1",
                "template": asked.template,
                "pes": PES,
                "rows": [_record(row) for row in found],
            }
            asked.json.parent.mkdir(parents=True, exist_ok=True)
            asked.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
            asked.json.with_suffix(".md").write_text(markdown(found), encoding="utf-8")
    return 0


def _record(row: Row) -> dict[str, Any]:
    return {
        "part": row.part,
        "times": row.times,
        "feature": row.feature,
        "lut": row.full,
        "lut_without": row.without if row.feature else None,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
