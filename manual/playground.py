"""The pictures of the playground's page: ``python -m manual.playground`` writes ``docs/play-*.png``.

It runs ``tabla play``, and asks Chromium to use the page as a person does: to run logistic regression, to look at what
comes of it, and to make a mistake. No test holds the pictures, because browsers draw letters differently.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from manual.browser import Tab, browser

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs"
WIDE, NARROW = {"width": 1240, "height": 760}, {"width": 420, "height": 980}
ENDED = "['Done.', 'There is an error.'].includes(get('status').textContent)"
_DRAWN = "new Promise((drawn) => setTimeout(() => drawn(true), 1500))"
"""The page of the schedule draws itself in its frame, which the page around it cannot ask."""


def _run(tab: Tab) -> None:
    tab.run("get('run').click()")
    tab.until(ENDED)


def _keep(tab: Tab, name: str) -> None:
    tab.run(_DRAWN)
    (PICTURES / f"play-{name}.png").write_bytes(tab.picture())


def main() -> None:
    """Write the pictures."""
    command = [sys.executable, "-m", "tabla", "play", "--no-open"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process,
        tempfile.TemporaryDirectory() as folder,
        browser(Path(folder)) as tab,
    ):
        assert process.stdout is not None
        url = process.stdout.readline().split()[1]
        tab.look(**WIDE)
        tab.go(url)
        _run(tab)
        for name in ("training", "schedule"):
            tab.run(f"get('tab-{name}').click()")
            _keep(tab, name)
        tab.look(**NARROW, dark=True)
        tab.run("text.value = text.value.replace('w[i] *', 'v[i] *'); paint()")
        _run(tab)
        _keep(tab, "error")
        process.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
