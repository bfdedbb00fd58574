"""Mistakes with tables as people have them, with the options about them, with settings, and with new projects.

Each message has to name the place, the cause and the cure.
"""

from __future__ import annotations

import numpy as np
import pytest

from tabla.base.arrays import npz_bytes
from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import Mistake, mistake, usage

ROWS = [f"{20 + k},{1.5 * k:.1f},{'mf'[k % 2]},{'CQS'[k % 3]},{k % 2}" for k in range(30)]
TABLE = "\n".join(["age,fare,sex,port,y", *ROWS, ""])
TAKEN = "--columns x=age,fare,sex y=y --engine model"
TRAIN = f"train model.t --data d.csv {TAKEN}"


def changed(old: str, new: str) -> str:
    """Return the table with one text in place of another, which stands there."""
    assert old in TABLE
    return TABLE.replace(old, new)


def row(new: str) -> str:
    """Return the table with other numbers in row 7: an age of 25 and a fare of 7.5."""
    return changed("\n25,7.5,", f"\n{new},")


def train(text: str, *says: str, more: str = "") -> Mistake:
    return mistake(f"{TRAIN} {more}", *says, d_csv=text)


CELLS = {
    "a slip": train(row("2S,7.5"), "row 7, column 'age': '2S' is not a number", "write numbers"),
    "a decimal comma": train(row('25,"7,5"'), "row 7, column 'fare': '7,5' has a decimal comma", "a decimal point"),
    "thousands": train(row('25,"7,500"'), "row 7, column 'fare': '7,500' has a thousands separator", "write 7500"),
    "a currency": train(row("25,7.5€"), "row 7, column 'fare': '7.5€' has a unit", "write the number alone"),
    "a percentage": train(row("25,75%"), "row 7, column 'fare': '75%' has a unit", "write the number alone"),
    "a date": train(row("25,2024-05-01"), "row 7, column 'fare': '2024-05-01' is a date", "days since"),
    "a time": train(row("25,07:30"), "row 7, column 'fare': '07:30' is a time", "hours or the seconds"),
    "a dash": train(
        row("25,-"), "row 7, column 'fare': '-' is not a number, but may stand for", "leave the cell empty"
    ),
    "infinity": train(row("25,inf"), "row 7, column 'fare': 'inf' is not a finite number", "write a finite number"),
    "a gap": train(row("25,"), "row 7, column 'fare': the value is missing", "--missing drop", "--missing mean"),
    "NA": train(row("NA,7.5"), "row 7, column 'age': the value is missing ('NA')", "--missing drop"),
    "a gap among texts": train(
        changed("\n25,7.5,f", "\n25,7.5,"), "row 7, column 'sex': the value is missing", "--missing mean"
    ),
    "a label that is missing": train(
        changed("21,1.5,f,Q,1", "21,1.5,f,Q,"), "row 3, column 'y': the label is missing", "--missing drop leaves"
    ),
    "a class that is missing": train(
        changed("21,1.5,f,Q,1", "21,1.5,f,Q,?"),
        "row 3, column 'y': the class is missing ('?')",
        "--missing drop",
        more="--classes y",
    ),
    "labels that are texts": train(
        TABLE.replace(",1\n", ",yes\n").replace(",0\n", ",no\n"),
        "row 2, column 'y': 'no' is not a number",
        "add --classes y",
    ),
    "labels that are all missing": train(
        TABLE.replace(",1\n", ",\n").replace(",0\n", ",\n"),
        "every value of the label 'y' is missing",
        "write the labels",
        more="--missing drop",
    ),
    "a point that may be either": train(
        TABLE.replace(",", ";").replace(";1.5;", ";1,5;").replace(";3.0;", ";1.234;"),
        "row 4, column 'fare': '1.234' may be one or a thousand, because '1,5' in row 3",
        "write 1234 for thousands",
    ),
    "a large value": train(
        row("25,99999"), "holds 99999 in row 7 of 'd.csv', column 'fare', outside", "--standardise", "--saturate"
    ),
    "a large value, standardised": train(
        row("25,99999"),
        "column 'fare' (99999 before it was standardised), outside the range of q2.6",
        "use --format q4.6",
        more="--standardise --format q2.6",
    ),
}
COLUMNS = {
    "texts that name the rows": mistake(
        "train model.t --data d.csv --columns x=age,name y=y",
        "row 2, column 'name': 'Passenger 0' is one of 30 texts in 30 rows",
        "--categories name",
        d_csv="age,name,y\n" + "".join(f"{k},Passenger {k},{k % 2}\n" for k in range(30)),
    ),
    "dates alone": mistake(
        "train model.t --data d.csv --columns x=age,day y=y",
        "row 2, column 'day': '1.5.2024' is a date",
        "leave the column out",
        d_csv="age,day,y\n" + "".join(f"{k},{k + 1}.5.2024,{k % 2}\n" for k in range(9)),
    ),
    "more numbers than the program has": mistake(
        "train model.t --data d.csv --columns x=age,fare,sex,port y=y",
        "the 4 columns of 'x' are 7 numbers with their categories (sex 2, port 3)",
        "declare 'x[7]'",
        d_csv=TABLE,
    ),
    "a column with a slip": mistake(
        "train model.t --data d.csv --columns x=age,fares,sex y=y",
        "'d.csv' has no column 'fares'",
        "did you mean 'fare'?",
        d_csv=TABLE,
    ),
    "columns without a name": usage("train model.t --data d.csv --columns age,fare", "'age,fare' is not NAME=COLUMN"),
    "no header": mistake(TRAIN, "'d.csv' has no column 'age'", "add --no-header", d_csv=TABLE.partition("\n")[2]),
    "no header, and numbers alone": mistake(
        "train model.t --data d.csv --columns x=c0,c1,c2,c3 y=c4",
        "'d.csv': the first line has numbers alone",
        "--no-header takes the line as a sample and calls the columns c0 to c4",
        d_csv="".join(f"{k},{k * 2.5},{k % 3},{k / 7:.3f},{k % 2}\n" for k in range(9)),
    ),
    "no header of arrays": mistake(
        "train model.t --data data.npz --no-header", "--no-header is for a table", "leave it out"
    ),
    "a row with one value more": train(row("25,7,5"), "row 7 has 6 values, but the header has 5", "double quotes"),
    "a workbook": train("PK\x03\x04\n1\n", "'d.csv' is an archive and no text", "save the table as CSV"),
    "a column twice": train(changed("age,fare", "age,age"), "'d.csv' has two columns 'age'", "a name of its own"),
}
OPTIONS = {
    "another way to fill gaps": usage(f"{TRAIN} --missing median", "--missing: invalid choice: 'median'", "'mean'"),
    "categories of no column": train(
        TABLE, "--categories: 'd.csv' has no column 'sexx'", "'sex'?", more="--categories sexx"
    ),
    "categories of the label": train(TABLE, "no input takes the column 'y'", "--classes", more="--categories y"),
    "both splits": train(TABLE, "--split draws", "give one of them", more="--split 0.2 --split-last 0.2"),
    "a split in per cent": train(TABLE, "--split-last 20", "write --split-last 0.2", more="--split-last 20"),
    "a seed without a draw": train(
        TABLE, "--split-seed chooses nothing with --split-last", "leave it out", more="--split-last 0.2 --split-seed 3"
    ),
    "a category that is none": mistake(
        "train model.t --data d.csv -D m=5 --columns x=age,fare,sex,port y=y --categories port=C --unknown error",
        "row 3, column 'port': 'Q' is none of the categories C",
        "--unknown zeros",
        d_csv=TABLE,
    ),
}
SETTINGS = 'file = "model.t"\ndata = "data.csv"\n'
PROJECTS = {
    "a key with a slip": mistake(
        "train", "there is no option 'epoch'", "tabla.toml:3:1", "'epochs'?", tabla_toml=f"{SETTINGS}epoch = 3\n"
    ),
    "a text without quotes": mistake("train", "tabla.toml:1:8", "in quotes", tabla_toml="file = model.t\n"),
    "a path of Windows": mistake(
        "train", "tabla.toml:1:13", "with / in place of", tabla_toml='data = "C:\\data\\u.csv"\n'
    ),
    "a program that is not there": mistake(
        "check", "there is no file 'modle.t'", "tabla.toml:1:1", "correct the path", tabla_toml='file = "modle.t"\n'
    ),
    "a table of no command": mistake(
        "train", "'trian'", "tabla.toml:3:2", "'train'?", tabla_toml=f"{SETTINGS}[trian]\nepochs = 2\n"
    ),
    "a project that is there": mistake(
        "new model.t --data d.csv --label y", "'model.t' is there already", "another name"
    ),
    "a label with a slip": mistake(
        "new n --data d.csv --label Y", "has no column 'Y'", "did you mean 'y'?", d_csv=TABLE
    ),
    "a model with a slip": usage(
        "new n --data d.csv --model logistc", "no model 'logistc'", "use one of linear, logistic"
    ),
    "a project of arrays": mistake("new n --data data.npz --label y", "'data.npz' is no table", ".csv"),
    "new data without a column": mistake(
        "predict model.t --weights w.npz --data e.csv",
        "'e.csv' has no column 'sex', from which 'x' was learnt",
        "it has age, fare",
        w_npz=npz_bytes(
            {
                "w": np.zeros(4),
                "x.columns": np.array(["age", "fare", "sex"]),
                "x.categories": np.array([["age", ""], ["fare", ""], ["sex", "f"], ["sex", "m"]]),
            }
        ),
        e_csv="age,fare\n1,2\n",
    ),
}
ALL = {**CELLS, **COLUMNS, **OPTIONS, **PROJECTS}


@pytest.mark.parametrize("name", ALL)
def test_a_mistake_is_told_with_its_cure(refused: Refused, name: str) -> None:
    assert "hint: " in refused(ALL[name])


def test_there_are_forty() -> None:
    assert len(ALL) == len(CELLS) + len(COLUMNS) + len(OPTIONS) + len(PROJECTS) >= 40
