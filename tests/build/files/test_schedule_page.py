"""The schedule page: its rows and idle times are those of the schedule, and a browser draws it at two widths."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.learning.problems import Problem
from manual.browser import BROWSER
from tabla.build.files.costs import costs
from tabla.build.files.idle import REASONS, Wait, waits
from tabla.build.files.schedule_page import PageCost, schedule_page
from tabla.build.files.timeline import Timeline, timeline
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.graph.format import Format
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import functions, template_for, timing
from tests.build.files.examples import NAMES, built
from tests.languages.tabla.random_programs import programs
from tests.schedule.test_random_programs import lowered

Q6_10 = Format(integer=6, fraction=10)
LARGEST = 500_000


@pytest.fixture(scope="module", params=NAMES)
def made(request: pytest.FixtureRequest) -> Build:
    return built(request.param)


@pytest.fixture(scope="module")
def logistic() -> Build:
    problem = Problem(kind="logistic", sizes=(54,))
    return build(problem.file, problem.options(16))


@pytest.fixture(scope="module")
def backprop() -> Build:
    problem = Problem(kind="backprop", sizes=(8, 16, 3))
    return build(problem.file, problem.options(16))


def page_of(made: Build) -> str:
    return schedule_page(made.schedule, made.bound)


def model_of(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def way(schedule: Schedule, wait: Wait) -> int:
    """The cycles from the strand of the lanes that ends a wait to the last strand of its task, such as one of the root.

    The root may be busy when the lanes begin, if it is free when their words arrive.
    """
    found = [
        ((strand.start - wait.end) % schedule.cycles, max(each.start for each in placed.strands()) - strand.start)
        for placed in schedule.placed
        for strand in placed.strands()
        if wait.unit in strand.units(schedule.template.sequencers)
    ]
    return min(found)[1]


def holds(schedule: Schedule) -> Timeline:
    """Every cycle of a sequencer is work or one wait, every strand is a bar, and waits point at what exists."""
    drawn = timeline(schedule)
    for unit, strands in schedule.units.items():
        bars = [bar for row in drawn.rows if row.unit == unit for bar in row.bars]
        assert [(b.start, b.end, b.name) for b in bars] == [(s.start, s.end, s.comment) for s in strands]
        if not unit.startswith("lane_issue") or not strands:
            continue
        spans = [(s.start, s.end) for s in strands]
        spans += [(wait.first, wait.end) for wait in drawn.waits if wait.unit == unit]
        spans.sort()
        assert all(begin < end for begin, end in spans)
        assert all(before[1] == after[0] for before, after in pairwise(spans))
        assert spans[-1][1] - spans[0][0] == schedule.cycles
        assert sum(end - begin for begin, end in spans) == schedule.cycles
    assert sum(drawn.idle.values()) == sum(wait.end - wait.first for wait in drawn.waits)
    assert set(drawn.idle) <= set(REASONS)
    model = drawn.as_json()
    for wait, (row, first, end, reason, target, bar, shift) in zip(drawn.waits, model["waits"], strict=True):
        assert model["rows"][row]["kind"] == "lanes"
        assert first < end and reason in model["reasons"]
        if target >= 0:
            begin, stop = (cycle + shift * schedule.cycles for cycle in model["rows"][target]["bars"][bar][:2])
            # What is waited for has begun by the time the words of the next strand arrive there.
            assert begin <= end + way(schedule, wait) and stop > begin
    for row in model["rows"]:
        if row["kind"] not in ("function", "tree"):
            assert all(before[1] <= after[0] for before, after in pairwise(row["bars"]))
        assert all(model["first"] <= bar[0] < bar[1] <= model["end"] for bar in row["bars"])
    for cost in map(PageCost.of, costs(schedule).statements):
        assert 0 <= cost.multiplies <= cost.slots and cost.root_multiplies >= 0
        assert cost.multiplies + cost.wasted == cost.slots
    return drawn


def test_bars_and_waits_are_the_period(made: Build) -> None:
    drawn = holds(made.schedule)
    assert sum(PageCost.of(c).multiplies + PageCost.of(c).root_multiplies for c in costs(made.schedule).statements) == (
        made.schedule.multiplies
    )
    idle = sum(drawn.idle.values())
    assert not idle or f"In {idle} of " in drawn.text


@settings(max_examples=30, deadline=None)
@given(programs(), st.sampled_from([1, 3, 4, 16]))
def test_bars_and_waits_of_any_program(text: str, pes: int) -> None:
    holds(schedule_graph(lowered(text, Q6_10), template_for(pes), Q6_10, EFFORTS[1]))


@pytest.mark.parametrize("sequencers", [2, 4])
def test_sequencers_have_rows_of_their_own(sequencers: int) -> None:
    problem = Problem(kind="backprop", sizes=(9, 7, 3))
    options = Options(pes=16, defines=problem.defines, sequencers=sequencers, effort=1)
    drawn = holds(build(problem.file, options).schedule)
    lanes = [row.name for row in drawn.rows if row.unit.startswith("lane_issue")]
    share = 16 // sequencers
    assert lanes == [f"lanes {n * share}–{n * share + share - 1}" for n in range(sequencers)]


def test_a_chain_is_named_link_by_link(logistic: Build) -> None:
    """The lanes' sums go up the tree, the root rounds them, sigmoid, the error, the step, and back over the bus."""
    schedule = logistic.schedule
    template, word = schedule.template, schedule.format
    found = [(wait.reason, wait.end - wait.first) for wait in waits(schedule)]
    sigmoid = functions()["sigmoid"].cycles(word.width, word.fraction)
    assert found == [
        ("tree", template.tree_levels),
        ("root", 7),
        ("function", sigmoid),
        ("root", 4),
        ("root", 5),
        ("bus", 1),
        ("lanes", 4),
    ]
    assert timeline(schedule).text == (
        "In 32 of 40 cycles the lanes wait: 16 for the root, 7 for the function unit, 4 for results of the lanes, "
        "4 for the tree, 1 for the bus."
    )


