"""Golden vectors: the samples with which the test bench of ``tabla gen`` tries the Verilog, and what they must give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError
from tabla.build.arrays import initial_models, shapes_of
from tabla.build.bench.golden_file import container, signed
from tabla.build.bench.mutated_microcode import mutated_programs
from tabla.build.rate import built_rate, with_mantissa
from tabla.build.stages import Stages
from tabla.graph.evaluate import FixedPlan, Run, Words
from tabla.graph.format import Format
from tabla.graph.positions import Range, valid_positions
from tabla.graph.rate import RATE
from tabla.graph.words import WordType
from tabla.hw.reset import reset_cycles
from tabla.program.host import Host, halves, result_elements
from tabla.program.image import Image
from tabla.schedule.placing.borders import Border
from tabla.schedule.strands.streams import dump_words
from tabla.sim.compare import Stimulus, play
from tabla.sim.machine import Stalls
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import timing

GivenWords = Callable[[], tuple[Mapping[str, Words], Mapping[str, Words]]]
"""Returns the words of models and of steps by name, those of steps with a leading axis of steps."""
Parts = tuple[Words, ...]
"""The words of a model, and of a wide model also those with its guard bits."""
Marks = NDArray[np.bool_]
SAMPLES, SEED = 4, 1
REST = 5
"""The cycles after each command in which the test bench looks whether the machine rests."""
THOROUGH = 4_000
"""The most cycles of a load, a run and a dump for which the test bench plays more than these three."""
MORE, LONGEST = 20, 4_000
"""The samples of the longest run of the test bench, and the most cycles that it may take."""
PAUSES = Stalls(inputs=(0, 2, 0, 0, 1, 3, 0), outputs=(0, 1, 0, 3, 0, 0, 2))
"""The cycles for which the test bench holds back beats and words."""
EVENTS = ("outputs", "starts", "first_words", "last_words", "updates", "leaves")
DRAWS = 100
"""How often integers are drawn until no position that they give lies outside its tensor."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Played:
    """The words of models and samples, each with a leading axis of samples, and what the evaluation makes of them."""

    models: Mapping[str, Words]
    samples: Mapping[str, Words] = field(repr=False)
    run: Run = field(repr=False)


def golden(build: Stages, given: GivenWords | None = None) -> dict[str, Any] | None:
    """Return the golden vectors of the test bench: samples as beats, and the words that must come of them.

    The samples are random. Integers that give positions are drawn so that the positions lie in their tensors. If none
    of `DRAWS` draws does, the words are those that `given` returns. Without `given` the result is None.

    The expected words come from the fixed-point evaluation, and the expected period from the recurrence in
    :mod:`tabla.schedule.placing.borders`. So a large program needs no simulation here. Arrays of two axes hold beats,
    a row of words each, and those of one axis words. `dump` is a whole dump, in which only those words have a meaning
    that `shown` marks. `predictions` are what comes of a prediction after all samples.

    The bench of a program of few cycles is thorough. Only there `extremes` has a second series, of models and samples
    with words from the whole range of the format, and `predictions` a second one, after some of its samples.
    """
    played = _played(build, given)
    if played is None:
        return None
    image, schedule, width = build.image, build.schedule, build.format.width
    host = Host(schedule)
    border = Border(
        beats=schedule.beats,
        slots=schedule.ring_slots,
        release=schedule.release,
        initiation_interval=schedule.initiation_interval,
        stages=schedule.stages,
    )
    _, starts = border.tokens(SAMPLES, timing())
    load = image.stream_load.beats
    words = host.dump_count * dump_words(schedule.template, image.parameters.model_guard)
    # Every event at the ports comes within one of these times, also where a dump or a load is longer than a sample.
    patience = 4 * (schedule.latency + schedule.initiation_interval + schedule.beats + load) + 2 * words + 200
    once = starts[-1] + schedule.latency + load + 2 * words
    more = most_samples(border, schedule.latency)
    places, shown = _dumped(host, words)
    series = _series(build, host, played, places, words)
    begins = image.first is not None and image.first == host.first_words(played.models, image.parameters)
    return {
        "schema": "tabla-golden-2",
        "reset_cycles": reset_cycles(image),
        "width": width,
        "port_words": image.parameters.port_words,
        "sample_beats": image.stream_run.beats,
        **series,
        "shown": shown,
        "dump_count": host.dump_count,
        "dump_words": words,
        "dump_period": image.dump.period,
        "program": [[f"{word:x}" for word in memory] for memory in _microcode(image)],
        "period": starts[-1] - starts[-2],
        "starts": [start - starts[0] for start in starts],
        "latency": schedule.latency,
        "updates": list(schedule.update_cycles),
        # The cycles from the host's offer of a command to its first beat or token, and from its last one to its end.
        "first_event": timing().front + 2,
        "drains": [timing().front + cycles for cycles in (0, image.run.drain, image.dump.drain)],
        "patience": patience,
        "most": 20 * patience,
        "rest": REST,
        # The memories start with the models of this series.
        **({"preloaded": True} if begins else {}),
        "thorough": once <= THOROUGH,
        "input_pauses": PAUSES.inputs,
        "output_pauses": PAUSES.outputs,
        **(
            _thorough(build, host, played, (places, shown), more, once)
            if once <= THOROUGH
            else _short(build, host, played)
        ),
    }


