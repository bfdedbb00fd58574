"""Graph and template to schedule: candidates are scheduled exactly, the fastest is kept, checked and returned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.ir.work import multiplies
from tabla.mapping.changes import at_hand
from tabla.mapping.partition import cuts, partition
from tabla.mapping.places import ALL, ROOT
from tabla.mapping.search import Mapping, Search, operands_of_functions
from tabla.mapping.spans import distinct, divisors, spread_out
from tabla.passes.legalise.addresses import addresses
from tabla.passes.legalise.boxes import boxes, kept
from tabla.passes.legalise.known import known
from tabla.passes.legalise.materialise import Materialised, materialise
from tabla.passes.legalise.snapshot import snapshot
from tabla.schedule.borders import Border
from tabla.schedule.capacity import refuse_excess
from tabla.schedule.check import check
from tabla.schedule.improve import Merit
from tabla.schedule.list_scheduler import ListScheduler, Placed, all_strands
from tabla.schedule.period import period_of
from tabla.schedule.port import Port
from tabla.schedule.schedule import Schedule
from tabla.schedule.starts import chosen, judged
from tabla.source import Label, TablaError
from tabla.strands.banks import banked
from tabla.strands.builder import Builder
from tabla.strands.fused import rising
from tabla.strands.layout import Depths, Layout, allocate
from tabla.strands.leaving import at_once
from tabla.strands.regions import MOST, TooLarge
from tabla.strands.site import Site
from tabla.strands.strand import Strand
from tabla.strands.streams import dump_strands, dump_words, load_strands, sample_strands, widest
from tabla.templates.template import Template, limits, timing

CANDIDATES, RIDING = 6, 3
"""Mappings to schedule exactly, by an estimate; where there are functions some more by one that knows how they ride."""
CUTS = 2
LEAST_LANES = 4
ROOTS = (2, 4, 8)
"""What is tried beside one root. Sixteen save cycles and lose more in clock (decision 7)."""
ROOT_PRICE = 0.6
"""How many lanes a root weighs against cycles; it takes the room of two to three."""
SEQUENCERS = (2, 4)
SEQUENCER_PRICE = 1.5
"""The same for a sequencer: strand memory, loops and generators of its two units, 300 to 400 LUT4."""
BESIDE = 2
"""Of so many mappings it is tried what comes of sequencers."""


def schedule_graph(graph: Graph, template: Template, format: Format) -> Schedule:
    """The fastest schedule found.

    Raises `TablaError` when a memory of the template is too small, and for what the machine cannot compute yet.
    """
    refuse_excess(graph, template)
    plain = known(snapshot(addresses(boxes(graph, format, kept(graph)), format)), format)
    whole = materialise(plain.graph, format)
    whole = replace(whole, words={**whole.words, **plain.words})
    one = template.with_roots(1).with_sequencers(max(1, template.sequencers))
    found = [(_one_root(graph, whole, one, format), whole)]
    found += [([made], whole) for made in _side_by_side(graph, whole, template, format)]
    for roots in _roots(template):
        for cut in cuts(whole.graph, roots)[:CUTS]:
            part = replace(whole, graph=partition(whole.graph, cut, roots))
            found.append((_fastest(graph, part, one.with_roots(roots), format), part))
    best = _best(graph, found, format)
    _limits(best, template)
    check(best)
    return best


def _candidates(search: Search, template: Template) -> list[Mapping]:
    """What is worth being scheduled: the best over all lanes, and, of several sequencers, what runs side by side."""
    whole = search.candidates(CANDIDATES)
    if operands_of_functions(search.graph):
        riding = Search(search.graph, pes=search.pes, sequencers=search.sequencers, riding=True)
        whole = distinct([*whole, *riding.candidates(RIDING)])
    if template.sequencers == 1:
        return whole
    return distinct([*whole, *_beside(search.graph, template, CANDIDATES, divisors(template.sequencers))])


def _beside(graph: Graph, template: Template, most: int, widths: Sequence[int]) -> list[Mapping]:
    """Mappings whose clusters have lanes of their own, those of so many sequencers at least.

    What samples bring lies in the lanes, too: over the bus it comes to one cluster at a time.
    """
    pes, sequencers = template.pes, template.sequencers
    found = Search(graph, pes=pes, sequencers=sequencers, beside=True).candidates(most)
    return distinct(
        [
            spread_out(mapping, graph, pes=pes, sequencers=sequencers, least=least)
            for each in found
            for mapping in (each, at_hand(each, graph))
            for least in widths
        ]
    )


def _side_by_side(graph: Graph, material: Materialised, template: Template, format: Format) -> Iterator[Schedule]:
    """Where the tool chooses: schedules on arrays with several sequencers, each part of the graph in its own lanes."""
    if template.sequencers or template.roots > 1:
        return
    for sequencers in SEQUENCERS:
        if template.pes % sequencers or template.pes // sequencers < LEAST_LANES:
            continue
        array = template.with_roots(1).with_sequencers(sequencers)
        for mapping in _beside(material.graph, array, BESIDE, (1,)):
            if any(fit.span != ALL for fit in mapping.fits):
                made = schedule_mapping(graph, material, mapping, array, format)
                if made is not None:
                    yield made


def _roots(template: Template) -> tuple[int, ...]:
    """Numbers of roots to try beside one: what the template says, or `ROOTS`."""
    if template.sequencers > 1:
        return ()
    if template.roots:
        return (template.roots,) if template.roots > 1 else ()
    return tuple(n for n in ROOTS if template.pes % n == 0 and template.pes // n >= LEAST_LANES)


def _one_root(graph: Graph, material: Materialised, template: Template, format: Format) -> list[Schedule]:
    made = _fastest(graph, material, template, format)
    if not made:
        search = Search(material.graph, pes=template.pes, sequencers=template.sequencers)
        alone = schedule_mapping(graph, material, search.at_root(), template, format)
        made = [alone] if alone else []
    if not made:
        raise _too_large(graph)
    return made


def _too_large(graph: Graph) -> TablaError:
    """What stops every mapping, the root alone too."""
    message = f"the program is too large: it needs a memory of more than {MOST:,} words"
    return TablaError(message, *_largest(graph), hint="use more PEs, or smaller sizes")


def _largest(graph: Graph) -> tuple[Label, ...]:
    """Points at the tensor that takes most."""
    largest = max(graph.tensors.values(), key=lambda t: t.size)
    return (Label(largest.span, "the largest tensor"),) if largest.span else ()


def _fastest(graph: Graph, material: Materialised, template: Template, format: Format) -> list[Schedule]:
    """Schedules of the mappings that look best, the fastest first."""
    search = Search(material.graph, pes=template.lanes, sequencers=template.sequencers)
    made = (schedule_mapping(graph, material, each, template, format) for each in _candidates(search, template))
    return sorted((schedule for schedule in made if schedule is not None), key=_merit)


def _best(graph: Graph, found: Sequence[tuple[Sequence[Schedule], Materialised]], format: Format) -> Schedule:
    """The best of schedules that were found, after changes that only an exact one can judge.

    `found`: for each number of roots, and cut, the fastest first.
    """

    def again(part: Materialised, template: Template, mapping: Mapping) -> Schedule | None:
        return schedule_mapping(graph, part, mapping, template, format)

    starts = [judged(made, part.graph, partial(again, part, made[0].template), _merit) for made, part in found if made]
    worth = chosen(starts, len(graph.statements), multiplies(graph, format))
    return min((start.improved(_merit) for start in worth), key=_merit)


def _merit(schedule: Schedule) -> Merit:
    """Cycles, weighed with what roots and sequencers add to the array; then vectors that lanes take as they are made,
    latency and microcode.

    What does not fit counts twice: its error tells a user more than a schedule that leaves most of the array idle.
    Words straight from the root's result make long wires: where they save no cycle they are not worth them.
    """
    template = schedule.template
    too_large = any(limit and need > limit for need, limit, _ in _needs(schedule, template).values())
    more = ROOT_PRICE * (max(1, template.roots) - 1) + SEQUENCER_PRICE * (template.sequencers - 1)
    price = 1 + more / template.pes
    cycles = schedule.cycles * price * (2 if too_large else 1)
    as_made = sum(fit.as_made for fit in schedule.mapping.fits)
    return cycles, as_made, schedule.latency, schedule.microcode_words


def schedule_mapping(
    graph: Graph, material: Materialised, mapping: Mapping, template: Template, format: Format
) -> Schedule | None:
    """One mapping scheduled, not yet checked; None if it cannot be.

    On one sequencer where the template names none.
    """
    template = template.with_sequencers(max(1, template.sequencers))
    layout = banked(material.graph, mapping, template)
    if layout is None:
        return None
    depths = allocate(layout)
    site = Site.of(material.graph, mapping, layout, template, format)
    if _dropped(layout, rising(site).values()):
        depths = allocate(layout)
        site = Site.of(material.graph, mapping, layout, template, format)
    builder = Builder(site)
    try:
        tasks = builder.tasks()
    except TooLarge:
        return None
    if _dropped(layout, site.passing(builder.left)):
        # Without places for them once more, the same but for addresses.
        depths = allocate(layout)
        site = Site.of(material.graph, mapping, layout, template, format)
        tasks = Builder(site).tasks()
    models = frozenset(
        ((m, mapping.homes[m]), False) for m in material.graph.updates if (m, mapping.homes[m]) in layout.places
    )
    placed = ListScheduler(tasks, models, sequencers=template.sequencers, waves=mapping.waves).run()
    if placed is None:
        return None
    return assemble(graph, material, mapping, layout, depths, placed, site.shifts, template, format)


def _dropped(layout: Layout, tensors: Iterable[str]) -> bool:
    """Whether there were places at the root of tensors of which nobody reads a word there: they are gone."""
    places = {(tensor, ROOT) for tensor in tensors} & layout.places.keys()
    for key in places:
        del layout.places[key]
    return bool(places)


def assemble(
    graph: Graph,
    material: Materialised,
    mapping: Mapping,
    layout: Layout,
    depths: Depths,
    placed: list[Placed],
    shifts: tuple[int, ...],
    template: Template,
    format: Format,
) -> Schedule:
    """Period, borders, streams and figures around placed tasks."""
    laws = timing()
    strands = all_strands(placed)
    port = Port.of(
        strands,
        at_once(material.graph, template),
        period_of(placed, material.graph, mapping, layout, sequencers=template.sequencers),
    )
    period = port.period
    last_data = max((t for p in placed for t in _data_reads(p)), default=0)
    release = laws.front + last_data + 1
    stops = [s.final for s in strands if s.unit.endswith("write")]
    end = max(stops, default=0)
    width = _stream_words(layout, template, period)
    streams = sample_strands(layout, width, template)
    beats = sum(s.iterations for s in streams)
    border = _ring(
        Border(beats=beats, slots=template.ring_slots, release=release, period=period), depths.data, template
    )
    cycles = border.cycles(laws)
    # Groups with results of their own: what all have leaves from each of them too.
    words = port.each * sum(material.graph.tensors[t].size for _, t in graph.results)
    finish = _last_update(strands) if graph.updates else port.last
    # Both ends count: the first word's cycle and the last update's.
    latency = (beats - 1 + laws.ready if beats else 0) + laws.front + finish + 1
    dump = dump_strands(layout, template)
    return Schedule(
        graph=graph,
        mapped=material.graph,
        constants=material.words,
        mapping=mapping,
        layout=layout,
        depths=depths,
        template=template,
        format=format,
        shifts=shifts,
        placed=tuple(placed),
        strands=tuple(strands),
        dump=tuple(dump),
        stream_sample=tuple(streams),
        stream_load=tuple(load_strands(layout, width, template)),
        stream_words=width,
        ring_slots=border.slots,
        period=period,
        release=release,
        beats=beats,
        outputs=words,
        output_depth=max(dump_words(template), port.depth),
        end=end,
        cycles=cycles,
        latency=latency,
    )


def _data_reads(placed: Placed) -> list[int]:
    """The last cycle in which each access of a placed task reads streamed words."""
    out = []
    for strand in placed.strands():
        for slot, operation in enumerate(strand.body):
            if any(a.window for a in operation.addresses.values()):
                out.append(int(strand.cycles(slot)[-1]))
    return out


def _last_update(strands: Sequence[Strand]) -> int:
    return max(s.final for s in strands if any(o.field("model") for o in s.body))


def _stream_words(layout: Layout, template: Template, period: int) -> int:
    """The template's width, or the smallest power of two that does not bind."""
    if template.stream_words:
        return template.stream_words
    width = 1
    while width < widest(template) and sum(s.iterations for s in sample_strands(layout, width, template)) > period:
        width *= 2
    return width


