"""Networks that are placed and routed: the record and the table, and which networks may be asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.networks.routed import RoutedRow, main, record, recorded, routed_table

ROW = RoutedRow(
    name="resnet",
    pes=32,
    cycles=500_000,
    luts=40_000,
    multipliers=35,
    block_rams=200,
    seeds=1,
    megahertz=100.0,
)


def test_a_row_replaces_that_of_the_same_network(tmp_path: Path) -> None:
    file = tmp_path / "routed.json"
    record(ROW, file)
    record(replace(ROW, name="keywords"), file)
    record(replace(ROW, megahertz=110.0), file)
    found = recorded(file)
    assert list(found) == ["keywords", "resnet"]  # the order of the networks, not that of the runs
    assert found["resnet"].megahertz == 110.0 and found["keywords"] == replace(ROW, name="keywords")


def test_the_table_says_how_many_samples_a_second() -> None:
    head, line, row = routed_table([ROW]).splitlines()
    assert head.count("|") == line.count("|") == row.count("|")
    assert row == "| resnet | 32 | 500,000 | 40,000 | 35 | 200 | 100.0 | 1 | 200 |"


@pytest.mark.parametrize("name", ["mobilenet", "autoencoder", "nothing"])
def test_a_network_that_the_part_does_not_hold_is_a_fault_of_usage(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as fault:
        main(["--only", f"resnet,{name}"])
    assert fault.value.code == 2
    assert f"{name} fit no LFE5U-85F" in capsys.readouterr().err
