"""The page in a browser: every point is drawn, a click shows its command, and nothing is wider than the window."""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from manual.browser import BROWSER
from tabla.learn.explore.page import explore_page
from tabla.learn.explore.result import Candidate, Exploration, Part
from tabla.learn.explore.space import Point
from tabla.templates.targets import target

FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
MEASURE = """<script>setTimeout(() => {
  const dots = [...document.querySelectorAll(".dot")], before = dots.length;
  dots[dots.length - 1].dispatchEvent(new MouseEvent("click"));
  const detail = document.getElementById("detail").textContent;
  document.getElementById("only").click();
  const front = document.querySelectorAll(".dot").length;
  document.getElementById("parts").children[1].click();
  const other = document.querySelectorAll(".dot").length;
  document.getElementById("up").value = "cycles";
  document.getElementById("up").dispatchEvent(new Event("change"));
  const found = {before, detail, front, other, wide: document.documentElement.scrollWidth, room: innerWidth,
    titles: [...document.querySelectorAll("svg .title")].map((each) => each.textContent)};
  const pre = document.createElement("pre");
  pre.id = "measured";
  pre.textContent = JSON.stringify(found);
  document.body.append(pre);
}, 300);</script></body>"""


def exploration() -> Exploration:
    """Return six points on each of two parts."""
    found = []
    for part in (Part(device=target("ecp5").device(name), grade=6) for name in ("85k", "25k")):
        for pes, cycles in ((4, 37), (8, 34), (16, 33)):
            for number, metric in (("q6.10", 0.96), ("q4.4", 0.9)):
                found.append(
                    Candidate(
                        point=Point(pes=pes, format=number),
                        part=part,
                        effort=2,
                        command=("tabla", "gen", "model.t", "--pes", str(pes), "--format", number),
                        cycles=cycles,
                        resources={"LUT": 700 * pes, "FF": 800 * pes, "DSP": pes + 1, "RAM": 20 + 2 * pes},
                        megahertz=170.0,
                        metric=metric,
                    )
                )
    return Exploration(name="model", points=tuple(found), metric="accuracy")


@pytest.mark.slow
@pytest.mark.skipif(not BROWSER, reason="no chromium: the page is not tried in a browser")
@pytest.mark.parametrize("width", [1300, 520])
def test_a_click_shows_the_command(width: int, tmp_path: Path) -> None:
    made = exploration()
    (tmp_path / "page.html").write_text(explore_page(made).replace("</body>", MEASURE), encoding="utf-8")
    command = [BROWSER, *FLAGS.split(), f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},1200"]
    command += ["--virtual-time-budget=4000", "--dump-dom", (tmp_path / "page.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    measured = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    assert measured is not None, done.stdout[-2000:] + done.stderr[-2000:]
    found: dict[str, Any] = json.loads(unescape(measured[1]))
    fronts = [len(made.front(part)) for part in made.parts]
    assert (found["before"], found["front"], found["other"]) == (6, *fronts)
    assert "tabla gen model.t --pes" in found["detail"] and "samples per second" in found["detail"]
    assert "cycles per sample" in found["titles"] and found["wide"] <= found["room"]
