"""The playground in a browser: logistic regression trains, an error shows its caret, and Stop ends a long run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from manual.browser import BROWSER, Tab, browser
from tabla.commands.playground.runs import DONE
from tests.commands.test_play import LINE, Server, playing

pytestmark = pytest.mark.skipif(not BROWSER, reason="no chromium: the playground is not tried in a browser")
ENDED = "['Done.', 'Stopped.', 'There is an error.'].find((each) => get('status').textContent === each)"
TABS = ("graph", "schedule", "cycles", "verilog", "training")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with playing(tmp_path_factory.mktemp("play")) as found:
        yield found


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser(tmp_path_factory.mktemp("browser")) as tab:
        yield tab


@pytest.fixture
def tab(opened: Tab, server: Server) -> Tab:
    """The page, as somebody sees it who has just come."""
    opened.look(width=1400, height=1000)
    opened.go(server.url)
    return opened


def click(tab: Tab, button: str) -> None:
    tab.run(f"get('{button}').click()")


def seen(tab: Tab, panel: str) -> str:
    """Return what a tab of results shows; others are hidden then."""
    tab.run(f"get('tab-{panel}').click()")
    return tab.run(f"get('{panel}').innerText")


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (420, True)])
def test_logistic_regression_trains(tab: Tab, width: int, dark: bool) -> None:
    pytest.importorskip("sklearn", reason="the real data comes with scikit-learn")
    tab.look(width=width, height=1000, dark=dark)
    page = tab.run("getComputedStyle(document.body).backgroundColor")
    assert (page == "rgb(255, 255, 255)") != dark
    assert tab.run("get('stop').disabled") is True
    click(tab, "run")
    assert tab.run("get('stop').disabled") is False
    assert tab.until(ENDED) == "Done."
    assert tab.run("get('stop').disabled") is True and tab.run("get('faults').hidden") is True
    trained = seen(tab, "training")
    assert "test accuracy 98.25 % (float64 98.25 %)" in trained
    assert len(tab.run("document.querySelector('#training polyline').getAttribute('points')").split()) == 6
    assert seen(tab, "cycles").startswith("logistic: 16 PEs, 16 per PU, q7.11")
    assert "\nmodule logistic" in seen(tab, "verilog")
    seen(tab, "graph")
    tab.until("document.querySelector('#graph img').complete")
    assert tab.run("document.querySelector('#graph img').naturalWidth") > 300
    seen(tab, "schedule")
    for panel in TABS:
        seen(tab, panel)
        assert tab.run("document.documentElement.scrollWidth") == width, panel
        assert tab.run("[...document.querySelectorAll('[role=tabpanel]:not([hidden])')].map((p) => p.id)") == [panel]


def test_the_schedule_is_drawn_in_its_frame_and_cannot_reach_the_page(tab: Tab) -> None:
    tab.run("get('data').value = 'nothing'")
    click(tab, "run")
    assert tab.until(ENDED) == "Done."
    seen(tab, "schedule")
    targets = tab.call("Target.getTargets")["targetInfos"]
    assert tab.run("document.querySelector('iframe').sandbox.value") == "allow-scripts"
    assert tab.run("document.querySelector('iframe').contentDocument") is None
    tree = tab.call("Page.getFrameTree")["frameTree"]
    shown = [child["frame"]["url"] for child in tree.get("childFrames", [])] + [each["url"] for each in targets]
    assert any(url.endswith("/schedule.html") for url in shown)
    # The frame is drawn if its middle has more than the colour of the page.
    tab.run("document.querySelector('iframe').scrollIntoView()")
    empty = len(tab.picture())
    end = time.monotonic() + 30
    while (drawn := len(tab.picture())) < 40_000 and time.monotonic() < end:
        time.sleep(0.2)
    assert drawn >= 40_000, (empty, drawn)


@pytest.mark.parametrize("width", [1400, 420])
def test_an_error_shows_its_caret_and_its_line(tab: Tab, width: int) -> None:
    tab.look(width=width, height=1000)
    tab.run("text.value = text.value.replace('w[i] *', 'v[i] *'); text.dispatchEvent(new Event('input'))")
    click(tab, "run")
    assert tab.until(ENDED) == "There is an error."
    lines = tab.run("get('fault').textContent").split("\n")
    assert lines[:2] == ["error: 'v' is not declared and has no value", " --> logistic.t:16:20"]
    assert lines[2].index("v") == lines[3].index("^")
    marks = tab.run("[...marks.children].map((mark) => (mark.offsetTop - TOP) / LINE + 1)")
    assert marks == [16]
    top = tab.run("get('faults').getBoundingClientRect().top")
    assert 0 <= top < 1000, "the error is in sight"
    assert tab.run("document.documentElement.scrollWidth") == width
    tab.run("document.querySelector('#places button').click()")
    assert tab.run("text.value.slice(text.selectionStart, text.selectionStart + 4)") == "v[i]"
    tab.run("text.value = text.value.replace('v[i] *', 'w[i] *'); text.dispatchEvent(new Event('input'))")
    assert tab.run("marks.children.length") == 0


def test_stop_ends_a_long_run(tab: Tab, server: Server) -> None:
    tab.run("get('data').value = 'made up'; get('epochs').value = 1000")
    click(tab, "run")
    tab.until("document.querySelector('#training svg') !== null")
    assert tab.run("get('status').textContent").startswith("learning: epoch ")
    assert len(server.children()) == 1
    click(tab, "stop")
    assert tab.until(ENDED, patience=10) == "Stopped."
    assert server.children() == []
    assert tab.run("document.querySelector('#training svg') !== null"), "what was found stays"


def test_a_run_that_takes_the_place_of_another(tab: Tab) -> None:
    tab.run("get('data').value = 'made up'; get('epochs').value = 1000")
    click(tab, "run")
    tab.until("document.querySelector('#training svg') !== null")
    tab.run("get('epochs').value = 2; get('form').requestSubmit()")
    assert tab.until(ENDED) == "Done."
    assert "2 epochs" in seen(tab, "training")


def test_a_run_of_another_page_is_told(tab: Tab, server: Server) -> None:
    tab.run("get('data').value = 'made up'; get('epochs').value = 1000")
    click(tab, "run")
    tab.until("document.querySelector('#training svg') !== null")
    other = server.start(LINE)
    tab.until("get('status').textContent.startsWith('Another page has started a run')")
    assert tab.run("get('stop').disabled") is True
    assert server.ended(other)["state"] == DONE


def test_the_editor_has_the_colours_of_the_language(tab: Tab) -> None:
    kinds = (
        "Object.fromEntries([...colours.querySelectorAll('span')].map((span) => [span.textContent, span.className]))"
    )
    tab.run("text.value = 'model_input x[2]; // sum\\ny = sigmoid(x) + 1.5e-3;<b>'; paint()")
    expected = {"model_input": "keyword", "2": "number", "// sum": "comment", "sigmoid": "function", "1.5e-3": "number"}
    assert tab.run(kinds) == expected
    assert tab.run("colours.textContent === text.value") and tab.run("colours.querySelector('b')") is None
    spots = (
        "['colours', 'text'].map((id) => { const s = getComputedStyle(get(id)); return [s.font, s.padding, s.left]; })"
    )
    first, second = tab.run(spots)
    assert first == second, "letters and colours lie on each other"
    assert tab.run("text.scrollTop = 0, numbers.textContent") == "1\n2"


def test_examples_change_the_program_and_the_options(tab: Tab) -> None:
    tab.run("get('example').value = 'svm'; get('example').dispatchEvent(new Event('change'))")
    assert tab.run("text.value").startswith("// Support vector machine")
    assert tab.run("[get('format').value, get('data').value]") == ["q6.12", "svm"]
    assert tab.run("colours.textContent === text.value")


def test_a_kernel_of_tensor_comprehensions_trains(tab: Tab) -> None:
    assert tab.run("get('kernel').offsetHeight") == 0
    tab.run("get('example').value = 'layer'; get('example').dispatchEvent(new Event('change'))")
    assert tab.run("get('kernel').offsetHeight") > 0
    assert tab.run("[get('sizes').value, get('learns').value]") == ["K=8 N=2", "W bias"]
    assert tab.run("colours.textContent === text.value && colours.querySelector('.comment').textContent[0]") == "#"
    assert tab.run("[...colours.querySelectorAll('.keyword')].map((word) => word.textContent)[0]") == "def"
    click(tab, "run")
    assert tab.until(ENDED) == "Done."
    points = tab.run("document.querySelector('#training polyline').getAttribute('points')").split()
    heights = [float(point.split(",")[1]) for point in points]
    assert len(heights) == 11 and heights[0] < heights[-1], "the loss has fallen: the curve begins at the top"
    assert "\nmodule layer" in seen(tab, "verilog")
    tab.run("text.value = text.value.replace('x(k)', 'u(k)'); text.dispatchEvent(new Event('input'))")
    click(tab, "run")
    assert tab.until(ENDED) == "There is an error."
    assert tab.run("get('fault').textContent").split("\n")[1].startswith(" --> layer.tc:5:")
    assert tab.run("[...marks.children].map((mark) => (mark.offsetTop - TOP) / LINE + 1)") == [5]


def test_the_page_says_that_the_server_has_gone(tab: Tab, tmp_path: Path) -> None:
    with playing(tmp_path) as other:
        tab.go(other.url)
    click(tab, "run")
    tab.until("get('status').textContent.startsWith('tabla play does not answer')")
    assert tab.run("get('stop').disabled") is True
