"""What is said of the next step is right: the other build is compiled, and the rate is that of the cost model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tabla.examples
from tabla.build.cost import estimate
from tabla.build.files.outlook import GAIN, IDLE, outlook
from tabla.build.options import Options
from tabla.commands.cli import main
from tabla.driver import build

EXAMPLES = Path(tabla.examples.__file__).parent
LINES = """n = 6; mu = 0.125;
model_input x[n]; model_output y;
model w[n];
gradient g[n] -> w;
iterator i[0:n];
h = sum[i](w[i] * x[i]);
g[i] = (h - y) * x[i];
"""


@pytest.mark.parametrize(
    ("name", "pes"),
    [
        ("linear", 4),
        ("linear", 16),
        ("logistic", 16),
        ("svm", 16),
        pytest.param("logistic", 64, marks=pytest.mark.slow),
        pytest.param("backprop", 64, marks=pytest.mark.slow),
    ],
)
def test_the_minibatch_reaches_what_is_said(name: str, pes: int) -> None:
    file = EXAMPLES / f"{name}.t"
    one = build(file, Options(pes=pes))
    found = outlook(one).batching
    assert found is not None
    other = build(file, Options(pes=pes, minibatch=found.minibatch)).report()
    # "Or more": the estimate promises nothing that the build does not keep, and it is no empty promise either.
    assert 0.6 * other.utilisation <= found.utilisation <= 1.01 * other.utilisation
    assert found.utilisation >= GAIN * one.report().utilisation


def test_logistic_regression_as_it_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    words = ["gen", str(EXAMPLES / "logistic.t"), "-o", str(tmp_path / "build"), "--json", str(file)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "minibatch    with --minibatch 32 about 76 % or more of the multipliers' slots would multiply" in said
    made, figures = build(EXAMPLES / "logistic.t", Options()), json.loads(file.read_text())
    clock = estimate(made.image).megahertz["6"]
    assert figures["estimated_rate"] == {
        "part": "LFE5U-85F:6",
        "megahertz": clock,
        "samples_per_second": round(1e6 * clock / made.report().cycles, 1),
    }
    assert f"a second at {clock:.0f} MHz, as estimated for LFE5U-85F:6 (see tabla synth --pnr)" in said
    assert figures["estimated_minibatch"]["minibatch"] == 32


def test_the_named_part_decides_what_is_estimated(tmp_path: Path) -> None:
    file = EXAMPLES / "logistic.t"
    rates = {}
    for part in (None, "LFE5U-85F", "LFE5U-85F:8", "LFE5UM5G-85F:8", "XC7A200T"):
        rate = outlook(build(file, Options(effort=0, part=part))).rate
        assert rate is not None
        rates[part] = (rate.part, rate.megahertz)
    assert rates[None] == rates["LFE5U-85F"] == rates["XC7A200T"] and rates[None][0] == "LFE5U-85F:6"
    assert rates["LFE5U-85F:8"][0] == "LFE5U-85F:8" and rates["LFE5U-85F:8"][1] > rates[None][1]
    assert rates["LFE5UM5G-85F:8"][0] == "LFE5UM5G-85F:8"
    assert outlook(build(file, Options(effort=0, part="LFE5U-85F:7"))).rate is None  # no rate was measured


def test_an_array_with_more_logic_than_the_part_has_is_told(tmp_path: Path) -> None:
    file = EXAMPLES / "logistic.t"
    large = build(file, Options(effort=0, part="LFE5U-25F", pes=48))
    taken = estimate(large.image)
    found = outlook(large)
    assert found.shortage is not None and found.rate is None
    assert found.shortage.has == {"MULT18X18D": 28} and found.shortage.takes == {"MULT18X18D": taken.multipliers}
    assert found.lines()[1] == (
        f"logic        about {taken.multipliers} of the 28 (MULT18X18D) of LFE5U-25F, as estimated, more than there are"
    )
    assert found.as_json()["estimated_shortage"]["part"] == "LFE5U-25F"
    for fits in (Options(effort=0, pes=48), Options(effort=0, pes=48, part="XC7A200T")):
        assert outlook(build(file, fits)).shortage is None


def test_busy_multipliers_need_no_minibatch(tmp_path: Path) -> None:
    made = build(EXAMPLES / "recommender.t", Options(pes=4))
    assert made.schedule.utilisation >= IDLE and outlook(made).batching is None


def test_who_takes_no_steps_or_has_minibatches_is_told_nothing(tmp_path: Path) -> None:
    file = tmp_path / "kernel.tc"
    file.write_text("def sums(float(N,M) x) -> (y) { y(i) +=! x(i, j) * x(i, j) }\n", encoding="utf-8")
    assert outlook(build(file, Options(pes=4, sizes={"N": 3, "M": 5}))).batching is None
    program = tmp_path / "lines.t"
    program.write_text(LINES, encoding="utf-8")
    assert outlook(build(program, Options(pes=16))).batching is not None
    assert outlook(build(program, Options(pes=16, minibatch=2))).batching is None