def test_a_slow_stream_is_what_the_lanes_wait_for(tmp_path: Path) -> None:
    file = tmp_path / "narrow.t"
    file.write_text(Problem(kind="linear", sizes=(55,)).file.read_text(encoding="utf-8"), encoding="utf-8")
    schedule = build(file, Options(pes=16, defines={"features": "160"}, stream_words=1)).schedule
    assert schedule.cycles == schedule.beats > schedule.initiation_interval
    drawn = holds(schedule)
    assert drawn.idle["stream"] >= schedule.cycles - schedule.initiation_interval
    model = drawn.as_json()
    wait = next(wait for wait in model["waits"] if wait[3] == "stream")
    assert model["rows"][wait[4]]["name"] == "stream"


def test_rows_are_those_of_the_machine(backprop: Build) -> None:
    drawn = timeline(backprop.schedule)
    names = [row.name for row in drawn.rows]
    assert names[:2] == ["stream", "lanes"] and {"sigmoid", "bus"} <= set(names)
    assert f"{backprop.schedule.template.roots} roots" in names
    stream = drawn.rows[0].bars
    assert sum(bar.end - bar.start for bar in stream) == backprop.schedule.beats
    assert stream[-1].end <= 0
    lines = {line for _, line, _ in drawn.as_json()["sources"]}
    spans = [s.span for s in backprop.schedule.mapped.statements if s.span]
    assert {span.source.line_column(span.start)[0] for span in spans} <= lines


def test_results_have_a_row(made: Build) -> None:
    """The words leave no faster than one a cycle, and the last of them when the schedule says that it does."""
    schedule = made.schedule
    rows = [row for row in timeline(schedule).rows if row.kind == "output"]
    assert len(rows) == (schedule.outputs > 0)
    for row in rows:
        assert sum(bar.end - bar.start for bar in row.bars) >= schedule.outputs
        if not schedule.graph.updates:
            before = schedule.beats - 1 + timing().ready + timing().front if schedule.beats else timing().front
            assert before + row.bars[-1].end == schedule.latency


