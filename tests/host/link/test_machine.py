"""The host's side of the link, tested with a board in Python.

The simulated board is too slow for these cases.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.driver import Build
from tabla.host.link import machine as machine_module
from tabla.host.link.machine import SerialMachine, packed
from tabla.host.link.requests import Status
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.program.protocol import MAGIC, OUTPUT_WORDS, LinkShape, Request, fingerprint
from tabla.sim.machine import Stalls
from tabla.sim.model.cycle_model import CycleModel

INFERENCE = """m = 3; n = 40;
model_input x[m]; model w[m][n]; iterator i[0:m]; iterator j[0:n];
h[j] = sum[i](w[i][j] * x[i]);
"""


class Board:
    """A board with a buffer of `room` beats, whose accelerator is the cycle model. It stands in for `Requests`."""

    def __init__(self, image: Image, room: int) -> None:
        self.image, self.room = image, room
        self.model = CycleModel(image)
        self.beats: deque[list[int]] = deque()
        self.words: deque[int] = deque()
        self.taken: list[list[int]] = []
        self.task: tuple[int, int] | None = None
        self.refused = self.tokens = 0
        self.most = self.traffic = 0
        self.since: list[list[int]] = []
        """The beats since the last KEEP."""
        self.replays = 0

    def work(self) -> None:
        """Let the command under way take the beats of the buffer, and run it once it has all of them."""
        if self.task is None:
            return
        code, count = self.task
        image = self.image
        each = {0: image.stream_load.beats, 1: count * image.stream_run.beats, 2: 0}[code]
        while self.beats and len(self.taken) < each:
            self.taken.append(self.beats.popleft())
        if len(self.taken) < each:
            return
        rows = np.array(self.taken, dtype=np.int64).reshape(each, image.parameters.stream_words)
        self.taken, self.task, self.tokens = [], None, count * (code > 0)
        match code:
            case Request.LOAD:
                self.model.load(rows)
            case Request.RUN:
                self.words.extend(self.model.run(rows, count).outputs)
            case Request.DUMP:
                self.words.extend(self.model.dump(count))

    def ask(self, code: Request, argument: int = 0, payload: bytes = b"") -> bytes | None:
        parameters = self.image.parameters
        match code:
            case Request.LOAD | Request.RUN | Request.DUMP:
                assert self.task is None and not self.words
                self.task = (int(code), argument)
            case Request.BEATS:
                self.most = max(self.most, argument)
                if len(self.beats) + argument > self.room:
                    self.refused += 1
                    return None
                size = LinkShape.of(self.image).beat_bytes
                assert len(payload) == size * argument
                for at in range(argument):
                    bits = int.from_bytes(payload[at * size : (at + 1) * size], "little")
                    row = [bits >> parameters.width * word for word in range(parameters.stream_words)]
                    low, sign = (1 << parameters.width) - 1, 1 << (parameters.width - 1)
                    self.beats.append([((word & low) ^ sign) - sign for word in row])
                    self.since.append(self.beats[-1])
                self.traffic += 1000
            case Request.KEEP:
                self.since = []
            case Request.REPLAY:
                if len(self.since) > self.room:
                    return None
                assert self.task is None and not self.words and not self.beats
                self.replays += 1
                self.beats.extend(self.since)
                self.task = (int(Request.RUN), argument)
            case Request.READ:
                self.work()
                size = -(-parameters.width // 8)
                out = [self.words.popleft() for _ in range(argument)]
                self.traffic += 1000
                return b"".join((word & (1 << parameters.width) - 1).to_bytes(size, "little") for word in out)
            case _:
                raise AssertionError(code)
        return b""

    def reset(self) -> Status:
        return self.status()

    def status(self, cycles: int = 0) -> Status:
        self.work()
        self.traffic += 60
        return Status(
            magic=MAGIC,
            program=fingerprint(self.image),
            clock=1,
            buffer=self.room,
            busy=int(self.task is not None),
            lane_overflows=0,
            root_overflows=0,
            domain_errors=0,
            tokens=self.tokens,
            interval=7,
            last_update=0,
            last_output=8,
        )

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    path = tmp_path_factory.mktemp("link") / "model.t"
    path.write_text(INFERENCE)
    return tabla.compile(path, pes=3, format="q5.7", stream_words=1)


def machine(monkeypatch: pytest.MonkeyPatch, build: Build, board: Board) -> SerialMachine:
    monkeypatch.setattr(machine_module, "SerialPort", lambda path, baud: None)
    monkeypatch.setattr(machine_module, "Requests", lambda port, silence: board)
    return SerialMachine(build.image, "serial:board")


@pytest.mark.parametrize("room", [2, 16, 31, 4096])
def test_any_room_gives_the_same_words(build: Build, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the load or the samples do not fit into the buffer, the rest is sent while the command runs."""
    board, model = Board(build.image, room), CycleModel(build.image)
    host, chance = Host(build.schedule), np.random.default_rng(1)
    models, samples = {"w": chance.integers(-2048, 2048, (3, 40))}, {"x": chance.integers(-2048, 2048, (60, 3))}
    load, beats = host.load_beats(models), host.sample_beats(samples)
    assert len(load) > 31
    with machine(monkeypatch, build, board) as tested:
        for each in (tested, model):
            each.load(load)
        ours, theirs = tested.run(beats, 60), model.run(beats, 60)
        assert ours.outputs == theirs.outputs
        assert tested.dump(host.dump_count) == model.dump(host.dump_count)
        # If two samples do not fit into the buffer, the line sets the pace, and the board reports no interval.
        each = build.image.stream_run.beats
        assert ours.cycles == (7 if room >= 2 * each else 0)
        assert ours.latencies == [9]
        assert board.most <= max(1, room // 2)
    assert bool(board.refused) == (room < len(load))


def test_outputs_of_a_chunk_fit_the_board(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    tested = machine(monkeypatch, build, Board(build.image, 4096))
    assert tested.most * build.image.run.outputs <= OUTPUT_WORDS
    assert (tested.most + 1) * build.image.run.outputs > OUTPUT_WORDS


def test_samples_that_fit_are_sent_once(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """All samples since the load are run again without being sent, and no others are."""
    each = build.image.stream_run.beats
    board, model = Board(build.image, 12 * each), CycleModel(build.image)
    host, chance = Host(build.schedule), np.random.default_rng(2)
    load = host.load_beats({"w": chance.integers(-2048, 2048, (3, 40))})
    beats = host.sample_beats({"x": chance.integers(-2048, 2048, (12, 3))})
    with machine(monkeypatch, build, board) as tested:
        model.load(load)
        tested.load(load)
        assert not tested.keeps(beats) and tested.remark == ""
        for first, last in ((0, 5), (5, 11)):
            tested.run(beats[first * each : last * each], last - first)
        part, whole = beats[: 11 * each], model.run(beats, 12).outputs
        outputs = build.image.run.outputs
        assert tested.keeps(part) and not tested.keeps(beats) and not tested.keeps(part[each:])
        for _ in range(3):
            again = tested.run(part, 11)
            assert again.outputs == whole[: 11 * outputs] and again.latencies == []
        assert board.replays == 3
        # The stub counts 60 for a status, and what is read does not count.
        assert tested.remark.endswith("an epoch after the first takes 60 bytes on the line")
        changed = part.copy()
        changed[-1] += 1
        assert not tested.keeps(changed)
        # Another sample is sent, and from then on the twelve are kept.
        assert tested.run(beats[11 * each :], 1).outputs == whole[11 * outputs :] and board.replays == 3
        assert tested.keeps(beats) and tested.run(beats, 12).outputs == whole and board.replays == 4
        # There is no room for a thirteenth.
        assert tested.run(beats[:each], 1).outputs == whole[:outputs]
        assert not tested.keeps(beats) and tested.run(beats, 12).outputs == whole and board.replays == 4
        tested.load(load)
        tested.run(beats, 12)
        assert tested.keeps(beats)
        tested.load(load)
        assert not tested.keeps(beats)
        # A board that has lost them gets them once more.
        tested.run(beats, 12)
        board.since += board.since
        assert tested.run(beats, 12).outputs == whole and board.replays == 4 and not tested.keeps(beats)
        assert tested.remark.startswith("every epoch is sent anew")


def test_outputs_of_a_replay_may_exceed_the_board(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    board, count = Board(build.image, 4096), OUTPUT_WORDS // build.image.run.outputs + 2
    tested = machine(monkeypatch, build, board)
    host = Host(build.schedule)
    tested.load(host.load_beats({"w": np.ones((3, 40), dtype=np.int64)}))
    beats = host.sample_beats({"x": np.arange(3 * count).reshape(count, 3)})
    first, again = tested.run(beats, count), tested.run(beats, count)
    assert board.replays == 1 and first.outputs == again.outputs
    assert first.cycles == 7 and again.cycles == 0


def test_a_board_that_loses_a_sample_is_refused(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board(build.image, 4096)
    tested = machine(monkeypatch, build, board)
    host = Host(build.schedule)
    tested.load(host.load_beats({"w": np.zeros((3, 40), dtype=np.int64)}))
    status = board.status
    monkeypatch.setattr(board, "status", lambda cycles: replace(status(cycles), tokens=5))
    with pytest.raises(TablaError, match="ran 5 samples, not 1"):
        tested.run(host.sample_beats({"x": np.zeros((2, 3), dtype=np.int64)}), 2)
    with pytest.raises(ValueError, match="no stalls"):
        tested.run([], 0, Stalls(inputs=(1,)))


@pytest.mark.parametrize(("width", "words"), [(8, 1), (12, 3), (16, 4), (18, 2), (32, 2)])
def test_beats_are_packed_word_0_lowest(width: int, words: int) -> None:
    chance = np.random.default_rng(width)
    rows = chance.integers(-(1 << width - 1), 1 << width - 1, (5, words))
    size = -(-width * words // 8)
    text = packed(rows, width)
    assert len(text) == 5 * size
    for at, row in enumerate(rows.tolist()):
        expected = sum((word & (1 << width) - 1) << width * place for place, word in enumerate(row))
        assert int.from_bytes(text[at * size : (at + 1) * size], "little") == expected


def shape(image: Image, **changes: Any) -> LinkShape:
    """Return the shape of the link for an image with other parameters."""
    beats = changes.pop("beats", image.stream_run.beats)
    stream = replace(image.stream_run, beats=beats)
    return LinkShape.of(replace(image, parameters=replace(image.parameters, **changes), stream_run=stream))


def test_the_room_holds_four_samples_or_256_kbit(build: Build) -> None:
    image = build.image
    for width, words, beats in ((8, 1, 1), (16, 1, 785), (18, 4, 30), (32, 128, 7), (16, 1, 40_000)):
        found = shape(image, width=width, stream_words=words, beats=beats)
        bits = found.beats * width * words
        assert found.beats & (found.beats - 1) == 0 and found.beats >= 16
        assert found.beats >= 4 * beats or 2 * bits > 1 << 18 or found.beats == 16
        assert bits <= 1 << 18 or found.beats == 16
        assert 2 * bits > 1 << 14
        assert (found.beat_bytes, found.word_bytes) == (-(-width * words // 8), -(-width // 8))


def test_a_chip_with_more_memory_keeps_more_samples(build: Build) -> None:
    image = build.image
    bits = image.parameters.width * image.parameters.stream_words
    chips = {"none": 0, "iCE40UP5K": 30 * 4096, "GW1NR-9": 26 * 18432, "LFE5U-85F": 208 * 18432}
    rooms = {name: LinkShape.of(image, memory).beats * bits for name, memory in chips.items()}
    assert rooms["none"] <= 1 << 14 and rooms["iCE40UP5K"] <= 30 * 1024
    assert 1 << 16 <= rooms["GW1NR-9"] <= 26 * 18432 // 4
    assert 1 << 17 < rooms["LFE5U-85F"] <= 288 << 10
    # Words of 18 bits fill block RAMs of 18 kbit.
    wide = replace(image, parameters=replace(image.parameters, width=18, stream_words=1))
    assert LinkShape.of(wide, chips["LFE5U-85F"]).beats == 16384
    assert LinkShape.of(wide, chips["GW1NR-9"]).beats == 4096


def test_programs_have_fingerprints(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "model.t"
    path.write_text(INFERENCE)
    options = {"pes": 3, "format": "q5.7", "stream_words": 1}
    assert fingerprint(tabla.compile(path, **options).image) == fingerprint(build.image)
    others = [{**options, **change} for change in ({"format": "q6.6"}, {"pes": 1}, {"stream_words": 2})]
    found = {fingerprint(tabla.compile(path, **other).image) for other in others}
    assert len(found) == 3 and fingerprint(build.image) not in found
