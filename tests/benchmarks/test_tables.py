"""The arithmetic of the benchmarks: counts of operations, aims, tables, the picture, and the measured processes."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as Xml
from dataclasses import replace

import pytest

from benchmarks.__main__ import main
from benchmarks.learning.aims import CYCLES, PEER, ratio_aim
from benchmarks.learning.gen_time import FEATURES, GenTime, picture, table
from benchmarks.learning.measure import Row, measure
from benchmarks.learning.operations import operations
from benchmarks.learning.problems import PES, Problem, minibatches, problems
from benchmarks.learning.table import as_csv, as_markdown, line, summary
from benchmarks.process import measured
from tabla.base.source import Source
from tabla.languages.tabla import parse

# The scalar operations that published figures state for the same programs.
PUBLISHED = {
    "linear 55": 275,
    "linear 784": 3920,
    "logistic 54": 271,
    "logistic 200": 1001,
    "svm 54": 273,
    "svm 200": 1003,
    "reco 138x130x10": 13668,
}


def test_the_work_is_the_published_work() -> None:
    found = {}
    for problem in problems():
        defines = {name: str(size) for name, size in problem.defines.items()}
        found[problem.name] = operations(parse(Source.from_path(problem.file), defines))
    assert {name: found[name] for name in PUBLISHED} == PUBLISHED
    assert found["linear 784, minibatch 8"] == PUBLISHED["linear 784"]


def test_every_kind_of_operation_counts() -> None:
    text = """
    model_input x[4]; model w[4]; gradient g[4] -> w; iterator i[0:4];
    a = norm[i](x[i]) + pi[i](x[i] - 1);
    b = max(-a, 2) / 3;
    g[i] = sigmoid(b * x[i]) * w[i];
    """
    # norm 4 + 3 + 1, pi 4 + 3, +; -, max, /; (*, sigmoid, *) * 4; the update 2 * 4
    assert operations(parse(Source.from_text(text))) == 8 + 7 + 1 + 3 + 12 + 8


def test_aims_and_peers_name_problems_of_the_list() -> None:
    names = {problem.name for problem in problems()}
    assert len(names) == 21 + 1
    names |= {problem.name for problem, _ in minibatches()}
    assert {name for name, _ in (*CYCLES, *PEER)} <= names
    without = {("logistic 54, minibatch 32", 64), ("backprop 16-32-3, minibatch 32", 64)}  # beside those of 64 samples
    assert {(problem.name, pes) for problem, pes in minibatches()} - CYCLES.keys() == without
    assert ratio_aim(Problem(kind="svm", sizes=(54,), minibatch=64), 16) is None
    assert ratio_aim(Problem(kind="svm", sizes=(54,)), 16) == 1.05
    assert ratio_aim(Problem(kind="reco", sizes=(138, 130, 10)), 128) == 1.50
    assert ratio_aim(Problem(kind="reco", sizes=(138, 130, 10)), 64) == 1.25
    assert ratio_aim(Problem(kind="backprop", sizes=(64, 128, 10)), 64) == 1.20
    assert ratio_aim(Problem(kind="backprop", sizes=(351, 1000, 40)), 64) == 1.05


@pytest.fixture(scope="module")
def row() -> Row:
    return measure(Problem(kind="linear", sizes=(55,)), 64)


def test_a_row_is_measured(row: Row) -> None:
    assert (row.program, row.pes, row.operations, row.peer, row.aim) == ("linear 55", 64, 275, 131, 32)
    assert row.simulated == row.cycles >= row.bound
    assert row.model_words == 1
    assert 0 < row.gen_seconds < 100 and 40 < row.gen_megabytes < 2000
    assert not row.stream_binds and not row.narrow_binds


def test_a_missed_aim_is_named(row: Row) -> None:
    fine = replace(row, cycles=32, ratio=1.05, microcode_words=512, gen_seconds=1.0)
    assert fine.missed == () and "NOT REACHED" not in line(fine)
    for change, said in (
        ({"cycles": 33}, "cycles > 32"),
        ({"ratio": 1.051}, "ratio > 1.05"),
        ({"microcode_words": 513}, "microcode > 512"),
        ({"gen_seconds": 20.5}, "gen > 20 s"),
        ({"gen_megabytes": 2001.0}, "gen > 20 s, 2000 MB"),
    ):
        missed = replace(fine, **change)
        assert said in line(missed) and missed.as_json()["missed"]
        assert summary([fine, missed]).endswith("all of a row: 1")
    assert replace(fine, ratio=3.0, ratio_aim=None).missed == ()
    assert "64*" in line(replace(row, stream_words=64, narrow_binds=True))
    assert "32!" in line(replace(row, stream_words=32, narrow_binds=True, stream_binds=True))


def test_csv_has_every_field(row: Row) -> None:
    read = list(csv.DictReader(io.StringIO(as_csv([row, replace(row, pes=16)]))))
    assert [r["pes"] for r in read] == ["64", "16"]
    assert set(read[0]) == set(row.as_json())
    assert read[0]["cycles"] == str(row.cycles)


def test_markdown_marks_a_missed_aim(row: Row) -> None:
    fine = replace(row, cycles=32, simulated=32, ratio=1.05)
    lines = as_markdown([fine, replace(fine, cycles=33, simulated=33, ratio=1.1)]).splitlines()
    assert len({text.count("|") for text in lines}) == 1
    assert "**" not in lines[2]
    assert "**32**" in lines[3] and "**1.10**" in lines[3]
    with pytest.raises(AssertionError, match="predicted is not simulated"):
        as_markdown([replace(fine, simulated=31)])


def test_picture_of_gen_times() -> None:
    times = [
        GenTime(features=features, pes=pes, seconds=2 + pes / 100, megabytes=150.0)
        for features in FEATURES
        for pes in PES
    ]
    root = Xml.fromstring(picture(times))
    tag = "{http://www.w3.org/2000/svg}"
    dots = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter(f"{tag}circle")]
    assert len(dots) == len(times)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert all(0 < x < width and 0 < y < height for x, y in dots)
    # A point with more seconds is higher up, and one with more features is further to the right.
    assert dots[0][1] > dots[-1][1] and dots[0][0] < dots[1][0]
    assert table(times).count("\n") == 2 + len(FEATURES)


def test_memory_is_the_commands_own() -> None:
    ballast = bytearray(b"1") * 250_000_000
    assert measured(["--version"]).megabytes < 200
    del ballast


def test_a_part_that_is_not_there_is_a_fault_of_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as fault:
        main(["nonsense"])
    assert fault.value.code == 2
    assert "there is no part nonsense" in capsys.readouterr().err
