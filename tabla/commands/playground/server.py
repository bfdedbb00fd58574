"""The server of the playground: it speaks HTTP to browsers of this machine, and to nobody who lacks its token.

It listens at 127.0.0.1 alone. A request needs three things, and else gets no content at all:

* A ``Host`` that is this machine's. A page from elsewhere may let its own name point to 127.0.0.1 (DNS rebinding); the
  browser then sends that name.
* An ``Origin``, if there is one, that is the server's own. A browser sends it with every POST of a page.
* A path that begins with the token, which is drawn when the server starts. Other programs and users of the machine may
  connect, and do not know it.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tabla.base.source import TablaError
from tabla.commands.playground.page import page
from tabla.commands.playground.request import Request
from tabla.commands.playground.runs import Run, Runs

ADDRESS = "127.0.0.1"
LARGEST = 1_000_000
"""The most bytes of a request."""
MOST_PASSED_OVER = 16 * LARGEST
"""The most bytes of a request that is too large which are read before its answer."""
PATIENCE = 15.0
"""Seconds after which the state of a run is sent though nothing has changed."""
_POLL = 0.1
TYPES = {
    "svg": "image/svg+xml",
    "html": "text/html",
    "txt": "text/plain",
    "v": "text/plain",
}
"""The types of results, by the ends of their names."""
_ROUTE = re.compile(r"/(?P<token>[\w-]+)/(?:runs/(?P<run>\d{1,9})/)?(?P<name>[\w.]*)")
_ALONE = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'self'"
"""What a result may load: nothing. The page of the schedule has its script and its style inside."""


class Server(ThreadingHTTPServer):
    """The server with its runs. `port` 0 asks the system for a free port."""

    daemon_threads = True

    def __init__(self, port: int, runs: Runs) -> None:
        self.runs = runs
        self.token = secrets.token_urlsafe(16)
        super().__init__((ADDRESS, port), _Handler)

    @property
    def port(self) -> int:
        """The port at which the server listens."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{ADDRESS}:{self.port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names with which browsers of this machine call the server."""
        return tuple(f"{name}:{self.port}" for name in (ADDRESS, "localhost"))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone away. Python would print a traceback."""


@contextmanager
def serving(port: int, runs: Runs) -> Iterator[Server]:
    """Serve until the ``with`` block ends, in threads of its own. A port that is taken is a `TablaError`."""
    try:
        server = Server(port, runs)
    except OSError as fault:
        raise TablaError(
            f"cannot listen at port {port}: {fault.strerror or fault}", hint="leave --port out for a free port"
        ) from None
    with server:
        threading.Thread(target=server.serve_forever, args=(_POLL,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request of a browser, if it may come."""

    server: Server
    server_version, sys_version = "tabla", ""
    timeout = 60

    def do_GET(self) -> None:
        """Answer with the page, the state of a run, or a result."""
        found = self._route()
        if found is None:
            return
        run, name = found
        if run is None and not name:
            nonce = secrets.token_urlsafe(16)
            self._send(page(nonce), "text/html", _policy(nonce))
        elif run is not None and name == "state":
            self._send_json(run.snapshot(self._after(), PATIENCE))
        elif run is not None and (text := run.result(name)) is not None:
            self._send(text, TYPES[name.rpartition(".")[2]], _ALONE)
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Start a run, or stop one."""
        found = self._route()
        if found is None:
            return
        run, name = found
        if run is None and name == "run":
            self._start()
        elif run is not None and name == "stop":
            self.server.runs.stop(run.number)
            self._send_json({"run": run.number})
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def _start(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"\d{1,9}", length):
            self._refuse(HTTPStatus.LENGTH_REQUIRED)
        elif int(length) > LARGEST:
            # A client that cannot send its request to the end may not read the answer.
            self.rfile.read(min(int(length), MOST_PASSED_OVER))
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        elif self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        else:
            try:
                request = Request.of(json.loads(self.rfile.read(int(length))))
            except (ValueError, RecursionError):
                self._refuse(HTTPStatus.BAD_REQUEST)
                return
            self._send_json({"run": self.server.runs.start(request).number})

    def _route(self) -> tuple[Run | None, str] | None:
        """Return the run and the name of a path. A request that may not come gets its answer, and None is returned."""
        found = _ROUTE.fullmatch(self.path.partition("?")[0])
        if found is None or not self._may(found["token"]):
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        run = None if found["run"] is None else self.server.runs.find(int(found["run"]))
        if found["run"] is not None and run is None:
            self._refuse(HTTPStatus.NOT_FOUND)
            return None
        return run, found["name"]

    def _may(self, token: str) -> bool:
        """Return whether the request comes from a page of this server, or from somebody who typed its address."""
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        called = [host.lower() for host in hosts]
        return (
            len(called) == 1
            and called[0] in self.server.hosts
            and all(origin.lower() == f"http://{called[0]}" for origin in origins)
            and secrets.compare_digest(token.encode(), self.server.token.encode())
        )

    def _after(self) -> int:
        """Return the version of the state that the browser has, or -1."""
        known = re.fullmatch(r"after=(\d{1,9})", self.path.partition("?")[2])
        return int(known[1]) if known else -1

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer that a request is not carried out. A body that was not read is not read any more."""
        self.close_connection = True
        self._send(f"{status.value} {status.phrase}\n", "text/plain", "default-src 'none'", status)

    def _send_json(self, value: object) -> None:
        self._send(json.dumps(value), "application/json", "default-src 'none'")

    def _send(self, text: str, kind: str, policy: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        body = text.encode("utf-8", errors="replace")
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", policy),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing about requests."""


def _policy(nonce: str) -> str:
    """Return what the page may load: its own script, styles, and results of this server."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
