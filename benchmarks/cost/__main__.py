"""The table behind the estimates of ``tabla explore``: measured, fitted and checked.

python -m benchmarks.cost measure DRAW ...     synthesise designs, and keep their cells
python -m benchmarks.cost functions              synthesise the pipelines of functions by themselves
python -m benchmarks.cost clock DRAW ...       place and route designs too, and keep their clock rates
python -m benchmarks.cost fit [DRAW ...]       fit tabla/build/cost/ecp5.json to these designs, or to those it names
python -m benchmarks.cost check                  hold the estimates against all other designs
python -m benchmarks.cost left-out               hold each design against a fit to the others

The designs are those of ``designs.py``, by the numbers of their draws; ``-1`` and ``-2`` are published problems. Clock
rates without a draw are those of ``docs/fpga.md``, which ``make bench-fpga`` has measured.
Measurements are kept in ``measured.json`` after each design, so a long run can be done in parts. ``--parts`` and
``--seeds`` are the parts with their speed grades, and the seeds of each; ``--formats`` are those of the functions.
With ``--again`` designs are synthesised anew that were measured before, such as those that the compiler changed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cost.designs import ROOT, design
from benchmarks.cost.fit import RESOURCES, as_content, fitted, line_through, sizes_of
from benchmarks.cost.measure import FUNCTIONS, Row, clocked, measured, measured_functions
from tabla.build.cost.estimate import TABLE, estimate

MEASURED = Path(__file__).resolve().parent / "measured.json"
FITTED = ROOT / "tabla" / "build" / "cost" / TABLE
SCHEMA = "tabla-cost-measured-1"
LIMITS = {"8": 225.0, "5G": 225.0}
"""The highest rates of the multipliers, by the data sheet; other grades have none there."""
MEASURED_GRADE = "6"
"""The grade in which designs with every size were placed and routed."""


def kept() -> dict[str, Any]:
    """Return the measurements that are there: `rows` of resources, and `clocks`."""
    if not MEASURED.is_file():
        return {"schema": SCHEMA, "rows": [], "clocks": []}
    found: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return found


def keep(content: dict[str, Any]) -> None:
    """Write the measurements, those of small draws first."""
    content["rows"].sort(key=lambda row: (row["draw"] is None, row["draw"] or 0, row["design"]))
    content["clocks"].sort(key=lambda row: (row["draw"] is not None, row["design"], row["part"], row["grade"]))
    lines = [
        f' "{name}": [\n' + ",\n".join("  " + json.dumps(row) for row in content[name]) + "\n ]"
        for name in ("rows", "clocks")
    ]
    MEASURED.write_text("{\n" + ",\n".join([f' "schema": "{SCHEMA}"', *lines]) + "\n}\n", encoding="utf-8")


def grade_of(row: dict[str, Any]) -> str:
    """Return the name that the table has for the speed grade of a part."""
    return "5G" if "5G" in row["part"] else str(row["grade"])


def measure(asked: argparse.Namespace) -> None:
    """Synthesise the designs that are not measured yet; all of them anew with ``--again``."""
    for draw in asked.draws:
        if not asked.again and any(row["draw"] == draw for row in kept()["rows"]):
            continue
        row = measured(draw)
        content = kept()  # another run may have written meanwhile
        draws = [each["draw"] for each in content["rows"]]
        at = draws.index(draw) if draw in draws else len(draws)
        content["rows"][at : at + 1] = [row]
        keep(content)
        print(draw, row["design"], row.get("taken", row.get("refused")), flush=True)


def functions(asked: argparse.Namespace) -> None:
    """Synthesise the pipelines of functions anew, those of one format after the other."""
    for number in asked.formats.split(",") if asked.formats else FUNCTIONS:
        rows, content = measured_functions(number), kept()
        names = {row["design"] for row in rows}
        content["rows"] = [*(row for row in content["rows"] if row["design"] not in names), *rows]
        keep(content)
        for row in rows:
            print(row["design"], row["taken"], flush=True)


def clock(asked: argparse.Namespace) -> None:
    """Place and route designs. Rates that are there already are made anew."""
    parts = [(name, int(grade)) for name, _, grade in (part.partition(":") for part in asked.parts.split(","))]
    for draw in asked.draws:
        for row in clocked(design(draw), parts, asked.seeds):
            content = kept()
            same = ("draw", "part", "grade")
            content["clocks"] = [old for old in content["clocks"] if any(old[key] != row[key] for key in same)]
            content["clocks"].append(row)
            keep(content)
            print(row, flush=True)


def fit(asked: argparse.Namespace) -> None:
    """Fit the table of the package."""
    content = kept()
    draws = asked.draws or json.loads(FITTED.read_text(encoding="utf-8"))["draws"]
    rows = [row for row in content["rows"] if row["draw"] in (None, *draws) and "taken" in row]
    models = clock_models([row for row in content["clocks"] if row["draw"] in (None, *draws)])
    table = as_content(
        *fitted(rows, sizes_of(rows)),
        models,
        "python -m benchmarks.cost fit",
        sorted(row["draw"] for row in rows if row["draw"] is not None),
    )
    FITTED.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def check(asked: argparse.Namespace) -> None:
    """Print the errors of the designs to which nothing was fitted."""
    content, fitted_to = kept(), set(json.loads(FITTED.read_text(encoding="utf-8"))["draws"])
    rows = [row for row in content["rows"] if row["draw"] not in (None, *fitted_to) and "taken" in row]
    heads = ("design", *(f"{kind}, estimate" for kind in (*RESOURCES, "DSP", "RAM")))
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    errors: dict[str, list[float]] = {kind: [] for kind in (*RESOURCES, "DSP", "RAM")}
    for row in rows:
        found = estimate(design(row["draw"]).build().image).as_json()["resources"]
        cells = []
        for kind, taken in row["taken"].items():
            error = found[kind] / taken - 1
            errors[kind].append(abs(error))
            cells.append(f"{taken:,}, {found[kind]:,}" + (f" ({100 * error:+.1f} %)" if found[kind] != taken else ""))
        print(f"| {row['design']} | " + " | ".join(cells) + " |", flush=True)
    summarise(errors)
    check_clocks(content["clocks"], fitted_to)


def summarise(errors: Mapping[str, Sequence[float]]) -> None:
    """Print the mean and the largest of some errors, by their names."""
    for name, found in errors.items():
        if found:
            worst, mean = 100 * max(found), 100 * sum(found) / len(found)
            above = sum(error > 0.1 for error in found)
            print(f"{name}: mean error {mean:.1f} %, largest {worst:.1f} %, {above} of {len(found)} above 10 %")


def left_out(asked: argparse.Namespace) -> None:
    """Print the errors of the designs of the fit, each by a fit to the others."""
    content, draws = kept(), json.loads(FITTED.read_text(encoding="utf-8"))["draws"]
    rows = [row for row in content["rows"] if row["draw"] in (None, *draws) and "taken" in row]
    all_sizes = sizes_of(rows)
    errors: dict[str, list[float]] = {kind: [] for kind in RESOURCES}
    for row in (row for row in rows if row["draw"] is not None):
        found = fitted([other for other in rows if other is not row], all_sizes)
        for kind, prices in zip(RESOURCES, found, strict=True):
            total = sum(prices.get(name, 0.0) * size for name, size in all_sizes[row["design"]].items())
            errors[kind].append(abs(total / row["taken"][kind] - 1))
    clocked = [row for row in content["clocks"] if row["draw"] in (None, *draws) and grade_of(row) == MEASURED_GRADE]
    errors["MHz"] = []
    for row in (row for row in clocked if row["draw"] is not None):
        base, prices = prices_of([other for other in clocked if other is not row])
        rate = base - sum(price * row["sizes"][name] for name, price in prices.items())
        errors["MHz"].append(abs(rate / max(row["megahertz"]) - 1))
    summarise(errors)


def clock_models(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the clock models that fit the best rates of some rows, by the speed grade.

    Some sizes were measured in one grade alone, `MEASURED_GRADE`. Their prices in another grade are the same shares of
    its base.
    """
    grades = sorted({grade_of(row) for row in rows})
    found = {grade: prices_of([row for row in rows if grade_of(row) == grade]) for grade in grades}
    model, (whole, known) = {}, found[MEASURED_GRADE]
    for grade, (base, prices) in found.items():
        shares = {name: float(f"{price / whole * base:.4g}") for name, price in known.items()}
        model[grade] = {"base": base, "prices": {**shares, **prices}, "limit": LIMITS.get(grade, 999.0)}
    return model


