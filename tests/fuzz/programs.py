"""``make fuzz``: draws programs in every notation, and holds evaluation, compiled evaluation, cycle model and Verilog
against each other.

The programs come from the strategies of the rooms, and hypothesis makes a program that shows a difference smaller. A
run works in blocks, and each finished block is noted in a file, so that a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from tabla.sim.compare import Stimulus, compare
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import Template, template_for

from tabla.backend import schedule_graph
from tabla.compiled.plans import CompiledFixedPlan
from tabla.compiled.text import UnsupportedError
from tabla.ir.evaluate import FixedPlan
from tabla.ir.format import Format
from tabla.ir.graph import Compare, Extreme, Function, Graph, Linear, Product
from tabla.lang.tc import parse as parse_kernel
from tabla.lower.tc import lower as lower_kernel
from tabla.lower.tile import lower as lower_tile
from tabla.mapping.effort import EFFORTS
from tabla.passes.minibatch import minibatched
from tabla.passes.pipeline import PIPELINE, SHAPING, shaped
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.schedule.schedule import Schedule
from tabla.simulation import open_machine
from tabla.source import Source, TablaError
from tests.compiled.interpreted import without_compiler
from tests.ir.graph_strategy import SMALLEST_FRACTION, graphs
from tests.lang.tabla.random_programs import programs
from tests.lang.tc.guarded_kernels import kernels
from tests.lang.tile.random_contractions import contractions
from tests.schedule.agreement import agree_on, draw_words
from tests.schedule.test_random_programs import lowered, shifts_like_updates

BLOCK = 10
"""The programs of a block, all of one notation."""
FORMATS = tuple(Format.parse(text) for text in ("q6.10", "q4.4", "q2.6", "q8.0", "q4.14", "q16.16", "q2.30", "q32.0"))
_PES = (1, 1, 2, 3, 4, 5, 7, 8, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A graph, and the array and the format that it is compiled for. `words` is the seed of its data."""

    notation: str
    graph: Graph
    template: Template
    format: Format
    words: int


@st.composite
def arrays(draw: st.DrawFn) -> Template:
    """Draw an array: often with one PE or a prime number of them, several roots or sequencers, and wide beats."""
    pes = draw(st.sampled_from(_PES))
    divisors = [n for n in range(1, pes + 1) if pes % n == 0]
    options: dict[str, Any] = {"stream_words": draw(st.sampled_from((1, 1, 2, 4)))}
    match draw(st.integers(0, 3)):
        case 0:
            options["pes_per_pu"] = draw(st.sampled_from(divisors))
        case 1:
            options["sequencers"] = draw(st.sampled_from([n for n in divisors if n <= 4]))
    return replace(template_for(pes), **options)


def _tabla(draw: st.DrawFn, format: Format) -> Graph:
    graph = lowered(draw(programs(learns=draw(st.booleans()))), format)
    return minibatched(graph, draw(st.sampled_from((1, 1, 2, 3)))) if graph.updates else graph


def _graph(draw: st.DrawFn, format: Format) -> Graph:
    # The strategy draws shifts to the left of so many bits, which no front end makes of a format with fewer.
    assume(format.fraction >= SMALLEST_FRACTION)
    return draw(graphs().filter(shifts_like_updates))


def _kernel(draw: st.DrawFn, format: Format) -> Graph:
    sizes = {"N": draw(st.integers(1, 5)), "M": draw(st.integers(1, 3))}
    function = parse_kernel(Source.from_text(draw(kernels()).text, "k.tc")).function(None)
    return lower_kernel(function, sizes, number_format=format, name="k", keep=(), results=())


def _tile(draw: st.DrawFn, format: Format) -> Graph:
    return lower_tile(draw(contractions()).traced(), number_format=format, name="k")


# A notation that comes later, such as ONNX, needs a line here, and so do arrays that are overlays.
NOTATIONS: dict[str, Callable[[st.DrawFn, Format], Graph]] = {
    "tabla": _tabla,
    "graph": _graph,
    "tc": _kernel,
    "tile": _tile,
}


@st.composite
def drawn(draw: st.DrawFn, notation: str) -> Drawn:
    """Draw a program of a notation. One that the format or the machine does not take makes no test."""
    format, template = draw(st.sampled_from(FORMATS)), draw(arrays())
    try:
        graph = NOTATIONS[notation](draw, format)
        graph = shaped(graph, format) if draw(st.booleans()) else graph
    except TablaError:
        assume(False)
        raise
    return Drawn(
        notation=notation, graph=graph, template=template, format=format, words=draw(st.integers(0, 1 << 20))
    )