def test_the_page_is_the_same_each_time(logistic: Build) -> None:
    assert page_of(logistic) == page_of(logistic)


def test_the_page_needs_nothing_else_and_is_small(made: Build) -> None:
    page = page_of(made)
    assert len(page.encode()) < LARGEST
    assert not re.search(r"\b(src|href)=", page) and "@import" not in page and "url(http" not in page
    assert f"<dd>{made.schedule.per_sample(made.schedule.cycles):,}</dd>" in page
    assert timeline(made.schedule).text in unescape(page)


def test_the_drawing_has_a_part_for_each_row_and_the_text_each_line(made: Build) -> None:
    page = page_of(made)
    model = model_of(page)
    parts = re.findall(r'<g class="lit (\w+)" data-rows="([\d ]*)">', page)
    drawn = {int(row): kind for kind, rows in parts for row in rows.split()}
    assert drawn == {number: row["kind"] for number, row in enumerate(model["rows"])}
    assert all(row["kind"] in model["about"] for row in model["rows"])
    shown = {(text["file"], number): line for text in model["program"] for number, line in text["text"]}
    assert all(shown[file, number].strip() == line for file, number, line in model["sources"])


def test_of_a_long_program_only_the_lines_at_work_are_shown(tmp_path: Path) -> None:
    problem = Problem(kind="linear", sizes=(5,))
    text = problem.file.read_text(encoding="utf-8")
    (tmp_path / "long.t").write_text("// nothing\n" * 5000 + text, encoding="utf-8")
    made = build(tmp_path / "long.t", problem.options(4))
    (program,) = model_of(page_of(made))["program"]
    assert 3 < len(program["text"]) < 20 and program["text"][0][0] > 5000


def test_a_large_network_is_small_enough() -> None:
    problem = Problem(kind="backprop", sizes=(784, 784, 10))
    page = page_of(build(problem.file, replace(problem.options(16), effort=0)))
    assert len(page.encode()) < LARGEST // 4


HOSTILE = "x</script><img src=x onerror=alert(1)>'\"&amp;"


def test_names_of_the_program_are_escaped(logistic: Build) -> None:
    schedule = logistic.schedule
    graph = replace(schedule.graph, name=HOSTILE)
    placed = tuple(
        replace(
            p,
            task=replace(
                p.task,
                name=f"{p.task.name} {HOSTILE}",
                holds=p.task.holds and HOSTILE,
                strands=tuple(replace(s, comment=HOSTILE) for s in p.task.strands),
            ),
        )
        for p in schedule.placed
    )
    page = schedule_page(replace(schedule, graph=graph, placed=placed), logistic.bound)
    assert "<img" not in page and page.count("</script>") == 2
    assert HOSTILE in model_of(page)["names"]
    assert HOSTILE in unescape(re.search(r"<h1>(.*?)<small>", page)[1])  # type: ignore[index]


# ---- in a browser

