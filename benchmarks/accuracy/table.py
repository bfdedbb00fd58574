"""The page of the accuracies: its tables, and what it says about the aims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.accuracy.aims import AIMS, MOST_MISSES, Mean, best_fixed, mean, missed, verdict
from benchmarks.accuracy.measure import AUTO16, ESTIMATOR, FLOAT64, GUARDS, WIDTHS, grid_cell
from benchmarks.accuracy.problems import Problem
from benchmarks.accuracy.results import Results

BEGIN, END = "<!-- made by make bench-accuracy: {} -->", "<!-- end of {} -->"


def sections(results: Results, problems: Sequence[Problem]) -> dict[str, str]:
    """Return the generated parts of the page by their names."""
    return {
        "problems": "\n".join(_problem_lines(problems)),
        "aims": "\n".join(_aim_lines(results, problems)),
        "widths": "\n".join(_width_lines(results, problems)),
        "refused": "\n".join(_refused_lines(results, problems)),
    }


def with_sections(page: str, made: Mapping[str, str]) -> str:
    """Return a page with its generated parts replaced. A part without a place on the page is an AssertionError."""
    for name, text in made.items():
        begin, end = BEGIN.format(name), END.format(name)
        assert page.count(begin) == page.count(end) == 1, f"the page has no place for {name}"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}"
    return page


def rewrite(file: Path, results: Results, problems: Sequence[Problem]) -> None:
    """Write the generated parts of the page anew."""
    text = file.read_text(encoding="utf-8")
    file.write_text(with_sections(text, sections(results, problems)), encoding="utf-8")


def shown(found: Mean | None) -> str:
    """Return a mean and its standard error in points, as a cell of a table."""
    if found is None:
        return "refused"
    return f"{found.points:.1f} ± {found.error:.1f}{'*' if found.refused else ''}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(titles: Sequence[str], left: int) -> list[str]:
    """Return the head of a table; the first columns are aligned to the left."""
    return [_row(titles), "|" + "---|" * left + "---:|" * (len(titles) - left)]


def _problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    yield from _head(("problem", "data and program", "metric", "samples", "rate", "epochs", "scikit-learn"), 3)
    for problem in problems:
        metric = "accuracy" if problem.metric == "accuracy" else "R2"
        rate, samples = f"{problem.rate:g}", f"{problem.samples:,}"
        yield _row((problem.name, problem.title, metric, samples, rate, str(problem.epochs), problem.estimator))


def _formats(results: Results, problem: str, cell: str) -> str:
    """Return the formats that the splits chose, the most frequent first."""
    counts = Counter(
        f"{run.format}, G {run.guard}" for run in results.runs(problem, cell).values() if run.metric is not None
    )
    ranked = sorted(counts, key=lambda text: (-counts[text], text))
    return " or ".join(ranked[:2]) + (" or others" if len(ranked) > 2 else "")


def _aim_lines(results: Results, problems: Sequence[Problem]) -> Iterator[str]:
    heads = ("problem", "scikit-learn", "float64", "`auto16`", "its format", "best of 16 bits", "that format")
    yield from _head((*heads, *(f"loss {number}" for number, _ in enumerate(AIMS, 1))), 1)
    for problem in problems:
        name, best = problem.name, best_fixed(results, problem.name)
        row = [name, *(shown(mean(results, name, cell)) for cell in (ESTIMATOR, FLOAT64, AUTO16))]
        row += [_formats(results, name, AUTO16)]
        row += [shown(mean(results, name, best)), best] if best else ["refused", ""]
        for aim in AIMS:
            found = verdict(results, name, aim)
            text = (
                "refused" if found is None else f"{round(found.loss, 2) + 0.0:.2f} of {found.allowed:.2f}"
            )  # without -0.00
            row.append(text if found and found.reached else f"**{text}**")
        yield _row(row)
    yield ""
    for number, aim in enumerate(AIMS, 1):
        names = missed(results, [problem.name for problem in problems], aim)
        said = f"{len(problems) - len(names)} of {len(problems)} problems reach it"
        said += f"; {', '.join(names)} {'does' if len(names) == 1 else 'do'} not" if names else ""
        verdict_text = "reached" if len(names) <= MOST_MISSES else "**not reached**"
        points = f"{aim.points:g} point{'' if aim.points == 1 else 's'}"
        yield f"{number}. {aim.title}, {points} and two standard errors: {verdict_text}. {said}."


def _width_lines(results: Results, problems: Sequence[Problem]) -> Iterator[str]:
    yield from _head(("problem", "float64", "G", *(f"{width} bits" for width in WIDTHS)), 1)
    for problem in problems:
        for guard in GUARDS:
            row = [problem.name, shown(mean(results, problem.name, FLOAT64))] if guard == GUARDS[0] else ["", ""]
            row += [str(guard), *(_width_cell(results, problem.name, width, guard) for width in WIDTHS)]
            yield _row(row)


def _width_cell(results: Results, problem: str, width: int, guard: int) -> str:
    """Return the mean of a cell; where the format takes fewer guard bits than the row says, how many it took."""
    cell = grid_cell(width, guard)
    taken = sorted({run.guard for run in results.runs(problem, cell).values() if run.metric is not None})
    fewer = (
        f" (G {' to '.join(str(bits) for bits in {taken[0]: 0, taken[-1]: 0})})" if taken and taken[0] < guard else ""
    )
    return shown(mean(results, problem, cell)) + fewer


def _refused_lines(results: Results, problems: Sequence[Problem]) -> Iterator[str]:
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for problem in problems:
        for cell in (AUTO16, *(grid_cell(width, guard) for width in WIDTHS for guard in GUARDS)):
            for seed, run in results.runs(problem.name, cell).items():
                if run.refused:
                    found.setdefault((problem.name, run.refused), []).append((cell, seed))
    if not found:
        yield "No run of the two tables was refused."
    for (name, reason), runs in found.items():
        seeds = sorted({seed for _, seed in runs})
        widths = sorted({cell.split(",")[0] for cell, _ in runs}, key=lambda text: (len(text), text))
        splits = f"split {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} splits"
        yield f"- {name}, {splits}, {', '.join(widths)}: {reason}"
