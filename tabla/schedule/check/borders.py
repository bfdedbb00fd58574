"""The words that come in and the models that are read back: the programs of the stream and of the dump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabla.graph.graph import Product
from tabla.schedule.check import residues
from tabla.schedule.check.fields import Active
from tabla.schedule.check.images import Images
from tabla.schedule.check.machine import Machine
from tabla.schedule.check.residues import POISON, Residues
from tabla.schedule.check.runs import Asked, address_of
from tabla.schedule.check.wiring import Write
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.layout import Key, is_scratch
from tabla.schedule.strands.regions import LANE_BANKS, ScheduleFault
from tabla.schedule.strands.strand import Strand, by_unit
from tabla.schedule.strands.streams import Filling, dump_words, loaded, streamed
from tabla.templates.template import Template

_LANE_TARGETS = {f"to_{bank}": bank for bank in LANE_BANKS}
_ROOT_TARGETS = {"to_root_data": "root data", "to_root_memory": "root memory"}
_NOTHING = -1
"""What an address holds that no beat has reached."""


@dataclass(frozen=True, slots=True, eq=False)
class _Beats:
    """One program of the stream: what the host sends for it, and what its beats leave in the memories.

    `images` are by memory, of shape [words, groups, lanes], one lane of a root's.
    """

    images: Images
    strands: tuple[Strand, ...]
    keys: tuple[Key, ...]
    what: str

    @property
    def schedule(self) -> Schedule:
        """The schedule that the program belongs to."""
        return self.images.schedule

    def check(self) -> None:
        """Every place gets its elements, and no other address a word."""
        sent = np.concatenate([np.zeros((0, self.schedule.stream_words), np.int64), *map(self._sent, self.keys)])
        beats = sum(strand.iterations * len(strand.body) for strand in self.strands)
        if len(sent) != beats:
            raise ScheduleFault(f"{self.what} takes {beats} beats, the host sends {len(sent)}")
        memories = self._memories()
        begin = 0
        for strand in self.strands:
            taken = strand.iterations * len(strand.body)
            self._fill(strand, sent[begin : begin + taken], memories)
            begin += taken
        for key in self.keys:
            self._compare(key, memories)
        for memory, words in memories.items():
            if (words != _NOTHING).any():
                at = int(np.argwhere(words != _NOTHING)[0][0])
                raise ScheduleFault(f"{self.what} puts a word into {memory}[{at}], where none belongs")

    def _memories(self) -> dict[str, Residues]:
        template, regions = self.schedule.template, self.images.regions.all()
        groups = max(1, template.roots)
        words = {memory: max(region.base + region.words for region in held) for memory, held in regions.items()}
        return {
            memory: np.full(
                (words[memory], groups, 1 if memory.startswith("root ") else template.lanes),
                _NOTHING,
                dtype=np.int64,
            )
            for memory in regions
        }

    def _image(self, key: Key) -> Residues:
        """The words of a place as the host has them: of scratch words the first of each run only."""
        place, words = self.schedule.layout.places[key], self.images.words((key, False))
        if self.images.wide((key, False)):
            return residues.joined(residues.upper(words), residues.guard(words))
        if not is_scratch(key[1]):
            return words
        operation = self.schedule.mapped.statements[key[1].axis].operation
        assert isinstance(operation, Product)
        one = residues.power_of_two(self.schedule.format.fraction + operation.shift)
        firsts = np.arange(place.words) % place.shape[-1] == 0
        return np.where(firsts, one, _NOTHING)[:, None, None]

    def _sent(self, key: Key) -> Residues:
        """The beats of a place as the host packs them: of each address the words of all groups and lanes, in blocks.

        Of a wide model each beat of upper bits is followed by one of guard bits.
        """
        if self.images.wide((key, False)):
            words = self.images.words((key, False))
            both = [self._packed(key, half) for half in (residues.upper(words), residues.guard(words))]
            return np.stack(both, axis=1).reshape(-1, self.schedule.stream_words)
        return self._packed(key, self._image(key))

    def _packed(self, key: Key, image: Residues) -> Residues:
        place, width = self.schedule.layout.places[key], self.schedule.stream_words
        if is_scratch(key[1]):
            firsts = image[image[:, 0, 0] != _NOTHING, 0]
            return np.concatenate([firsts, np.zeros((len(firsts), width - 1), dtype=np.int64)], axis=1)
        filling = Filling.of(self.schedule.layout, key, self.schedule.template)
        # A place that is spread over some lanes sends the words of these lanes only.
        own = image if place.spot.kind != "lane" else image[:, :, place.spot.span.first :][:, :, : place.pes]
        rows = own.reshape(len(own), -1)[:, : filling.row]
        reach = filling.blocks(width)
        begin = filling.first - reach.start * width
        padded = np.full((len(rows), len(reach) * width), POISON, dtype=np.int64)
        padded[:, begin : begin + rows.shape[1]] = rows
        return padded.reshape(-1, width)

    def _fill(self, strand: Strand, sent: Residues, memories: dict[str, Residues]) -> None:
        """Put the words of a strand's beats into the memories of the groups and lanes that take them."""
        template, width = self.schedule.template, self.schedule.stream_words
        operation, targets = strand.body[-1], (*_LANE_TARGETS, *_ROOT_TARGETS)
        if operation.field("wide"):
            first = strand.body[0]
            if len(strand.body) != 2 or any(first.field(name) for name in targets):
                raise ScheduleFault(f"the stream's '{strand.comment}' has no beat of upper bits before guard bits")
            sent = residues.joined(sent[0::2], sent[1::2])
        elif len(strand.body) != 1:
            raise ScheduleFault(f"the stream's '{strand.comment}' has {len(strand.body)} operations")
        everyone, same = bool(operation.field("all")), bool(operation.field("same"))
        address = address_of(operation, "address", strand)
        at, blocks = strand.values(address), strand.values(address_of(operation, "block", strand))
        # With one root the hardware looks at no block where word 0 goes to the root or to all lanes.
        if template.roots <= 1 and blocks.any() and (everyone or any(operation.field(name) for name in _ROOT_TARGETS)):
            raise ScheduleFault(f"the stream's '{strand.comment}' has a block other than 0 for the root or all lanes")
        group = np.arange(max(1, template.roots))[:, None]
        lane = np.arange(template.lanes)
        for field, memory in (*_LANE_TARGETS.items(), *_ROOT_TARGETS.items()):
            if not operation.field(field):
                continue
            if address.window != memory.endswith("data"):
                raise ScheduleFault(f"the stream's '{strand.comment}' has a window for {memory}, or none")
            if field in _ROOT_TARGETS:
                word = np.where(same, 0, group)
            elif everyone:
                word = np.where(same, 0, group) + 0 * lane
            else:
                word = np.where(same, 0, group * template.lanes) + lane
            words = memories.get(memory, np.zeros((0, 1, 1), dtype=np.int64))
            if at.min() < 0 or at.max() >= len(words):
                raise ScheduleFault(f"the stream's '{strand.comment}' leaves {memory}")
            for block in np.unique(blocks).tolist():
                beats = np.flatnonzero(blocks == block)[:, None]
                groups, lanes = np.nonzero(word // width == block)
                words[at[beats], groups, lanes] = sent[beats, word[groups, lanes] % width]

    def _compare(self, key: Key, memories: dict[str, Residues]) -> None:
        """Compare the words of a place with those it should hold, and remove them from the memories."""
        wanted, place = self._image(key), self.schedule.layout.places[key]
        for bank in place.banks:
            memory = f"root {bank}" if place.spot.kind == "root" else bank
            words = memories[memory][place.base : place.base + place.words]
            wrong = (words != wanted) & (wanted != POISON)
            if wrong.any():
                at, group, lane = np.argwhere(wrong)[0].tolist()
                word = int(words[at, group, lane])
                found = "nothing" if word == _NOTHING else self.images.expected.named(word, group)
                meant = self.images.name((key, False), at, lane)
                raise ScheduleFault(f"{self.what} puts {found} where {meant} lies, into {memory}[{place.base + at}]")
            words[...] = _NOTHING


@dataclass(frozen=True, slots=True, eq=False)
class _DumpMemory:
    """The memories while models are read back: each lane and each root has one word, at the window.

    In the memories `wide` it is a stored integer.
    """

    template: Template
    wide: frozenset[str]

    def read(
        self,
        asked: Asked,
        lanes: slice,
        active: Active | None,
        name: str,
        *,
        stored: bool = False,
    ) -> Residues:
        """The words at the window."""
        memory, at = asked.memory, asked.at
        if not asked.window or at.any():
            raise ScheduleFault(f"'{name}' reads {memory} at another address than that of the window")
        if stored and memory not in self.wide:
            raise ScheduleFault(f"'{name}' takes guard bits from {memory}, which has none")
        groups, at_root = max(1, self.template.roots), memory.startswith("root ")
        words = residues.drawn(f"dump {memory}", (1, groups, 1 if at_root else self.template.lanes))
        words = words if stored or memory not in self.wide else residues.upper(words)
        own = words if at_root else words[:, :, lanes]
        return np.broadcast_to(own, (len(at), *own.shape[1:]))

    def gathered(self, asked: Asked, position: Residues, name: str) -> Residues:
        """Nothing is gathered while models are read back."""
        raise ScheduleFault(f"'{name}' gathers")


def check_borders(images: Images) -> None:
    """Raise `ScheduleFault` if samples, models or what is read back come to lie at other places than the host's."""
    schedule = images.schedule
    layout = schedule.layout
    _Beats(images, schedule.stream_sample, tuple(streamed(layout)), "a sample").check()
    _Beats(images, schedule.stream_load, tuple(loaded(layout)), "a load").check()
    if sum(strand.iterations for strand in schedule.stream_sample) != schedule.beats:
        raise ScheduleFault(f"a sample has other beats than {schedule.beats}")
    _check_dump(schedule, images)


def _left(machine: Machine, write: Write) -> Residues:
    """The words of a write that leave, of each group: results, or their guard bits."""
    words = machine.taken(write.sources)[:, :, 0]
    return residues.guard(words) if write.operation.field("wide") else words


def _check_dump(schedule: Schedule, images: Images) -> None:
    """A token of the dump program gives the word at the window of each lane in turn, then the root's; with wide models
    the guard bits of all these follow.
    """
    template, regions = schedule.template, images.regions.all()
    wide = frozenset(name for name, held in regions.items() if any(images.wide(region.key) for region in held))
    memory = _DumpMemory(template, wide)
    machine = Machine.of(schedule, by_unit(schedule.dump, template.sequencers), memory)
    puts = [write for write in machine.wiring.writes if write.operation.field("to_output")]
    if len(puts) != len(machine.wiring.writes) or any(write.operation.field("to_memory") for write in puts):
        raise ScheduleFault("a dump writes more than what leaves")
    groups = max(1, template.roots)
    cycles = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *(write.cycles for write in puts)]))
    order = np.argsort(np.concatenate([np.zeros(0, dtype=np.int64), *(write.cycles for write in puts)]), kind="stable")
    words = np.concatenate(
        [np.zeros((0, groups), dtype=np.int64)]
        + [np.broadcast_to(_left(machine, w), (len(w.cycles), groups)) for w in puts]
    )[order]
    at, places = np.zeros(1, dtype=np.int64), (("model", slice(0, template.lanes)), ("root memory", slice(0, 1)))
    asked = {name: Asked(memory=name, at=at, when=(0, 0), window=True) for name, _ in places}
    wanted = [memory.read(asked[name], lanes, None, "dump")[0].T for name, lanes in places]
    for name, lanes in places if wide else ():
        stored = memory.read(asked[name], lanes, None, "dump", stored=name in wide)
        wanted.append(residues.guard(stored[0].T))
    size = dump_words(template, schedule.mapped.model_guard)
    if not np.array_equal(words, np.concatenate(wanted)) or words.size != size:
        raise ScheduleFault("a dump gives other words than those of each lane and of the root")
    if len(cycles) > 1 and int(np.diff(cycles).min()) < groups:
        raise ScheduleFault("words of a dump leave before those before them have left")
