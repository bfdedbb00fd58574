"""The proof of values: every word that a sample writes is the element that the layout puts at that address.

Operands are taken to be what the layout says. As the laws of time hold, each word is written before it is read and not
replaced before its last read; so by induction over the writes in the order of their cycles operands are what they were
taken to be, and what leaves, and what models become, is what the graph asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.check import residues
from tabla.schedule.check.expected import Expected, Landed, element_name
from tabla.schedule.check.fields import Active, guarded, lanes_of
from tabla.schedule.check.images import Images
from tabla.schedule.check.machine import Machine
from tabla.schedule.check.residues import Residues
from tabla.schedule.check.runs import Asked, address_of, span_of
from tabla.schedule.check.wiring import Write
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.leaving import elements, words_per_write
from tabla.schedule.strands.regions import Region, ScheduleFault, writing_generators
from tabla.schedule.strands.strand import Cycles
from tabla.schedule.strands.tasks import MemoryKey


@dataclass(frozen=True, slots=True, eq=False)
class _RunMemory:
    """The memories while a sample is worked on."""

    images: Images

    def _region(self, asked: Asked, name: str) -> Region:
        region = self.images.regions.of(asked.memory, int(asked.at.min()), "read", asked.when)
        if int(asked.at.max()) >= region.base + region.words:
            raise ScheduleFault(f"'{name}' leaves {region.key}")
        if asked.window != asked.memory.endswith("data"):
            how = "with" if asked.window else "without"
            raise ScheduleFault(f"'{name}' reads {asked.memory} {how} the window of a sample")
        return region

    def read(
        self,
        asked: Asked,
        lanes: slice,
        active: Active | None,
        name: str,
        *,
        stored: bool = False,
    ) -> Residues:
        """The words that the layout puts there."""
        region = self._region(asked, name)
        image, own = self.images.found(region.key, stored, name), asked.at - region.base
        self.images.mark(self.images.read, region, own, lanes, active)
        return (image if image.shape[2] == 1 else image[:, :, lanes])[own]

    def gathered(self, asked: Asked, position: Residues, name: str) -> Residues:
        """Any word of a place may be meant: its elements follow each other as those of the tensor do."""
        region = self._region(asked, name)
        self.images.mark(self.images.read, region, np.arange(region.words), slice(0, 1), None)
        own = np.broadcast_to((asked.at - region.base)[:, None, None], position.shape)
        return residues.gathered(region.key[0][0], own, position)


@dataclass(frozen=True, slots=True, eq=False)
class _Proof:
    schedule: Schedule
    expected: Expected
    images: Images
    machine: Machine
    landed: dict[MemoryKey, list[tuple[Cycles, Landed]]] = field(default_factory=dict)

    def writes(self) -> None:
        """Every write of a word to a memory."""
        for write in self.machine.wiring.writes:
            lanes = lanes_of(self.schedule, write.unit)
            active = None
            if write.unit != "root_write":
                active = guarded(write.strand, write.operation, slice(None), lanes)
            words = self.machine.taken(write.sources)
            regions = [
                self._scatter(write, generator, memory, words)
                if write.positions is not None
                else self._write(write, generator, memory, words, lanes, active)
                for generator, memory in writing_generators(write.strand.unit, write.operation)
            ]
            marked = bool(write.operation.field("model"))
            if marked != any(self.images.updated(region.key) for region in regions):
                what = "marks a word as an update that is none" if marked else "writes an update without its mark"
                raise ScheduleFault(f"'{write.strand.comment}' {what}, at cycle {int(write.cycles[0])}")

    def _write(
        self, write: Write, generator: str, memory: str, words: Residues, lanes: slice, active: Active | None
    ) -> Region:
        address = address_of(write.operation, generator, write.strand)
        at = write.strand.values(address)
        region = self.images.regions.of(memory, int(at.min()), "write", span_of(write.cycles))
        if address.window or int(at.max()) >= region.base + region.words:
            raise ScheduleFault(f"'{write.strand.comment}' leaves {region.key}")
        image, own = self.images.words(region.key, left=True), at - region.base
        wanted = (image if image.shape[2] == 1 else image[:, :, lanes])[own]
        wrong = words != wanted
        if active is not None:
            wrong = wrong & active[:, None, :]
        if wrong.any():
            turn, group, lane = np.argwhere(wrong)[0].tolist()
            self._refuse(write, region, int(own[turn]), lane + lanes.start, group, turn, words)
        self.images.mark(self.images.written, region, own, lanes, active)
        return region

    def _scatter(self, write: Write, generator: str, memory: str, words: Residues) -> Region:
        """Note what a write puts where data say. Any word of the place may be meant."""
        assert write.positions is not None
        address = address_of(write.operation, generator, write.strand)
        at = write.strand.values(address)
        region = self.images.regions.of(memory, int(at.min()), "write", span_of(write.cycles))
        if address.window or int(at.max()) >= region.base + region.words:
            raise ScheduleFault(f"'{write.strand.comment}' leaves {region.key}")
        shape = (len(at), self.expected.groups)
        positions = np.broadcast_to(self.machine.taken(write.positions)[:, :, 0], shape)
        landed = Landed(at - region.base, positions, np.broadcast_to(words[:, :, 0], shape))
        self.landed.setdefault(region.key, []).append((write.cycles, landed))
        self.images.mark(self.images.written, region, np.arange(region.words), slice(0, 1), None)
        return region

    def landings(self) -> None:
        """What is written where data say is what the graph lets land there, in its order."""
        wanted = {
            ((model, spot), False): self.expected.landed.get(self.schedule.mapped.updates[model])
            for model, spot in self.schedule.mapping.updated
        }
        for key in {**wanted, **self.landed}:
            asked, parts = wanted.get(key), self.landed.get(key, [])
            if asked is None and not parts:
                continue
            if asked is None or not parts or not asked.are(_in_time(parts)):
                raise ScheduleFault(f"other words land in {key[0][0]} at {key[0][1]} than the graph lets land there")

    def _refuse(self, write: Write, region: Region, at: int, lane: int, group: int, turn: int, words: Residues) -> None:
        own = words[turn, min(group, words.shape[1] - 1)]
        word = int(own[0] if len(own) == 1 else own[lane - lanes_of(self.schedule, write.unit).start])
        where = f"{region.memory}[{region.base + at}]"
        if write.unit != "root_write":
            where += f" of lane {lane}"
        raise ScheduleFault(
            f"'{write.strand.comment}' writes {self.expected.named(word, group)} where"
            f" {self.images.name(region.key, at, lane, left=True)} lies, to {where} at cycle {int(write.cycles[turn])}"
        )

    def outputs(self) -> None:
        """The words that leave, in order, are those that the host takes them for; all of every result."""
        puts = [write for write in self.machine.wiring.writes if write.operation.field("to_output")]
        graph, split = self.schedule.mapped, words_per_write(self.schedule.mapped, self.schedule.template) > 1
        tensors = dict(graph.results)
        left: dict[str, list[NDArray[np.int64]]] = {shown: [] for shown, _ in graph.results}
        wanted, names = [], list[tuple[str, int]]()
        for shown, leaves in self.schedule.departures:
            tensor = graph.tensors[tensors[shown]]
            own = elements(leaves, tensor.size)
            left[shown].append(own)
            held = self.expected.elements[tensor.name]
            wanted.append(np.broadcast_to(held.reshape(len(held), -1)[:, own].T, (len(own), self.expected.groups)))
            names += [(tensor.name, int(at)) for at in own]
        for shown, parts in left.items():
            whole = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))
            if not np.array_equal(whole, np.arange(graph.tensors[tensors[shown]].size)):
                raise ScheduleFault(f"not every element of the result {shown} leaves once")
        cycles = np.concatenate([np.zeros(0, dtype=np.int64), *(write.cycles for write in puts)])
        if len(cycles) != len(names):
            raise ScheduleFault(f"{len(cycles)} words leave where the results have {len(names)}")
        if not len(cycles):
            return
        order = np.argsort(cycles, kind="stable")
        shape = (self.expected.groups,)
        words = np.concatenate(
            [np.broadcast_to(self.machine.taken(w.sources)[:, :, 0], (len(w.cycles), *shape)) for w in puts]
        )[order]
        # Where groups have all of the results the first one's words leave.
        wrong = words != np.concatenate(wanted) if split else words[:, :1] != np.concatenate(wanted)[:, :1]
        if wrong.any():
            at, group = np.argwhere(wrong)[0].tolist()
            tensor_name, element = names[at]
            index = np.unravel_index(element, graph.tensors[tensor_name].shape) if element else ()
            meant = element_name(tensor_name, [int(n) for n in index])
            found = self.expected.named(int(words[at, group]), group)
            cycle = int(cycles[order][at])
            raise ScheduleFault(f"{found} leaves where the host takes it for {meant}, at cycle {cycle}")

    def coverage(self) -> None:
        """Every word that is read was written before, by this sample or when models were loaded."""
        for key, at, lane in self.images.unwritten():
            what = "is not updated" if self.images.updated(key) else "is read where nothing writes it"
            where = f" in lane {lane}" if key[0][1].kind != "root" else ""
            raise ScheduleFault(f"{self.images.name(key, at, lane)} at {key[0][1]} {what}{where}")

    def events(self) -> None:
        """Overflows and domain errors are counted once for each word of the graph that may have them. While the array
        predicts, they are counted for the words that the results are computed from.
        """
        for what, events, graph in (
            ("overflows", self.machine.rounded, self.expected.rounded),
            ("domain errors", self.machine.applied, self.expected.applied),
        ):
            for when, found, wanted in (
                ("", events.every, graph.every),
                (" of a prediction", events.predicted, graph.predicted),
            ):
                if found.differs(wanted):
                    raise ScheduleFault(
                        f"{what}{when} are counted of {found.count} words, where the graph has {wanted.count}, or of"
                        " other ones"
                    )


def _in_time(parts: Sequence[tuple[Cycles, Landed]]) -> Landed:
    """Return what several writes put where data say, in the order of their cycles."""
    order = np.argsort(np.concatenate([cycles for cycles, _ in parts]), kind="stable")
    return Landed.of([landed for _, landed in parts])[order]


def prove(schedule: Schedule) -> Images:
    """Raise `ScheduleFault` for the first word that is not what the graph asks for; else the memories."""
    expected = Expected.of(schedule.mapped, schedule.format, max(1, schedule.template.roots))
    images = Images(schedule, expected)
    machine = Machine.of(schedule, schedule.units, _RunMemory(images))
    proof = _Proof(schedule, expected, images, machine)
    proof.writes()
    proof.landings()
    proof.outputs()
    proof.coverage()
    proof.events()
    return images