def _short(build: Stages, host: Host, played: Played) -> dict[str, Any]:
    """Return what the bench of a program of many cycles has beside its first series."""
    predictions = list(_predictions(build, host, [(played, SAMPLES)], counts=False))
    return {"predictions": predictions, "predicted": [], "trials": []}


def _thorough(
    build: Stages, host: Host, played: Played, dump: tuple[Mapping[str, Parts], Marks], more: int, once: int
) -> dict[str, Any]:
    """Return what the bench of a program of few cycles has beside its first series.

    `dump` are the places of models in a dump and the marks of the words that have a meaning; `more` is the number of
    samples of the longest run, and `once` the cycles of a load, a run and a dump.
    """
    image, extreme = build.image, _extreme(build, played)
    places, shown = dump
    return {
        "extremes": _series(build, host, extreme, places, len(shown)),
        "predictions": list(_predictions(build, host, [(played, SAMPLES), (extreme, SAMPLES // 2)], counts=True)),
        "predicted": list(_predicted(image, host, (played, extreme), more)),
        "trials": list(_trials(image, host, played, np.flatnonzero(shown).tolist(), once)),
    }


def _dumped(host: Host, words: int) -> tuple[Mapping[str, Parts], Marks]:
    """Return the places of each model's words in a dump of so many `words`, and which words of a dump those are."""
    # A dump whose words are their own positions tells where each model word lies in a dump.
    places = host.dumped(np.arange(words, dtype=np.int32)) if words else {}
    shown = np.zeros(words, dtype=np.bool_)
    for parts in places.values():
        for part in parts:
            shown[part] = True
    return places, shown


def _series(build: Stages, host: Host, played: Played, places: Mapping[str, Parts], words: int) -> dict[str, Any]:
    """Return samples as beats, their results, and the dump of so many `words` after them.

    `places` are those of each model's words in the dump; the others are 0.
    """
    graph, width, expected = build.graph, build.format.width, played.run
    dump = np.zeros(words, dtype=container(width))
    for name, parts in places.items():
        held, guard = expected.models[name], graph.tensors[name].guard
        for at, words_of_part in zip(parts, halves(held, guard, width) if guard else (held,), strict=True):
            dump[at] = words_of_part
    nothing = np.zeros((0, build.image.parameters.stream_words), dtype=dump.dtype)
    return {
        "load": np.concatenate([nothing, *(signed(part, width) for part in host.load_parts(played.models))]),
        "samples": SAMPLES,
        "run": signed(host.sample_beats(played.samples), width),
        "outputs": signed(_outputs(build, host, expected.kept), width),
        "dump": dump,
    }


def _predictions(
    build: Stages, host: Host, series: Sequence[tuple[Played, int]], *, counts: bool
) -> Iterator[dict[str, Any]]:
    """Yield what a prediction gives after a number of samples of each series; nothing for an array that does not
    predict.
    """
    if build.image.parameters.predicts:
        for played, first in series:
            yield prediction_series(build, host, played, first, counts=counts)


def prediction_series(build: Stages, host: Host, played: Played, first: int, *, counts: bool) -> dict[str, Any]:
    """Return what a prediction gives after the `first` samples of a series: all samples as beats, with any words in the
    places of labels, and the results of each with the models that the first samples have left. With `counts`, also how
    far the counters go on, which the cycle model says.
    """
    image, number = build.image, build.format
    plan = FixedPlan.of(build.lowered, number)
    plan.load(played.models)
    shown = [tensor for _, tensor in build.lowered.results]
    models = plan.run(_samples(played, slice(first)), shown, first).models
    kept: dict[str, list[Words]] = {tensor: [] for tensor in shown}
    for step in range(SAMPLES):
        plan.load(models)
        for tensor, words in plan.run(_samples(played, slice(step, step + 1)), shown, 1).kept.items():
            kept[tensor].append(words)
    held = {tensor: np.concatenate(parts) for tensor, parts in kept.items()}
    rows = host.sample_beats(played.samples).reshape(SAMPLES, -1)
    chance = np.random.default_rng(SEED + 2)
    rows[:, host.ignored] = chance.integers(number.lowest, number.highest, (SAMPLES, len(host.ignored)), endpoint=True)
    beats = rows.reshape(-1, image.parameters.stream_words)
    outputs = signed(_outputs(build, host, held), number.width)
    found = {"first": first, "run": signed(beats, number.width), "outputs": outputs}
    if not counts:
        return found
    model = CycleModel(image)
    if image.stream_load.beats:
        model.load(host.load_beats(played.models))
    before = astuple(model.run(host.sample_beats(_samples(played, slice(first))), first).counters)
    after = astuple(model.predict(beats, SAMPLES).counters)
    return {**found, "counters": [late - early for early, late in zip(before, after, strict=True)]}


def _samples(played: Played, part: slice) -> dict[str, Words]:
    """Return the words of some of the samples."""
    return {name: words[part] for name, words in played.samples.items()}


def _outputs(build: Stages, host: Host, kept: Mapping[str, Words]) -> Words:
    """Return the words that leave, given the tensors that are returned after each sample."""
    whole = {name: kept[tensor].reshape(SAMPLES, -1) for name, tensor in build.lowered.results}
    results = [whole[name][:, places] for name, places in result_elements(host.schedule)]
    return np.concatenate([*results, np.zeros((SAMPLES, 0), dtype=np.int64)], axis=1).reshape(-1)


def _microcode(image: Image) -> list[tuple[int, ...]]:
    """Return the words of each microcode memory, in the order of their numbers at the program port."""
    words = [image.strands[unit] if kind == "strands" else image.operations[unit] for unit, kind in image.memories]
    return [tuple(word & ((1 << 128) - 1) if word < 0 else word for word in memory) for memory in words]


def most_samples(border: Border, latency: int) -> int:
    """Return how many samples, `MORE` at most, a run has that takes at most `LONGEST` cycles; 0 if even one takes more.

    The last sample starts as the border says, and takes so many cycles of `latency`.
    """
    fits = (count for count in range(MORE, 0, -1) if border.tokens(count, timing())[1][-1] + latency <= LONGEST)
    return next(fits, 0)


def _predicted(image: Image, host: Host, series: Sequence[Played], more: int) -> Iterator[dict[str, Any]]:
    """Yield what the cycle model says of a load and a run, for the words of each series, without pauses of the host and
    with them. The first series has another run of as many samples as `more` says, if they are more. Cycles count from
    the first beat, or from the first token.
    """
    longer = [(more, Stalls())] if more > SAMPLES else []
    for number, one in enumerate(series):
        for samples, pauses in ((SAMPLES, Stalls()), (SAMPLES, PAUSES), *([] if number else longer)):
            # After the last sample comes the first one again.
            rows = host.sample_beats(one.samples)
            beats = np.resize(rows, (samples * image.stream_run.beats, rows.shape[1]))
            stimulus = Stimulus(load=host.load_beats(one.models), beats=beats, samples=samples, stalls=pauses)
            (step,) = play(CycleModel(image), stimulus)
            yield {
                "extremes": number,
                "samples": samples,
                "pauses": pauses.inputs,
                "holds": pauses.outputs,
                "seen": {name: getattr(step.result, name) for name in EVENTS},
                "counters": list(astuple(step.result.counters)),
            }


def _trials(image: Image, host: Host, played: Played, shown: Sequence[int], cycles: int) -> Iterator[dict[str, Any]]:
    """Yield trials: the words of the program port that differ from the program, by memory and address, the pauses of
    the host, and what the cycle model says of a run and of the words of models in a dump, whose positions are `shown`.
    The models are those that the run before has left. A trial takes about so many `cycles`.
    """
    model, beats = CycleModel(image), host.sample_beats(played.samples)
    if image.stream_load.beats:
        model.load(host.load_beats(played.models))
    model.run(beats, SAMPLES)
    own = _microcode(image)
    for trial in mutated_programs(image, model, beats, SAMPLES, SEED, cycles):
        yield {
            "changed": [
                [memory, address, f"{word:x}"]
                for memory, (before, after) in enumerate(zip(own, _microcode(trial.image), strict=True))
                for address, (old, word) in enumerate(zip(before, after, strict=True))
                if old != word
            ],
            "pauses": trial.stalls.inputs,
            "seen": {name: getattr(trial.result, name) for name in EVENTS},
            "counters": list(astuple(trial.result.counters)),
            "check": [[position, trial.words[position]] for position in shown],
        }


def _extreme(build: Stages, played: Played) -> Played:
    """Return models and samples with words from the whole range of the format.

    Integers, and a rate, stay as they are.
    """
    chance, number = np.random.default_rng(SEED + 1), build.format
    rate = () if build.lowered.rate is None else (RATE,)

    def any_words(shape: tuple[int, ...]) -> Words:
        # A third lies at either end, so that steps in both directions saturate.
        anywhere = chance.integers(number.lowest, number.highest, shape, endpoint=True)
        which = chance.integers(0, 3, shape)
        return np.where(which == 0, number.lowest, np.where(which == 1, number.highest, anywhere))

    def drawn(held: Mapping[str, Words]) -> dict[str, Words]:
        fixed = {*build.integers, *rate}
        return {name: words if name in fixed else any_words(words.shape) for name, words in held.items()}

    models, samples = drawn(played.models), drawn(played.samples)
    plan = FixedPlan.of(build.lowered, number)
    plan.load(models)
    try:
        run = plan.run(samples, [tensor for _, tensor in build.lowered.results], SAMPLES)
    except TablaError:  # a position outside its tensor
        return played
    return Played(models=models, samples=samples, run=run)


def _played(build: Stages, given: GivenWords | None) -> Played | None:
    """Return the first words that are valid for the program: drawn ones, or those that are given."""
    plan = FixedPlan.of(build.lowered, build.format)
    shown = [tensor for _, tensor in build.lowered.results]
    for models, samples in _candidates(build, given):
        plan.load(models)
        try:
            run = plan.run(samples, shown, SAMPLES)
        except TablaError:  # a position outside its tensor
            continue
        return Played(models=models, samples=samples, run=run)
    return None


def _candidates(build: Stages, given: GivenWords | None) -> Iterator[tuple[Mapping[str, Words], Mapping[str, Words]]]:
    """Yield the words of models and samples to try."""
    graph, number = build.graph, build.format
    chance = np.random.default_rng(SEED)
    reach = min(1.0, number.highest / number.one)
    # Integers are drawn below, where their ranges are known. Errors name a model without its role.
    types = {name: replace(WordType.of(tensor, number), role="") for name, tensor in graph.tensors.items()}
    samples = {
        name: types[name].to_words(chance.uniform(-reach, reach, (SAMPLES, *shape)))
        for name, shape in shapes_of(graph, "input", "label").items()
    }
    shapes = shapes_of(graph, "model")
    own = {name: array for name, array in build.reading.models.items() if name in shapes}
    drawn = {**initial_models(shapes, SEED), **own, **built_rate(graph)}
    models = {name: types[name].to_words(array) for name, array in with_mantissa(graph, number, drawn).items()}
    integers = build.integers & (samples.keys() | models.keys())
    ranges = valid_positions(build.lowered, integers, number)
    for draw in range(DRAWS if integers else 1):
        # Where no range is proven, later draws go further from it.
        slack = draw * 10 // DRAWS
        wider = {n: (low - slack, high + slack) for n, (low, high) in ranges.items()}
        integral = np.random.default_rng([SEED, draw])
        yield _with_integers(models, wider, number, integral), _with_integers(samples, wider, number, integral)
    if given is not None:
        held, steps = given()
        yield held, {name: np.resize(words, (SAMPLES, *words.shape[1:])) for name, words in steps.items()}


def _with_integers(
    words: Mapping[str, Words], ranges: Mapping[str, Range], number: Format, chance: np.random.Generator
) -> dict[str, Words]:
    """Return arrays of words, those that have a range drawn anew as integers of that range."""
    found = dict(words)
    for name in sorted(words.keys() & ranges.keys()):
        low, high = (number.saturate(end) for end in ranges[name])
        found[name] = chance.integers(low, high, words[name].shape, endpoint=True)
    return found
