"""Mistakes of ``tabla explore``: the points, the data, the parts, the workers and the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logistic_program import LOGISTIC
from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import mistake, usage

EXPLORE = "explore model.t --workers 1 --pes 2"
DATA = f"{EXPLORE} --data data.npz"

POINTS = {
    "no program": usage("explore", "FILE"),
    "no such file": mistake("explore no.t", "cannot read 'no.t'"),
    "PEs in words": usage("explore model.t --pes few", "--pes: 'few' is not a whole number"),
    "PEs downwards": usage("explore model.t --pes 8..4", "'8..4' holds no number, because 4 is less than 8"),
    "no PEs": usage("explore model.t --pes 0..4", "--pes: 0 is less than 1"),
    "too many PEs": mistake("explore model.t --pes 1..1000000", "pes: 524,288 PEs are not", "ask for 1 to 128"),
    "too many points": mistake("explore model.t --pes 1-999 --minibatch 1,2,3", "2,997 points, and 2,000 are the most"),
    "more numbers than anybody reads": usage("explore model.t --pes 1-9999999", "holds too many numbers"),
    "sequencers of other PEs": mistake(
        "explore model.t --pes 3 --sequencers 2 --workers 1", "2 sequencers do not divide 3 PEs", "use one of 1, 3"
    ),
    "sequencers that 16 PEs do not have": mistake(
        "explore model.t --pes 4 --sequencers 3 --workers 1", "3 sequencers do not divide 4 PEs", "use one of 1, 2, 4"
    ),
    "an open range": usage("explore model.t --pes 4..", "'4..' is not a whole number"),
    "a format of another world": mistake(f"{EXPLORE} --format q6.10,fp16", "'fp16' is not a number format"),
    "an empty format": usage(f"{EXPLORE} --format q6.10,,", "is not a list of names"),
    "guard bits of a giant": usage(f"{EXPLORE} --model-guard 40", "--model-guard: 40 is more than 16"),
    "guard bits below none": usage(f"{EXPLORE} --model-guard -1", "--model-guard: -1 is less than 0"),
    "no samples in a step": usage(f"{EXPLORE} --minibatch 0", "--minibatch: 0 is less than 1"),
    "a rate given twice": mistake(f"{EXPLORE} -D mu=0.5 --learning-rate 0.25", "the learning rate is given twice"),
    "a kernel without its size": mistake("explore kernel.tc --workers 1", "N"),
    "a constant that no format holds": mistake(
        f"{EXPLORE} --format q2.6", "every point is refused", m_t="", model_t=LOGISTIC.replace("h - y", "h - y + 100")
    ),
    "a part of another maker": mistake(f"{EXPLORE} --part XC7A35T:1", "part: ", "no device 'XC7A35T'", "85k"),
    "a grade in words": mistake(f"{EXPLORE} --part 85k:fast", "'fast' is not a speed grade", "LFE5U-85F:6"),
    "a grade that is not made": mistake(f"{EXPLORE} --part 85k:9", "no speed grade 9", "its grades are 6, 7, 8"),
}
DATA_MISTAKES = {
    "no such data": mistake(f"{EXPLORE} --data no.npz --split 0.2,0.2", "cannot read 'no.npz'"),
    "a test part alone": mistake(f"{DATA} --split 0.2", "the data has none", "--split 0.2,0.2"),
    "a split without data": mistake(f"{EXPLORE} --split 0.2,0.2", "split", "add --data FILE"),
    "epochs without data": mistake(f"{EXPLORE} --epochs 3 --seed 0", "no data for: epochs, seed", "add --data FILE"),
    "data of another shape": mistake(f"{DATA} --split 0.2,0.2 -D m=3", "error: 'x' has shape"),
    "an automatic format without data": mistake(f"{EXPLORE} --format auto12", "format: auto12 chooses by data"),
    "a metric that cannot be compared": usage(f"{DATA} --metric mse", "--metric", "r2"),
    "no epochs": usage(f"{DATA} --epochs 0", "--epochs: 0 is less than 1"),
    "a program that does not learn": mistake(
        "explore m.t --workers 1 --pes 2 --data data.npz --split 0.2,0.2",
        "has no gradient",
        m_t=LOGISTIC[: LOGISTIC.index("gradient")] + "iterator i[0:m];\nh = sum[i](w[i] * x[i]);\n",
    ),
    "a kernel": mistake("explore kernel.tc --size N=4 --workers 1 --pes 2 --data data.npz --split 0.2,0.2", "kernel"),
}
WORK = {
    "no workers": usage(f"{EXPLORE[:15]} --workers 0", "--workers: 0 is less than 1"),
    "workers of two kinds": mistake(f"{EXPLORE} --scheduler tcp://127.0.0.1:1", "leave one of the two out"),
    "a time limit at home": mistake(f"{EXPLORE} --timeout 5", "timeout: only the workers", "add the address"),
    "a scheduler that is no address": mistake(
        # A client of Dask asks again and again until the time is over.
        "explore model.t --pes 2 --scheduler nowhere --timeout 2",
        "there is no Dask scheduler at 'nowhere'",
        "dask scheduler",
    ),
    "a report over the program": mistake(f"{EXPLORE} -o model.t", "'model.t' is not a folder"),
    "a report in a folder of other files": mistake(f"{EXPLORE} -o mine", "is not empty", **{"mine/x_t": ""}),
    "damaged records": mistake(f"{EXPLORE} -o old", "holds no records", **{"old/records_jsonl": "{}\n"}),
    "a report where none can be": mistake(f"{EXPLORE} -o /proc/x/y", "cannot write into '/proc'"),
    "tries of nothing": mistake(f"{EXPLORE} --seeds 2", "seeds: they are the tries of a synthesis", "add --synth"),
    "JSON into no folder": mistake(f"{EXPLORE} --json no/x.json", "there is no folder 'no'"),
    "tries without an end": usage(f"{EXPLORE} --synth --seeds 0", "--seeds: 0 is less than 1"),
}


@pytest.mark.parametrize("name", POINTS)
def test_points(refused: Refused, name: str) -> None:
    assert "hint: " in refused(POINTS[name])


@pytest.mark.parametrize("name", DATA_MISTAKES)
def test_data(refused: Refused, name: str) -> None:
    assert "hint: " in refused(DATA_MISTAKES[name])


@pytest.mark.parametrize("name", WORK)
def test_work(refused: Refused, folder: Path, name: str) -> None:
    for file in WORK[name].files:
        (folder / file).parent.mkdir(exist_ok=True)
    assert "hint: " in refused(WORK[name])
