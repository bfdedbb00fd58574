"""Random programs of the machine: everything the units can do, in random legal places.

Places are drawn with little care; what breaks a law, the cycle model refuses, and another is drawn.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tabla.program.image import Image, Parameters
from tabla.sim.machine import Words, as_beats
from tabla.sim.model.cycle_model import CycleModel
from tabla.sim.model.faults import MachineFault
from tests.sim.hand_assembler import (
    Nest,
    Op,
    assemble,
    lane,
    lane_write,
    parameters,
    root,
    root_write,
    stream,
    tree_levels,
)
from tests.sim.hand_images import Case

ROWS = 4
POSTS = ("none", "none", "none", "extreme", "extreme", "<", "<=", "==", "!=", ">=", ">")


def _lane_op(chance: Random, pes: int, bus: bool, last_first: bool) -> Op:
    memories = ["model", "data", "interim"]
    low = chance.choice([0, 0, 0, chance.randint(-1, pes)])
    fields: dict[str, Any] = {
        "a": chance.choice(["zero", *memories, *memories]),
        "b": chance.choice(["one", *memories, *(["bus"] if bus else [])]),
        "c": chance.choice(memories + (["bus"] if bus else [])),
        "negate": chance.randint(0, 1),
        "base": chance.choice(["zero", "zero", "addend"]),
        "half": chance.choice(["none", "all", "lane0"]),
        "shift": chance.randrange(4),
        "post": chance.choice(POSTS),
        "emit": chance.randint(0, 1),
        "gate": chance.choice([0, 0, 0, 1]),
    }
    return lane(
        model=(chance.randrange(ROWS - 1), chance.randint(0, 1)),
        data=(0, chance.randint(0, 1)),
        interim=(chance.randrange(ROWS - 1), chance.randint(0, 1)),
        low=(low, chance.choice([0, 0, 1])),
        high=(chance.choice([pes, pes, chance.randint(0, pes + 1)]),),
        windows=("data",),
        **fields,
    )


def _root_op(chance: Random, base: str) -> Op:
    fields: dict[str, Any] = {
        "a": chance.choice(["zero", "data", "memory"]),
        "b": chance.choice(["one", "data", "memory"]),
        "c": chance.choice(["data", "memory"]),
        "negate": chance.randint(0, 1),
        "base": base,
        "half": chance.choice(["none", "all"]),
        "shift": chance.randrange(4),
        "post": chance.choice(POSTS),
        "emit": chance.randint(0, 1),
    }
    if (base, fields["post"]) == ("tree", "extreme"):
        fields["half"] = "none"
    windows = tuple(port for port in "abc" if fields[port] == "data")
    at = {f"at_{port}": (chance.randrange(2) if fields[port] == "data" else chance.randrange(ROWS),) for port in "abc"}
    return root(windows=windows, **at, **fields)


def _draw(chance: Random, build: Parameters) -> Image:
    pes, tree = build.pes, tree_levels(build)
    units: dict[str, list[Nest]] = {"lane_issue": [], "lane_write": [], "root_issue": [], "root_write": []}
    at, bus = 0, False
    for _ in range(chance.randint(3, 6)):
        counts = tuple(chance.randint(1, 3) for _ in range(chance.randint(1, 3)))
        interval, reduce = chance.choice([1, 1, 2, 3]), chance.choice([0, len(counts), 1])
        body = [_lane_op(chance, pes, bus, False) for _ in range(chance.choice([1, 1, 2]))]
        if reduce:
            body = body[:1]
        nest = Nest(start=at, interval=interval, counts=counts, reduce=reduce, body=body)
        units["lane_issue"].append(nest)
        passes = 1
        for count in counts:
            passes *= count
        end = at + (passes * len(body) - 1) * interval
        write = lane_write(
            to_model=chance.randint(0, 1),
            to_interim=chance.randint(0, 1),
            model=chance.randint(0, 1),
            address=(chance.randrange(ROWS - 1), chance.randint(0, 1)),
            low=(chance.choice([0, 0, 1]),),
        )
        if chance.random() < 0.8:
            units["lane_write"].append(Nest(start=at + 7, interval=interval, counts=counts, body=[write] * len(body)))
        ask = end + 1 + tree
        ops = [_root_op(chance, chance.choice(["tree", "tree", "addend", "zero"]))]
        units["root_issue"].append(Nest(start=ask, body=ops))
        keep = chance.randint(0, 1)
        put = {"to_bus": chance.randint(0, 1), "to_output": chance.randint(0, 1), "to_memory": keep, "model": keep}
        units["root_write"].append(Nest(start=ask + 7, body=[root_write(address=(chance.randrange(ROWS),), **put)]))
        at = end + tree + chance.randint(12, 22)
        if put["to_bus"]:
            bus = True
            if chance.random() < 0.4:
                take = lane_write(source="bus", to_interim=1, address=(chance.randrange(ROWS),))
                units["lane_write"].append(Nest(start=ask + 10 + chance.randint(0, 2), body=[take]))
    units["lane_write"].sort(key=lambda nest: nest.start)
    blocks = -(-pes // build.stream_words)
    rows = (blocks, ROWS)
    busy = max(nest.start for nests in units.values() for nest in nests) + 60
    return assemble(
        build,
        units,
        period=chance.choice([busy, busy - 30, at]),
        load=[
            Nest(counts=rows, body=[stream(to_model=1, to_interim=1, address=(0, 0, 1), block=(0, 1))]),
            Nest(counts=(ROWS,), body=[stream(to_root_memory=1, address=(0, 1))]),
        ],
        samples=[
            Nest(counts=(blocks, 2), body=[stream(to_data=1, address=(0, 0, 1), block=(0, 1), windows=("address",))]),
            Nest(counts=(2,), body=[stream(to_root_data=1, address=(0, 1), windows=("address",))]),
        ],
        data_window=2,
        root_data_window=2,
        skew={unit: nests[0].start for unit, nests in units.items() if nests},
    )


def random_case(seed: int, samples: int = 6) -> Case:
    """A legal random program with random words, most of them small."""
    chance = Random(seed)
    pes, group = chance.choice([(1, 1), (2, 2), (3, 3), (4, 4), (4, 2), (5, 5), (6, 3)])
    width, fraction = chance.choice([(16, 10), (8, 4), (18, 12), (12, 0), (32, 16)])
    build = parameters(
        pes,
        pes_per_pu=group,
        width=width,
        fraction=fraction,
        stream_words=chance.choice([1, 2, 4]),
        ring_slots=chance.choice([2, 3, 4]),
        output_depth=chance.choice([16, 33]),
    )
    if fraction == 0:
        build = parameters(pes, pes_per_pu=group, width=width, fraction=0, shifts=(0, 1, 4, 2))
    while True:
        image = _draw(chance, build)
        limit = 1 << chance.choice([3, fraction + 1, width - 1])

        def words(beats: int, image: Image = image, limit: int = limit) -> Words:
            row = range(image.parameters.stream_words)
            return as_beats([[chance.randrange(-limit, limit) for _ in row] for _ in range(beats)], len(row))

        load, beats = words(image.stream_load.beats), words(image.stream_run.beats * samples)
        try:
            machine = CycleModel(image)
            machine.load(load)
            machine.run(beats, samples)
        except MachineFault:
            continue
        return Case(
            name=f"random {seed}",
            image=image,
            load=load.tolist(),
            beats=beats.tolist(),
            samples=samples,
            dump=ROWS,
        )