def _ring(border: Border, words: int, template: Template) -> Border:
    """The fewest slots, from the template's on, with which the ring does not bind; as many as a lane has words for."""
    laws = timing()
    aim = max(border.period, border.beats)
    # The recurrence of the controller in one line (decision 3, 3.7); the candidates are counted by itself.
    enough = -(-(border.beats + laws.ready + border.release) // aim)
    room = template.data_words // words if template.data_words and words else enough
    most = max(border.slots, min(enough, room, limits().ring_slots))
    tries = [replace(border, slots=k) for k in (border.slots, *range(max(border.slots, most - 2), most + 1))]
    return min(tries, key=lambda b: (max(aim, b.cycles(laws)), b.slots))


def _needs(schedule: Schedule, template: Template) -> dict[str, tuple[int, int, str]]:
    """(words needed, words there or 0, option) of each memory of a lane."""
    return {
        "model": (schedule.depths.model, template.model_words, "--model-words"),
        "data": (schedule.depths.data * schedule.ring_slots, template.data_words, "--data-words"),
        "interim": (schedule.depths.interim, template.interim_words, "--interim-words"),
    }


def _limits(schedule: Schedule, template: Template) -> None:
    for name, (need, limit, option) in _needs(schedule, template).items():
        if limit and need > limit:
            raise TablaError(
                f"the program needs {need} words of {name} memory per PE, the template has {limit}",
                *_largest(schedule.graph),
                hint=f"use {option} {need} or more PEs",
            )
