"""What each feature of an overlay costs in LUTs of an ECP5, by synthesis of its parts alone.

python -m benchmarks.overlays.features [--json FILE]

A row is a part of the default overlay of 16 PEs with and without a feature. FILE gets the rows, and a file beside it
with the suffix ``.md`` the table of ``docs/overlays.md``. The sum of all parts is somewhat more than the whole, which
Yosys optimises across its parts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from amaranth.lib import wiring
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
from tabla.templates.overlays import default_room
from tabla.templates.targets import target
from tabla.templates.template import presets

from tabla.program.image import Parameters
from tabla.program.overlay import Overlay, overlay_of
from tabla.synth.yosys import synthesise_flat

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


@cache
def overlay() -> Overlay:
    """The default overlay."""
    return overlay_of(presets()[f"Pe{PES}"], default_room())


def parameters(**changes: Any) -> Parameters:
    """Return its sizes, or others."""
    return replace(overlay().parameters, **changes)


def luts(make: Make) -> int:
    """Return the LUT4s of a part."""
    netlist = synthesise_flat(component_verilog(make(), "part"), "part", target("ecp5").narrowed)
    return netlist.taken["LUT"]


def _lanes() -> Iterator[tuple[str, Make]]:
    shape = lane_shape(parameters(), overlay_features(parameters()))

    def lane(shape: LaneShape) -> Lane:
        return Lane(shape)

    def places(count: int) -> LaneShape:
        some = frozenset(range(count))
        fewer = parameters(shifts=parameters().shifts[:count])
        return replace(shape, parameters=fewer, addend_shifts=some, result_shifts=some)

    yield "", partial(lane, shape)
    yield "extremes", partial(lane, replace(shape, posts=shape.posts - {"extreme"}))
    yield "comparisons with 0", partial(lane, replace(shape, posts=frozenset({"none", "extreme"})))
    yield "places of sums 4 to 7", partial(lane, places(4))
    yield "places of sums 1 to 7", partial(lane, places(1))
    yield "bus words written by lanes", partial(lane, replace(shape, writes_bus=False))
    accumulator = parameters().accumulator - 4
    yield (
        "4 of 44 bits of sums (16 times the terms)",
        partial(lane, replace(shape, parameters=parameters(accumulator=accumulator))),
    )


def _trees() -> Iterator[tuple[str, Make]]:
    yield "", partial(Tree, leaves=2, width=parameters().accumulator, extremes=True)
    yield "extremes", partial(Tree, leaves=2, width=parameters().accumulator)


def _root(features: Features) -> Root:
    sizes = parameters(functions=())
    control = MacControl(unit="root_issue", parameters=sizes, features=features["root_issue"])
    # Only its members are looked at; Amaranth would warn that it goes unused.
    control._MustUse__silence = True
    return Root(parameters=sizes, features=features, control=control)


def _roots() -> Iterator[tuple[str, Make]]:
    every = overlay_features(parameters(functions=()))

    def changed(**fields: frozenset[str]) -> Features:
        unit = every["root_issue"]
        unit = replace(unit, values={**unit.values, **fields})
        return replace(every, units={**every.units, "root_issue": unit})

    values = every["root_issue"].values
    yield "", partial(_root, every)
    yield "extremes", partial(_root, changed(post=values["post"] - {"extreme"}))
    yield "comparisons with 0", partial(_root, changed(post=frozenset({"none", "extreme"})))
    gathered = frozenset(name for name in values["a"] if name.startswith("gathered_"))
    yield "gathers", partial(_root, changed(a=values["a"] - gathered, b=values["b"] - {"position"}))
    late = frozenset(name for name in values["c"] if name.startswith("late_"))
    yield "results added at once", partial(_root, changed(c=values["c"] - late))
    yield "half units for words of the tree", partial(_root, replace(every, tree_half=False))


def _sequencer(unit: str, sizes: Parameters, *, windows: bool = True) -> BankedSequencer:
    features = overlay_features(sizes)[unit]
    if not windows:
        features = replace(features, windowed=frozenset())
    return BankedSequencer(unit=unit, parameters=sizes, features=features)


def _sequencers(unit: str) -> Iterator[tuple[str, Make]]:
    sizes = parameters()
    yield "", partial(_sequencer, unit, sizes)
    if unit != "lane_issue":
        return
    yield "the 6th loop", partial(_sequencer, unit, parameters(levels=sizes.levels - 1))
    yield "loops 4 to 6", partial(_sequencer, unit, parameters(levels=3))
    yield "bodies of 3 and 4 operations", partial(_sequencer, unit, parameters(body=2))
    yield "bodies of 2 to 4 operations", partial(_sequencer, unit, parameters(body=1))
    yield "intervals above 1", partial(_sequencer, unit, parameters(interval_bits=1))
    yield "windows of the ring", partial(_sequencer, unit, sizes, windows=False)
    narrower = {**sizes.address_bits, unit: sizes.address_bits[unit] - 1}
    yield "a bit of its 3 addresses", partial(_sequencer, unit, parameters(address_bits=narrower))
    yield "a bit of its 2 bounds of lanes", partial(_sequencer, unit, parameters(guard_bits=sizes.guard_bits - 1))
    yield "a bit of the counts of its loops", partial(_sequencer, unit, parameters(count_bits=sizes.count_bits - 1))


def parts() -> Iterator[tuple[str, int, list[tuple[str, Make]]]]:
    """Yield the parts: the name, the number in the array, and what is made with all features and without each."""
    yield "lane", PES, list(_lanes())
    yield "adder of the tree", PES - 1, list(_trees())
    yield "root without functions", 1, list(_roots())
    for table in parameters().functions:
        make = partial(pipeline_for, table, width=parameters().width, fraction=parameters().fraction)
        yield f"function {table.name}", 1, [("", make)]
    for unit in ("lane_issue", "lane_write", "root_issue", "root_write", "stream"):
        yield f"sequencer of {unit}", 1, list(_sequencers(unit))
    yield "loader", 1, [("", partial(Loader, overlay()))]


def rows() -> Iterator[Row]:
    """Yield the rows, those of a part together."""
    for part, times, variants in parts():
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
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(words)
    found: list[Row] = []
    for row in rows():
        found.append(row)
        print(f"{row.part:<26} {row.feature:<42} {row.full:>6} {row.without:>6} {row.saved:>6}", flush=True)
        if asked.json is not None:
            content = {"schema": "tabla-overlay-features-1", "pes": PES, "rows": [_record(row) for row in found]}
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
