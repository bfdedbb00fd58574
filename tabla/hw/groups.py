"""All tap groups of an accelerator, and the trees over them."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Module, Signal

from tabla.hw.drive import Drive
from tabla.hw.group import Group
from tabla.hw.lane import LaneShape
from tabla.hw.pipeline import delayed
from tabla.hw.root import Root
from tabla.hw.routing import Routing
from tabla.hw.sharing import numbered, placed
from tabla.hw.stream import Stream
from tabla.hw.tree import Tree, levels
from tabla.program.image import FirstWords
from tabla.templates.stages import wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Joins the lanes to what drives them, to the stream and to the roots.

    `drives` has one entry for each sequencer of the lanes. With several `roots` there is a group for each root. The
    lanes of `shape` may have shorter words than the stream, if only the root has wide models. `first` is what the
    memories start with.
    """

    shape: LaneShape
    drives: list[Drive]
    stream: Stream
    roots: list[Root]
    first: FirstWords | None = None

    @property
    def _size(self) -> int:
        """The lanes of a group."""
        return self.shape.parameters.pes_per_pu

    @property
    def _count(self) -> int:
        return self.shape.parameters.pes // self._size

    @property
    def _words(self) -> int:
        """The words of the stream that reach a group, each on wires of its own."""
        size, beat = self._size, self.shape.parameters.stream_words
        # Where lanes and words of a beat divide each other, a group gets each of its words once.
        aligned = size % beat == 0 or beat % size == 0
        return min(size, beat) if aligned else size

    def join(self, m: Module, platform: Any) -> Any:
        """Make the groups, the tree over them and all wires, and return the overflows: a bit for each group."""
        shape, drives, roots = self.shape, self.drives, self.roots
        parameters, size, groups = shape.parameters, self._size, self._count
        # The stream gives words and enables in one cycle.
        later = wanted("lane_write", "stream_word") - wanted("lane_write", "stream_enable")
        # Lanes without wide models take the words alone.
        own_bits = slice(parameters.model_guard - shape.guard, None)
        from_stream = [word[own_bits] if parameters.model_guard > shape.guard else word for word in self.stream.words]
        stream_words = [delayed(m, word, later, name=f"stream_word_{k}") for k, word in enumerate(from_stream)]
        extremes = shape.extremes and len(drives) == 1
        m.submodules.tree = tree = Tree(
            leaves=groups, width=parameters.accumulator, extremes=extremes, clears=len(roots) > 1
        )
        if extremes:
            m.d.comb += tree.extreme.eq(delayed(m, drives[0].extreme, levels(size), name="extreme_above"))
        overflows, sums = Signal(groups), []
        kinds: dict[tuple[tuple[int, ...], ...], str] = {}
        for g in range(groups):
            lanes = range(g * size, (g + 1) * size)
            own = [lane * len(drives) // parameters.pes for lane in lanes]
            drivers = tuple(number - own[0] for number in own) if len(drives) > 1 else ()
            group = Group(shape, words=self._words, drivers=drivers, first=self._first(lanes), begin=lanes.start)
            kind = (drivers, shape.kinds[lanes.start : lanes.stop])
            kinds.setdefault(kind, numbered("pu", len(kinds)))
            sums.append(group.sum)
            m.submodules[f"group_{g}"] = placed(platform, kinds[kind], group)
            self._drive(m, g, group, drives[own[0] : own[-1] + 1])
            m.d.comb += [tree.words[g].eq(group.sum), overflows[g].eq(group.overflow)]
            self._feed(m, g, group, from_stream, stream_words, later)
        self._trees(m, tree, sums)
        return overflows

    def _first(self, lanes: range) -> list[dict[str, tuple[int, ...]]]:
        """Return what the memories of some lanes start with, by memory; nothing if they are empty."""
        first = self.first
        return [] if first is None else [{name: each[lane] for name, each in first.lanes.items()} for lane in lanes]

    def _drive(self, m: Module, g: int, group: Group, mine: list[Drive]) -> None:
        """Give a group the wires of its sequencers, and the bus of its root."""
        for place, drive in zip(group.sets, mine, strict=True):
            m.d.comb += [getattr(getattr(group, place), name).eq(value) for name, value in drive.controls.items()]
        if len(self.roots) > 1:
            m.d.comb += group.controls.bus.eq(self.roots[g].bus)
            if g == 0:
                m.d.comb += [getattr(group.controls, name).eq(value) for name, value in self.drives[0].first.items()]
        if group.drivers:
            m.d.comb += group.up.eq(Cat(drive.up for drive in mine))
        m.d.comb += [
            group.first_lane.eq(g * self._size % self.shape.parameters.lanes),
            group.sense.eq(Cat(drive.sense for drive in mine) if group.drivers else mine[0].sense),
            *([group.extreme.eq(mine[0].extreme)] if group.extremes else []),
        ]

    def _feed(
        self, m: Module, g: int, group: Group, from_stream: list[Any], stream_words: list[Any], later: int
    ) -> None:
        """Give a group its words of the stream. `stream_words` are those of `from_stream`, `later` cycles on."""
        size, words, stream = self._size, self._words, self.stream
        if len(self.roots) > 1:
            routing = Routing(stream=stream, words=tuple(from_stream), lanes=self.shape.parameters.lanes)
            m.d.comb += [group.stream_enable[k].eq(routing.enable(g, k)) for k in range(size)]
            for k in range(words):
                word = delayed(m, routing.word(g, k), later, name=f"stream_word_{g}_{k}")
                m.d.comb += group.stream_words[k].eq(word)
            return
        beat = len(stream_words)
        m.d.comb += [group.stream_enable[k].eq(stream.block[(g * size + k) // beat]) for k in range(size)]
        m.d.comb += [group.stream_words[k].eq(stream_words[(g * size + k) % beat]) for k in range(words)]

    def _trees(self, m: Module, tree: Tree, sums: list[Any]) -> None:
        """Give the trees' words to the roots, each with its sense, which a root needs a cycle earlier than the word.

        Groups of several sequencers have undone the complement already.
        """
        drives, roots = self.drives, self.roots
        if len(drives) > 1:
            m.d.comb += roots[0].tree.eq(tree.sum)
            return
        # The ranks of registers in each group.
        below = levels(self._size)
        shown = wanted("lane_issue", "inverted") + Group.FANOUT
        before = delayed(m, drives[0].inverted, shown - 1, name="sense_before")
        # Entry n: the sense of words that are n registers behind the accumulators, from one register before them.
        chain = [before, drives[0].sense]
        for cycle in range(below + levels(tree.leaves)):
            chain.append(delayed(m, chain[-1], 1, name=f"sense_{cycle}"))
        m.d.comb += tree.inverted.eq(chain[below + 1].replicate(len(tree.inverted)))
        if len(roots) == 1:
            m.d.comb += [roots[0].tree.eq(tree.sum), roots[0].tree_inverted.eq(chain[-2])]
            return
        # The tree takes the clear in the cycle before its word.
        cleared = wanted("root_issue", "array") - 1
        m.d.comb += tree.clear.eq(~delayed(m, roots[0].control.array, cleared, name="array_wanted"))
        for root, own in zip(roots, sums, strict=True):
            m.d.comb += [
                root.tree.eq(own),
                root.tree_inverted.eq(chain[below]),
                root.array.eq(tree.sum),
                root.array_inverted.eq(chain[-2]),
            ]