# The page draws when the browser asks it for a frame, and a busy machine asks late. So the script waits for a bar.
MEASURE = """<script>
addEventListener("load", function measure() {
  if (!document.querySelector(".bar")) { setTimeout(measure, 50); return; }
  const out = { wide: document.documentElement.scrollWidth, room: innerWidth,
    bars: [...document.querySelectorAll(".bar:not(.faint)")].map((g) => g.dataset.row + "." + g.dataset.bar),
    rows: document.querySelectorAll("#labels div").length,
    texts: [...document.querySelectorAll(".bar text")].map((t) => t.textContent) };
  const kinds = (each) => [...each.classList].filter((name) => !["lit", "on", "faint"].includes(name));
  out.lit = {};
  for (let cycle = model.first; cycle < model.end; cycle++) {
    go(cycle);
    out.lit[cycle] = [
      [...new Set([...document.querySelectorAll(".drawing .on")].flatMap(kinds))].sort(),
      [...document.querySelectorAll("#program .lit")].map((line) => +line.dataset.number),
    ];
  }
  const wait = [...document.querySelectorAll("[data-wait]")][0];
  if (wait) {
    out.wait = +wait.dataset.wait;
    wait.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    out.at = document.body.dataset.at;
    out.detail = document.getElementById("detail").textContent;
  }
  const finish = () => {
    draw();
    const chosen = [...document.querySelectorAll(".bar.chosen")];
    out.chosen = chosen.map((g) => [+g.dataset.row, +g.dataset.bar, +g.dataset.shift]);
    document.getElementById("in").click();
    document.querySelector("#strands summary").click();
    setTimeout(() => {
      out.strands = document.querySelectorAll("#strands tr").length;
      out.zoomed = parseFloat(document.getElementById("spacer").style.width);
      const made = document.createElement("pre");
      made.id = "measured"; made.textContent = JSON.stringify(out);
      document.body.append(made);
    }, 200);
  };
  setTimeout(finish, 200);
});
</script></body>"""
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --hide-scrollbars --virtual-time-budget=30000""".split()


def measured(page: str, width: int, folder: Path) -> dict:
    """What a browser makes of the page in a frame of this width; a window may not be as narrow as a telephone."""
    (folder / "page.html").write_text(page.replace("</body>", MEASURE), encoding="utf-8")
    framed = f'<iframe id="frame" srcdoc="" style="width:{width}px;height:900px;border:0"></iframe>'
    relay = """<script>frame.onload = () => setInterval(() => {
      const found = frame.contentDocument && frame.contentDocument.getElementById("measured");
      if (found && !document.getElementById("measured")) document.body.append(document.importNode(found, true));
    }, 50); frame.srcdoc = JSON.parse(document.getElementById("text").textContent);</script>"""
    text = json.dumps((folder / "page.html").read_text(encoding="utf-8")).replace("<", "\\u003c")
    holder = f'<script type="application/json" id="text">{text}</script>'
    outer = folder / "frame.html"
    outer.write_text(f"<!doctype html><meta charset=utf-8><body>{framed}{holder}{relay}</body>", encoding="utf-8")
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--window-size=1500,1000", "--dump-dom"]
    done = subprocess.run([*command, outer.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(unescape(found[1]))


@pytest.mark.skipif(not BROWSER, reason="no chromium: the schedule page is not tried in a browser")
@pytest.mark.parametrize("width", [1400, 420])
def test_a_browser_draws_it_and_a_click_jumps(backprop: Build, width: int, tmp_path: Path) -> None:
    page = page_of(backprop)
    model = model_of(page)
    found = measured(page, width, tmp_path)
    assert found["room"] == width and found["wide"] <= width
    assert found["rows"] == len(model["rows"])
    if width == 1400:
        expected = {f"{row}.{bar}" for row, each in enumerate(model["rows"]) for bar in range(len(each["bars"]))}
        assert set(found["bars"]) == expected
    for cycle, (kinds, numbers) in found["lit"].items():
        working = [(row["kind"], bar) for row in model["rows"] for bar in row["bars"] if bar[0] <= int(cycle) < bar[1]]
        assert kinds == sorted({kind for kind, _ in working})
        assert set(numbers) == {model["sources"][bar[3]][1] for _, bar in working if bar[3] >= 0}
    assert "w2 up the tree" in found["texts"] or width == 420
    assert len(found["texts"]) > 5
    _, first, end, reason, target, bar, shift = model["waits"][found["wait"]]
    assert found["at"] == model["rows"][target]["name"]
    assert found["chosen"] == [[target, bar, shift]]
    assert f"wait for {REASONS[reason]}: " in found["detail"] and f"({end - first})" in found["detail"]
    line = model["sources"][model["rows"][target]["bars"][bar][3]]
    assert f"{line[0]}:{line[1]}" in found["detail"] and line[2] in found["detail"]
    assert found["strands"] == sum(len(row["bars"]) for row in model["rows"]) + 1
    assert found["zoomed"] > width / 2


def test_bars_are_named_by_the_program(backprop: Build) -> None:
    names = model_of(schedule_page(backprop.schedule, backprop.bound))["names"]
    assert not [name for name in names if re.search(r"\bs\d+ ", name)]
    assert any(name.startswith("sigmoid: ") and "sum[" in name for name in names)