def hold(case: Drawn, engine: str | None) -> Schedule:
    """Hold a program against all witnesses, and against the Verilog on an `engine`, if one is named."""
    inputs, models = draw_words(case.graph, case.format, 3, case.words)
    try:
        judge = FixedPlan.of(case.graph, case.format)
        judge.load(models)
        expected = judge.run(inputs, [tensor for _, tensor in case.graph.results], 3)
        schedule = schedule_graph(case.graph, case.template, case.format, EFFORTS[0])
        agree_on(schedule, seed=case.words)
    except TablaError:  # a program that the array does not hold, or data with a position outside its tensor
        assume(False)
        raise
    _hold_compiled(case, inputs, models, expected)
    if engine is not None:
        image, host = encode(schedule), Host(schedule)
        stimulus = Stimulus(
            load=host.load_beats(models), beats=host.sample_beats(inputs), samples=3, dump=host.dump_count, chunk=2
        )
        with CycleModel(image) as model, open_machine(image, engine, "fuzz") as verilog:
            difference = compare({"model": model, engine: verilog}, stimulus)
        assert difference is None, str(difference)
    return schedule


def _hold_compiled(case: Drawn, inputs: Any, models: Any, expected: Any) -> None:
    try:
        plan = CompiledFixedPlan.of(case.graph, case.format)
    except UnsupportedError:
        return
    plan.load(models)
    found = plan.run(inputs, [tensor for _, tensor in case.graph.results], 3)
    assert found.counts == expected.counts, "counts of the compiled evaluation"
    for kind in ("models", "kept"):
        for name, words in getattr(expected, kind).items():
            np.testing.assert_array_equal(getattr(found, kind)[name], words, err_msg=f"compiled {kind} {name}")


def covered(case: Drawn, schedule: Schedule) -> Counter[str]:
    """Return what a program has tried: operations, passes that change it, and corners of the array."""
    found: Counter[str] = Counter({f"notation {case.notation}": 1, f"format {case.format}": 1})
    for statement in case.graph.statements:
        operation = statement.operation
        match operation:
            case Function(name=name) | Compare(op=name) | Extreme(op=name):
                found[f"operation {name}"] = 1
            case Linear() | Product() if operation.shift:
                found[f"operation {type(operation).__name__.lower()} with a shift"] = 1
            case _:
                found[f"operation {type(operation).__name__.lower()}"] = 1
        found["constraints"] |= int(bool(statement.constraints))
    for each in {*PIPELINE, *SHAPING}:
        if each.function(case.graph, case.format) != case.graph:
            found[f"pass {each.name}"] = 1
    template = schedule.template
    found["several roots"] = int(template.roots > 1)
    found["several sequencers"] = int(template.sequencers > 1)
    found["wide beats"] = int(template.stream_words > 1)
    found["one PE"] = int(template.pes == 1)
    return +found


@dataclass(kw_only=True)
class Progress:
    """A run: its seed, the programs that were held in each notation, and how often each thing was tried."""

    seed: int
    blocks: int = 0
    held: Counter[str] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @staticmethod
    def read(path: Path, seed: int) -> Progress:
        """Return the run of this seed that a file tells of, or a new one."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["seed"] == seed:
                counters = {name: Counter(found[name]) for name in ("held", "tried")}
                return Progress(**{**found, **counters})
        except (OSError, ValueError, KeyError):
            pass
        return Progress(seed=seed)

    def write(self, path: Path) -> None:
        """Write the run, whole or not at all."""
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(vars(self), indent=1) + "\n", encoding="utf-8")
        fresh.replace(path)

    def text(self) -> str:
        """Return the report."""
        lines = [f"seed {self.seed}: {self.held.total():,} programs in {self.seconds:.0f} s"]
        lines += [f"{count:>7,} {name}" for name, count in sorted(self.held.items())]
        lines += [f"{count:>7,} {name}" for name, count in sorted(self.tried.items())]
        return "\n".join(lines)


def block(progress: Progress) -> None:
    """Draw and hold the next block. A difference is raised, with the smallest program that shows it."""
    notation = list(NOTATIONS)[progress.blocks % len(NOTATIONS)]
    # Every third block has one program whose own Verilog is run; every thirtieth of those in Icarus.
    engine = None if progress.blocks % 3 != 2 else "icarus" if progress.blocks % 90 == 89 else "cxxrtl"
    held, tried, left = 0, Counter[str](), [engine]

    @seed(progress.seed * 1_000_003 + progress.blocks)
    @settings(
        max_examples=BLOCK,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn(notation))
    def run(case: Drawn) -> None:
        nonlocal held
        mine = left[0]
        schedule = hold(case, mine)
        left[0] = None
        held += 1
        tried.update(covered(case, schedule))
        if mine:
            tried[f"engine {mine}"] += 1

    run()
    progress.blocks += 1
    progress.held[notation] += held
    progress.tried += tried


def main() -> int:
    """Hold programs until so many were, and print what was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--progress", type=Path, default=Path("fuzz-programs.json"))
    asked = parser.parse_args()
    progress = Progress.read(asked.progress, asked.seed)
    with pytest.MonkeyPatch.context() as patch:
        # To compile a program takes seconds, and Python runs the same text at once.
        without_compiler(patch)
        _continue(progress, asked.count, asked.progress)
    print(progress.text())
    return 0


def _continue(progress: Progress, count: int, path: Path) -> None:
    """Hold block after block, until so many programs were held."""
    while progress.held.total() < count:
        began = time.monotonic()
        block(progress)
        progress.seconds += time.monotonic() - began
        progress.write(path)


if __name__ == "__main__":
    sys.exit(main())
