"""Machine code: made once, kept on disk, made again when the disk has it wrong, and the same as the judge."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.build.options import Options
from tabla.driver import build
from tabla.examples.catalogue import EXAMPLES
from tabla.graph.compiled import machine, plans
from tabla.graph.compiled.machine import machine_code
from tabla.graph.compiled.plans import CompiledFixedPlan, CompiledFloatPlan, Evaluators
from tabla.graph.evaluate import FixedPlan
from tabla.graph.evaluate_float import FloatPlan
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tests.graph.compiled.test_words import FORMATS, hold
from tests.graph.examples import backpropagation
from tests.graph.graph_strategy import graphs

pytestmark = pytest.mark.skipif(find_spec("numba") is None, reason="needs numba")
TEXT = "def steps(first, last):\n    return double(first) + last\n"
ROOT = Path(__file__).resolve().parents[3]


def double(value: int) -> int:
    return 2 * value


def code(text: str = TEXT) -> int:
    """What the machine code of a text gives for 20 and 2."""
    found: int = machine_code(text, {"double": double}, (0, 0), reorder=False)(20, 2)
    return found


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache."""
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path))
    monkeypatch.setattr(machine, "READY", {})
    yield tmp_path / "compiled"


def test_machine_code_is_kept_and_found_again(cache: Path) -> None:
    assert code() == 42
    (entry,) = cache.iterdir()
    files = {path: path.stat().st_mtime_ns for path in entry.rglob("*") if path.is_file()}
    assert any(path.suffix == ".nbc" for path in files)
    machine.READY.clear()
    assert code() == 42
    assert {path: path.stat().st_mtime_ns for path in entry.rglob("*") if path.is_file()} == files
    assert code(TEXT.replace("+", "-")) == 38
    assert len(list(cache.iterdir())) == 2


def test_a_broken_file_is_made_again(cache: Path) -> None:
    code()
    (entry,) = cache.iterdir()
    for path in [path for path in entry.rglob("*.nb*")]:
        path.write_bytes(path.read_bytes()[:50])
    machine.READY.clear()
    assert code() == 42
    (path,) = cache.rglob("*.nbc")
    assert path.stat().st_size > 1000


def test_a_process_reads_machine_code_once_and_drops_what_was_used_long_ago(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_MOST_READY", 2)
    texts = [TEXT.replace("+", sign) for sign in "+-*"]
    assert [code(texts[0]), code(texts[1])] == [42, 38]
    first, second = machine.READY
    assert code(texts[0]) == 42 and list(machine.READY) == [second, first]
    code(texts[2])
    assert len(machine.READY) == 2 and second not in machine.READY


def test_without_a_cache_each_process_makes_its_machine_code(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLA_CACHE", "")
    assert code() == 42
    assert not cache.exists()


def test_two_processes_at_once(cache: Path) -> None:
    script = "import sys; sys.path.insert(0, '.')\nfrom tests.graph.compiled.test_machine import code\nprint(code())\n"
    both = [
        subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [each.communicate(timeout=300)[0] for each in both] == ["42\n", "42\n"]
    assert len(list(cache.iterdir())) == 1


def test_a_network_in_words_and_in_float64() -> None:
    """Everything at once: loops in rows, functions, updates in place, and calls that end where they should."""
    graph = backpropagation(6, 5, 3)
    for fmt in ("q5.13", "q2.30"):  # the second one needs two limbs
        hold(graph, Format.parse(fmt), seed=1, samples=40)
    chance = np.random.default_rng(2)
    shapes = {name: t.shape for name, t in graph.tensors.items() if t.role in ("input", "label")}
    samples = {name: chance.normal(size=(40, *shape)) for name, shape in shapes.items()}
    models = {name: chance.normal(size=t.shape) for name, t in graph.tensors.items() if t.role == "model"}
    plan, judge = CompiledFloatPlan.of(graph), FloatPlan.of(graph)
    runs = []
    for array in samples.values():
        array.flags.writeable = False
    for each in (plan, judge):
        each.load(models)
        runs.append(each.run(samples, ["p"]))
    assert np.allclose(runs[0].kept["p"], runs[1].kept["p"], rtol=1e-12)
    assert all(np.allclose(runs[0].models[name], array, rtol=1e-12) for name, array in runs[1].models.items())


def test_calls_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that a sample moves by 0.03 s: no call but the first may take more than five samples."""
    now, calls = [0.0], []

    def steps(first: int, last: int, *rest: object) -> int:
        calls.append(last - first)
        now[0] += 0.03 * (last - first)
        return last

    monkeypatch.setattr(plans, "machine_code", lambda *a, **k: steps)
    monkeypatch.setattr(plans.time, "perf_counter", lambda: now[0])
    graph, fmt = backpropagation(2, 2, 2), Format.parse("q6.10")
    plan = CompiledFixedPlan.of(graph, fmt)
    zeros = {name: np.zeros((50, *t.shape), dtype=np.int64) for name, t in graph.tensors.items()}
    plan.load({name: array[0] for name, array in zeros.items()})
    plan.run({name: array for name, array in zeros.items() if name in "xy"})
    assert sum(calls) == 50
    assert max(calls) * 0.03 <= 0.2


def test_numpy_takes_short_runs_and_all_runs_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, fmt = backpropagation(6, 5, 3), Format.parse("q5.13")
    assert Evaluators.of(graph, fmt, steps=100) == Evaluators()
    assert Evaluators.of(graph, fmt, steps=10**6) == Evaluators(compiled=True)
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    chosen = Evaluators.of(graph, fmt, steps=10**6)
    assert chosen.note.startswith("numpy evaluates this program, because numba is not installed: pip install ")
    assert isinstance(chosen.fixed(graph, fmt), FixedPlan)
    assert isinstance(chosen.real(graph, fmt), FloatPlan)
    assert Evaluators.of(graph, fmt, steps=100).note == "", "numpy is as good there"


# Every program is compiled twice or more, which takes seconds, and minutes on a machine with much other work.
@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=60)
@given(graph=graphs(), fmt=st.sampled_from(FORMATS), seed=st.integers(0, 1 << 30))
def test_random_graphs_in_machine_code(graph: Graph, fmt: Format, seed: int) -> None:
    hold(graph, fmt, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXAMPLES))
@pytest.mark.parametrize("fmt", ["q6.10", "q4.28"])
@pytest.mark.parametrize("size", [1, 3])
def test_the_examples_in_machine_code(name: str, fmt: str, size: int) -> None:
    made = build(EXAMPLES[name].program, Options(format=fmt, minibatch=size))
    assert Evaluators.of(made.lowered, made.format, steps=10**9) == Evaluators(compiled=True)
    hold(made.lowered, made.format, seed=3, samples=10)
