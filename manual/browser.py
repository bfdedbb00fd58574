"""Chromium without a window, which a test or a recording asks to run scripts in a page and to make pictures of it.

The browser takes its orders through two pipes (``--remote-debugging-pipe``): values of JSON, each ended by a zero byte.
So nothing is needed beside the browser itself.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe""".split()


class Tab:
    """A tab of a running browser."""

    def __init__(self, orders: int, answers: int) -> None:
        self._orders, self._answers = orders, answers
        self._number, self._read = 0, b""
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give an order of the DevTools protocol, and return its result."""
        self._number += 1
        order = {"id": self._number, "method": method, "params": parameters}
        order |= {"sessionId": self._session} if self._session else {}
        os.write(self._orders, json.dumps(order).encode() + b"\0")
        while True:
            found = self._message()
            if found.get("id") == self._number:
                assert "error" not in found, (method, found["error"])
                return found["result"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            more = os.read(self._answers, 1 << 16)
            assert more, "the browser has ended"
            self._read += more
        text, _, self._read = self._read.partition(b"\0")
        return json.loads(text)

    def go(self, url: str) -> None:
        """Load a page."""
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """Return the value of a script, as JSON has it. A script that fails fails the test."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, (script, found["exceptionDetails"])
        return found["result"].get("value")

    def until(self, script: str, patience: float = 60.0) -> Any:
        """Wait until a script has a value that is true, and return that value."""
        end = time.monotonic() + patience
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"{script} is {value!r} after {patience} s"
            time.sleep(0.05)
        return value

    def look(self, *, width: int, height: int, dark: bool = False, scale: float = 1.0) -> None:
        """Give the page a size in pixels, and a person who likes it light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        liked = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[liked])

    def picture(self) -> bytes:
        """Return what is seen of the page as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@contextmanager
def browser(folder: Path) -> Iterator[Tab]:
    """Start the browser with a profile in `folder`, and yield a tab. The end of the ``with`` block ends the browser."""
    (order_in, order_out), (answer_in, answer_out) = os.pipe(), os.pipe()

    def pipes() -> None:
        # The browser reads orders from descriptor 3 and writes answers to 4. Ours may have these numbers.
        high = [os.dup(each) for each in (order_in, answer_out)]
        for number, each in enumerate(high, start=3):
            os.dup2(each, number)

    profile = f"--user-data-dir={folder / 'profile'}"
    process = subprocess.Popen(
        [BROWSER, *FLAGS, profile],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=pipes,
    )
    os.close(order_in)
    os.close(answer_out)
    try:
        yield Tab(order_out, answer_in)
    finally:
        process.kill()
        process.wait()
        os.close(order_out)
        os.close(answer_in)