def prices_of(rows: Sequence[Row]) -> tuple[float, dict[str, float]]:
    """Return the base, and the prices of the sizes that some of the rows have."""
    names = [name for name in rows[0]["sizes"] if any(row["sizes"][name] for row in rows)]
    sizes = [[row["sizes"][name] for name in names] for row in rows]
    base, *prices = line_through([max(row["megahertz"]) for row in rows], sizes)
    return base, dict(zip(names, prices, strict=True))


def check_clocks(rows: Sequence[Row], fitted_to: Collection[int]) -> None:
    """Print the errors of the clock rates of the designs to which nothing was fitted."""
    errors: dict[str, list[float]] = {}
    for row in (row for row in rows if row["draw"] is not None and row["draw"] not in fitted_to):
        grade, best = grade_of(row), max(row["megahertz"])
        found = estimate(design(row["draw"]).build().image).megahertz[grade]
        errors.setdefault(grade, []).append(abs(found / best - 1))
        where = f"{row['design']}, {row['part']}:{row['grade']}"
        print(f"{where}: {row['megahertz']}, estimate {found} ({100 * (found / best - 1):+.1f} %)")
    summarise({f"grade {grade}": off for grade, off in errors.items()})


def main(words: list[str]) -> int:
    """Run one command."""
    commands: dict[str, Callable[[argparse.Namespace], None]] = {
        "measure": measure,
        "functions": functions,
        "clock": clock,
        "fit": fit,
        "check": check,
        "left-out": left_out,
    }
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost")
    parser.add_argument("command", choices=commands)
    parser.add_argument("draws", nargs="*", type=int)
    parser.add_argument("--parts", default="85k:6")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--formats", default="")
    parser.add_argument("--again", action="store_true")
    asked = parser.parse_args(words)
    commands[asked.command](asked)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
