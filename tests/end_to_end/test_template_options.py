"""Every field of a template, from the command line and from a .td file, down to the Verilog."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tabla import driver
from tabla.commands.cli import main
from tests.end_to_end.algorithms import hold_schedule, need
from tests.schedule.bank import bank

PROGRAM = bank(2, words=9)
"""Two models of nine words: inputs in `data`, weights in `model`, errors in `interim`."""


def shape(text: str, name: str) -> dict[str, int]:
    """What Verilog says of the array: instances counted, widths and depths read off declarations.

    Memories have words for every address, so depths are powers of two.
    """
    modules = dict(re.findall(r"^module (\w+) \((.*?)^endmodule", text, flags=re.M | re.S))
    top, found = modules[name], {}
    groups = re.findall(rf"^\s+({name}_pu\w*) group_\d+ \(", top, flags=re.M)
    found["pus"] = len(groups)
    found["pes"] = sum(len(re.findall(rf"^\s+{name}_pe(?:_\d+)? lane_\d+ \(", modules[g], flags=re.M)) for g in groups)
    found["sequencers"] = len(re.findall(r"^\s+\w+ lane_issue\w*_sequencer \(", top, flags=re.M))
    found["beat"] = width(re.search(r"input wire (\[\d+:0\] )?in_data,", top))
    found["word"] = width(re.search(r"output (?:wire|reg) (\[\d+:0\] )?out_data,", top))
    for memory in ("model", "data", "interim"):
        body = modules[f"{name}_pe_{memory}_memory"]
        parts = list(re.finditer(r"reg (\[\d+:0\] )?words(?:_\d+)? \[0:(\d+)\];", body))
        assert sum(width(part) for part in parts) == found["word"]
        (found[memory],) = {int(part.group(2)) + 1 for part in parts}
    return found


def width(declared: re.Match[str] | None) -> int:
    assert declared is not None
    return int(declared.group(1)[1:].split(":")[0]) + 1 if declared.group(1) else 1


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("--pes 1", {"pes": 1, "pus": 1, "sequencers": 1, "word": 16}),
        ("--pes 7 --format q2.6", {"pes": 7, "pus": 1, "word": 8}),
        ("--pes 128 --format q16.16 --force", {"pes": 128, "pus": 8, "word": 32}),
        ("--pes 12 --pes-per-pu 3 --sequencers 6", {"pes": 12, "pus": 4, "sequencers": 6}),
        ("--pes 5 --sequencers 5 --stream-words 1", {"pes": 5, "sequencers": 5, "beat": 16}),
        ("--pes 4 --stream-words 8 --format q9.9", {"beat": 8 * 18, "word": 18}),
        ("--pes 2 --model-words 300 --data-words 200 --interim-words 100", {"model": 512, "data": 256, "interim": 128}),
    ],
)
def test_the_command_line_reaches_the_verilog(tmp_path: Path, options: str, wanted: dict[str, int]) -> None:
    (tmp_path / "two.t").write_text(PROGRAM)
    assert (
        main(["gen", str(tmp_path / "two.t"), "--effort", "0", "-q", "-o", str(tmp_path / "out"), *options.split()])
        == 0
    )
    found = shape((tmp_path / "out" / "two.v").read_text(), "two")
    assert {name: found[name] for name in wanted} == wanted


def test_a_td_file_reaches_the_verilog(tmp_path: Path) -> None:
    """The same machine, whether a file describes it or options do; and it computes."""
    (tmp_path / "two.t").write_text(PROGRAM)
    (tmp_path / "mine.td").write_text(
        """
include "machine.td"
def Mine : Template<8, 2> {
  let Sequencers = 4;
  let IntegerBits = 5;
  let FractionBits = 9;
  let StreamWords = 2;
  let ModelWords = 40;
  let DataWords = 60;
  let InterimWords = 24;
}
"""
    )
    mine = driver.compile(tmp_path / "two.t", template="Mine", templates=str(tmp_path / "mine.td"))
    wanted = {"pes": 8, "pus": 4, "sequencers": 4, "word": 14, "beat": 28, "model": 64, "data": 64, "interim": 32}
    assert shape(mine.verilog, "two") == wanted
    asked = {"pes": 8, "pes_per_pu": 2, "sequencers": 4, "format": "q5.9", "stream_words": 2}
    depths = {"model_words": 40, "data_words": 60, "interim_words": 24}
    assert driver.compile(tmp_path / "two.t", **asked, **depths).verilog == mine.verilog
    need("icarus")
    hold_schedule(mine.schedule, "icarus", samples=2)


def test_an_option_stands_above_the_file(tmp_path: Path) -> None:
    (tmp_path / "two.t").write_text(PROGRAM)
    options = ["--template", "Pe8", "--sequencers", "2", "--pes-per-pu", "4"]
    assert main(["gen", str(tmp_path / "two.t"), "-q", "-o", str(tmp_path / "out"), *options]) == 0
    found = shape((tmp_path / "out" / "two.v").read_text(), "two")
    assert (found["pes"], found["pus"], found["sequencers"]) == (8, 2, 2)
