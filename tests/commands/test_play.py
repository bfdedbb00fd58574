"""The playground as a server: what it answers to whom, what a run finds, and what is left when it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.base.interrupts import Interrupted
from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.commands.cli import main
from tabla.commands.playground import runs as runs_module
from tabla.commands.playground.examples import data_names, data_of, offers
from tabla.commands.playground.made_up import SAMPLES, made_up
from tabla.commands.playground.request import MADE_UP, NOTHING, TABLA, Request
from tabla.commands.playground.runs import DONE, FAULT, STOPPED, Run, Runs
from tabla.driver import build
from tabla.examples.catalogue import EXAMPLES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/play.md"
PROGRAM = """model_input x[3];
model_output y;
model w[3];
gradient g[3] -> w;
iterator i[0:3];
mu = 0.125;
e = sum[i](w[i] * x[i]) - y;
g[i] = e * x[i];
"""
LINE = Request(name="line", text=PROGRAM, pes=2, format="q6.10", minibatch=1, data=MADE_UP, epochs=3, engine="model")
LONG = replace(LINE, epochs=1000, engine="model")
KERNEL = """# A layer.
def layer(float(K) x, float(N, K) W) -> (y) {
  y(n) +=! W(n, k) * x(k)
}
"""
LAYER = replace(LINE, name="layer", text=KERNEL, language="tc", sizes="K=3, N=2", learns="W", rate="0.125")
PATIENCE = 60.0


@dataclass(frozen=True)
class Server:
    """A running ``tabla play``, and its address."""

    process: subprocess.Popen[str]
    url: str

    def ask(self, path: str = "", value: object = None, headers: dict[str, str] | None = None) -> tuple[int, str]:
        """Return the status and the text of an answer. A `value` is sent by POST, as JSON unless it is bytes."""
        body = value if isinstance(value, bytes | None) else json.dumps(value).encode()
        told = {"Content-Type": "application/json"} if body is not None else {}
        asked = urllib.request.Request(self.url + path, data=body, headers={**told, **(headers or {})})
        try:
            with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as fault:
            return fault.code, fault.read().decode()

    def start(self, request: Request) -> int:
        """Start a run, and return its number."""
        status, text = self.ask("run", request.as_json())
        assert status == 200, text
        return json.loads(text)["run"]

    def state(self, run: int, until: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first state of a run that is as wanted."""
        found, end = {"version": -1}, time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = json.loads(self.ask(f"runs/{run}/state?after={found['version']}")[1])
            if until(found):
                return found
        pytest.fail(f"after {PATIENCE} s the run is still {found}")

    def ended(self, run: int) -> dict[str, Any]:
        """Return the state of a run after its end."""
        return self.state(run, lambda state: state["state"] != "running")

    def result(self, run: int, name: str) -> str:
        """Return a result of a run."""
        status, text = self.ask(f"runs/{run}/{name}")
        assert status == 200
        return text

    def children(self) -> list[str]:
        """Return the numbers of the processes that the server has started and that still live."""
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        return found.stdout.split()


@contextmanager
def playing(folder: Path) -> Iterator[Server]:
    """Run ``tabla play`` with `folder` as the temporary folder and the home of the user."""
    given = {"TMPDIR": str(folder), "PYTHONPATH": str(ROOT), "TABLA_CACHE": str(folder / "cache-of-user")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tabla", "play", "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **given},
        cwd=folder,
        # Tests that run in the background of a shell ignore Ctrl-C, and so would the command.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"playground   (http://127\.0\.0\.1:\d+/[\w-]{20,}/)\n", line)
        assert found is not None, line
        yield Server(process, found[1])
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with playing(tmp_path_factory.mktemp("play")) as found:
        yield found


# ---- runs


def test_a_run_finds_what_the_commands_find(server: Server, tmp_path: Path, command: Callable[..., str]) -> None:
    run = server.start(LINE)
    state = server.ended(run)
    assert (state["state"], state["fault"]) == (DONE, None)
    program = tmp_path / "line.t"
    program.write_text(PROGRAM, encoding="utf-8")
    said = command(
        "gen", str(program), "--pes", "2", "--format", "q6.10", "--saturate", "-q", "-o", str(tmp_path / "b")
    )
    assert server.result(run, "report.txt") == said.partition("\nwritten")[0]
    for ours, theirs in (("graph.svg", "line.graph.svg"), ("verilog.v", "line.v")):
        assert server.result(run, ours) == (tmp_path / "b" / theirs).read_text(encoding="utf-8")
    assert ">3 epochs" not in server.result(run, "training.html")
    assert "320 samples, 3 epochs" in server.result(run, "training.html")
    assert "predicted = " in server.result(run, "training.txt")
    assert any("made up" in note for note in state["notes"])


def test_a_kernel_learns(server: Server, tmp_path: Path, command: Callable[..., str]) -> None:
    run = server.start(LAYER)
    state = server.ended(run)
    assert (state["state"], state["fault"]) == (DONE, None)
    program = tmp_path / "layer.tc"
    program.write_text(KERNEL, encoding="utf-8")
    learns = "--size K=3 --size N=2 --train W --loss mse --learning-rate 0.125".split()
    array = "--pes 2 --format q6.10 --saturate -q -o".split()
    said = command("gen", str(program), *learns, *array, str(tmp_path / "b"))
    assert server.result(run, "report.txt") == said.partition("\nwritten")[0]
    assert server.result(run, "verilog.v") == (tmp_path / "b" / "layer.v").read_text(encoding="utf-8")
    assert "320 samples, 3 epochs" in server.result(run, "training.html")


def test_a_kernel_of_which_nothing_learns_is_built(server: Server) -> None:
    run = server.start(replace(LAYER, learns="", rate=""))
    state = server.ended(run)
    assert (state["state"], state["fault"]) == (DONE, None)
    assert state["notes"] == ["The program does not say what learns, so nothing is learnt."]
    assert server.result(run, "verilog.v").endswith("endmodule\n")


@pytest.mark.parametrize(
    ("changed", "said", "places"),
    [
        ({"text": KERNEL.replace("W(n", "V(n")}, "'V'", [[3, 12]]),
        ({"sizes": "K=3"}, "the size 'N' has no value", [[2, 35]]),
        ({"sizes": "K"}, "'K' is not NAME=NUMBER", []),
        ({"sizes": "K=0 N=2"}, "0", []),
        ({"learns": "V"}, "'layer' has no such input", []),
        ({"rate": ""}, "needs a learning rate", []),
        ({"rate": "fast"}, "fast", []),
        ({"name": "../layer"}, "is no name of a program", []),
        ({"language": "py"}, "does not know the language", []),
        ({"text": "\ud800 \0"}, "error: ", [[1, 1], [1, 3]]),
    ],
)
def test_a_fault_of_a_kernel_is_an_error(
    server: Server, changed: dict[str, Any], said: str, places: list[list[int]]
) -> None:
    state = server.ended(server.start(replace(LAYER, **changed)))
    assert state["state"] == FAULT and not state["results"]
    assert state["fault"]["text"].startswith("error: ") and said in state["fault"]["text"]
    assert "fault of tabla" not in state["fault"]["text"]
    assert state["fault"]["places"] == places


def test_the_schedule_is_the_page_that_gen_writes(server: Server) -> None:
    run = server.start(replace(LINE, data=NOTHING))
    state = server.ended(run)
    assert not any(name.startswith("training") for name in state["results"])
    page = server.result(run, "schedule.html")
    assert "<h1>line<small>the schedule of one sample</small></h1>" in page and 'id="timeline"' not in page


@pytest.mark.parametrize(
    ("broken", "places"),
    [
        (PROGRAM.replace("w[i] *", "v[i] *"), [[7, 12]]),
        (PROGRAM.replace("0.125;", "0.125"), [[6, 11]]),
        (PROGRAM.replace("w[i] *", "v[i] *").replace("e * x[i]", "e * u[i]"), [[7, 12], [8, 12]]),
    ],
)
def test_an_error_is_that_of_the_commands_with_its_caret(
    server: Server,
    broken: str,
    places: list[list[int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[..., str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("line.t").write_text(broken, encoding="utf-8")
    state = server.ended(server.start(replace(LINE, text=broken)))
    assert state["state"] == FAULT and not state["results"]
    assert state["fault"] == {"text": command("check", "line.t", status=1).rstrip("\n"), "places": places}
    assert "^" in state["fault"]["text"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"pes": 1000}, "1000"),
        ({"pes": 0}, "pes"),
        ({"format": "q99.99"}, "q99.99"),
        ({"format": "auto"}, "the playground chooses no format"),
        ({"minibatch": 0}, "minibatch"),
        ({"epochs": 1001}, "epochs"),
        ({"epochs": -1}, "epochs"),
        ({"engine": "abacus"}, "abacus"),
        ({"data": "stars"}, "there is no data 'stars'"),
        ({"data": "linear"}, "'x"),
        ({"text": ""}, "error: "),
        ({"text": "\ud800 \0"}, "error: "),
    ],
)
def test_a_wrong_option_is_an_error(server: Server, changed: dict[str, Any], said: str) -> None:
    state = server.ended(server.start(replace(LINE, **changed)))
    assert state["state"] == FAULT
    assert state["fault"]["text"].startswith("error: ") and said in state["fault"]["text"]
    assert "Traceback" not in state["fault"]["text"] and "fault of tabla" not in state["fault"]["text"]


def test_data_that_does_not_fit_leaves_the_verilog(server: Server) -> None:
    run = server.start(replace(LINE, data="linear"))
    state = server.ended(run)
    assert state["state"] == FAULT and state["results"].keys() >= {"graph.svg", "schedule.html", "verilog.v"}
    assert server.result(run, "verilog.v").endswith("endmodule\n")


def test_a_program_without_a_gradient_learns_nothing(server: Server) -> None:
    text = "model_input x[3];\nmodel w[3];\niterator i[0:3];\np = sum[i](w[i] * x[i]);\n"
    state = server.ended(server.start(replace(LINE, text=text)))
    assert state["state"] == DONE, state["fault"]
    assert state["notes"] == ["The program has no gradient, so nothing is learnt."]


def test_stop_ends_a_long_run(server: Server) -> None:
    run = server.start(LONG)
    state = server.state(run, lambda state: "curve.svg" in state["results"])
    assert state["state"] == "running" and state["step"].startswith("learning: epoch ")
    assert len(server.children()) == 1
    began = time.monotonic()
    assert server.ask(f"runs/{run}/stop", {})[0] == 200
    state = server.ended(run)
    assert (state["state"], server.children()) == (STOPPED, [])
    assert time.monotonic() - began < 10
    assert "<svg" in server.result(run, "curve.svg")


def test_a_new_run_ends_the_one_before(server: Server) -> None:
    first = server.start(LONG)
    server.state(first, lambda state: "graph.svg" in state["results"])
    second = server.start(replace(LINE, data=NOTHING))
    assert server.ask(f"runs/{first}/state")[0] == 404
    assert server.ask(f"runs/{first}/stop", {})[0] == 404
    assert server.ended(second)["state"] == DONE
    assert server.children() == []


# ---- who gets an answer


def moved(server: Server, host: str) -> dict[str, str]:
    return {"Host": host + ":" + server.url.split(":")[2].split("/")[0]}


def test_the_page_asks_nobody_else(server: Server) -> None:
    status, page = server.ask()
    assert status == 200
    assert not re.search(r"""(?:src|href)=["'](?!data:,)""", page) and "@import" not in page and "://" not in page
    assert page.count("<script") == 2
    for offer in offers():
        assert f'<option value="{offer.name}">' in page


def test_answers_let_a_page_load_nothing_else(server: Server) -> None:
    with urllib.request.urlopen(server.url) as answer:
        policy = answer.headers["Content-Security-Policy"]
        nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)
        assert nonce is not None and f'<script nonce="{nonce[1]}">' in answer.read().decode()
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    run = server.start(replace(LINE, data=NOTHING))
    server.ended(run)
    with urllib.request.urlopen(server.url + f"runs/{run}/graph.svg") as answer:
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert answer.headers["Content-Type"] == "image/svg+xml; charset=utf-8"


def test_localhost_is_this_machine(server: Server) -> None:
    here = moved(server, "LocalHost")
    assert server.ask(headers=here)[0] == 200
    assert server.ask("run", {}, headers={**here, "Origin": f"http://{here['Host'].lower()}"})[0] == 400


@pytest.mark.parametrize("path", ["", "run"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.2", "localhost.", "[::1]"])
def test_a_name_that_leads_here_from_elsewhere_is_refused(server: Server, path: str, host: str) -> None:
    """DNS rebinding: the browser believes that this server is a part of another site."""
    value = LINE.as_json() if path else None
    assert server.ask(path, value, headers=moved(server, host)) == (403, "403 Forbidden\n")


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1", "null", ""])
def test_another_origin_is_refused(server: Server, origin: str) -> None:
    port = server.url.split(":")[2].split("/")[0]
    told = {"Origin": origin.format(port=port)}
    assert server.ask("run", LINE.as_json(), headers=told) == (403, "403 Forbidden\n")
    assert server.ask(headers=told)[0] == 403
    told = {"Origin": f"http://127.0.0.1:{port}"}
    assert server.ask(headers=told)[0] == 200


def test_without_the_token_there_is_nothing(server: Server) -> None:
    base, token = server.url.rstrip("/").rsplit("/", 1)
    for wrong in (
        "",
        "run",
        f"{token}x/",
        f"{token[:-1]}/",
        "x/run",
        f"{token.swapcase()}/",
        f"{token}",
        "../",
        "%00/",
    ):
        other = Server(server.process, f"{base}/{wrong}")
        assert other.ask() == (403, "403 Forbidden\n"), wrong
        assert other.ask("", LINE.as_json())[0] == 403, wrong


@pytest.mark.parametrize(
    ("path", "value", "headers", "status"),
    [
        ("run", b"{", {}, 400),
        ("run", b"[" * 100_000, {}, 400),
        ("run", {}, {}, 400),
        ("run", {**LINE.as_json(), "pes": True}, {}, 400),
        ("run", {**LINE.as_json(), "pes": "2"}, {}, 400),
        ("run", {**LINE.as_json(), "more": 1}, {}, 400),
        ("run", b"x" * 1_000_001, {}, 413),
        ("run", b"x" * 8_000_000, {}, 413),  # more than sockets hold, so the server reads it
        ("run", LINE.as_json(), {"Content-Type": "text/plain"}, 415),
        ("elsewhere", {}, {}, 404),
        ("runs/999/stop", {}, {}, 404),
        ("runs/999/state", None, {}, 404),
        ("elsewhere", None, {}, 404),
    ],
)
def test_a_wrong_request_has_its_status(
    server: Server, path: str, value: object, headers: dict[str, str], status: int
) -> None:
    assert server.ask(path, value, headers)[0] == status


def test_it_listens_at_this_machine_alone(server: Server) -> None:
    port = int(server.url.split(":")[2].split("/")[0])
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", port))


# ---- the end


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("runs", [True, False])
def test_a_signal_leaves_no_process_and_no_folder(tmp_path: Path, number: int, status: int, runs: bool) -> None:
    with playing(tmp_path) as server:
        if runs:
            server.state(server.start(LONG), lambda state: "curve.svg" in state["results"])
        children = server.children()
        assert len(children) == runs and any(tmp_path.iterdir())
        server.process.send_signal(number)
        assert server.process.wait(timeout=20) == status
        _, said = server.process.communicate()
        shown = re.findall(r"^```text\n\$ tabla play\n(.*)\n(.*)\n```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
        assert shown[0][0].startswith("playground   http://127.0.0.1:") and shown[0][0].endswith("/")
        assert said.splitlines()[0] == shown[0][1]
        assert said.endswith("Ctrl-C ends it.\n" if status == 0 else "error: terminated\n")
        assert not [each for each in children if Path("/proc", each).exists()]
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_an_error(server: Server, command: Callable[..., str]) -> None:
    port = server.url.split(":")[2].split("/")[0]
    said = command("play", "--no-open", "--port", port, status=1)
    assert (
        said == f"error: cannot listen at port {port}: Address already in use\nhint: leave --port out for a free port\n"
    )


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1"])
def test_a_port_that_cannot_be_is_refused(port: str, command: Callable[..., str]) -> None:
    assert "--port" in command("play", f"--port={port}", status=2)


@pytest.mark.parametrize("shown", [True, False])
def test_the_browser_is_shown_the_page(
    shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def work(self: Runs) -> None:
        raise Interrupted(signal.SIGINT)

    monkeypatch.setattr(webbrowser, "open", lambda address: asked.append(address) or True)
    monkeypatch.setattr(Runs, "work", work)
    assert main(["play"] if shown else ["play", "--no-open"]) == 0
    said = capsys.readouterr()
    assert asked == ([said.out.split()[1]] if shown else [])
    assert "error" not in said.err


# ---- parts


def test_a_job_that_ends_badly_is_a_fault_of_this_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "JOB", "tabla.no_such_job")
    run = Run(1, LINE)
    assert Runs()._carry_out(run) is None
    state = run.snapshot()
    assert state["state"] == FAULT
    assert state["fault"]["text"].startswith("error: the run ended with status 1, which is a fault of tabla\n")
    assert "no_such_job" in state["fault"]["text"]


def test_a_snapshot_waits_for_news() -> None:
    run = Run(1, LINE)
    began = time.monotonic()
    assert run.snapshot(0, 0.2)["version"] == 0 and time.monotonic() - began >= 0.2
    run.take({"step": "reading"})
    run.take({"result": "report.txt", "text": "many cycles"})
    assert run.snapshot(0, 60)["results"] == {"report.txt": 2}
    run.end(STOPPED)
    run.take({"step": "late"})
    assert (run.snapshot(2, 60)["state"], run.snapshot()["step"]) == (STOPPED, "reading")


def test_offers_are_the_examples_with_their_options() -> None:
    found = {offer.name: offer for offer in offers()}
    assert found.keys() == {*EXAMPLES, "softmax", "layer"} and offers()[0].name == "logistic"
    for name, example in EXAMPLES.items():
        offer = found[name]
        assert offer.text == example.program.read_text(encoding="utf-8") and offer.data == name
        command = re.search(r"^// Run: (.*)$", offer.text, re.MULTILINE)
        assert command is not None and f"--epochs {offer.epochs}" in command[1]
        assert f"--format {offer.format}" in command[1] or offer.format == "q6.10"


LEARN_FROM_MADE_UP = ("logistic", "linear", "svm", "softmax", "backprop")


# The two hidden layers of backprop2 would take minutes.
OFFERS = [
    pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.name in ("backprop", "softmax") else [])
    for each in offers()
    if each.name != "backprop2" and each.language == TABLA
]


@pytest.mark.parametrize("offer", OFFERS)
def test_each_offer_learns(offer: Any) -> None:
    pytest.importorskip("sklearn", reason="the real data comes with scikit-learn")
    made = build(Source.from_text(offer.text, f"{offer.name}.t"), Options(pes=4, format=offer.format, saturate=True))
    given = [data_of(offer.data)] + [made_up(made)] * (offer.name in LEARN_FROM_MADE_UP)
    for data in given:
        training = made.train(data, epochs=offer.epochs, engine="model")
        assert training.machine[-1].loss < 0.6 * training.machine[0].loss
    assert offer.data in data_names()


def test_made_up_data_is_what_hidden_models_predict() -> None:
    """A linear program has labels that some models give exactly; those of least squares are as good."""
    made = build(Source.from_text(PROGRAM, "line.t"), Options(pes=2))
    data = made_up(made)
    assert {name: array.shape for name, array in data.items()} == {"x": (SAMPLES, 3), "y": (SAMPLES,)}
    assert np.abs(data["x"]).max() <= 3 and abs(data["x"].mean()) < 0.1
    found, *_ = np.linalg.lstsq(data["x"], data["y"], rcond=None)
    assert np.allclose(data["x"] @ found, data["y"], atol=1e-9) and np.abs(found).min() > 0
    again = made_up(made)
    assert all(np.array_equal(data[name], again[name]) for name in data)


def test_made_up_labels_of_margins_are_signs() -> None:
    text = EXAMPLES["svm"].program.read_text(encoding="utf-8")
    labels = made_up(build(Source.from_text(text, "svm.t"), Options(pes=2)))["y"]
    assert set(labels) == {-1.0, 1.0} and 0.2 < (labels > 0).mean() < 0.8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PROGRAM.replace("model_output y;", "model_output y, z;").replace("- y", "- y + z"), "2 labels"),
        (PROGRAM.replace("- y", ""), "label"),
    ],
)
def test_data_that_cannot_be_made_up_is_an_error(text: str, said: str) -> None:
    with pytest.raises(TablaError, match=said):
        made_up(build(Source.from_text(text, "line.t"), Options(pes=2)))


def test_made_up_numbers_of_rows_are_rows() -> None:
    """A program that looks rows up gets numbers of rows, and each row some samples."""
    text = "model_input u, x; model_output y; model U[7], w; gradient gU -> U, gw -> w;"
    text += "mu = 0.25; e = U[u] + w * x - y; gU[u] = e; gw = e * x;"
    made = build(Source.from_text(text, "rows.t"), Options(pes=2))
    data = made_up(made)
    assert set(data["u"].tolist()) == set(range(7))
    training = made.train(data, epochs=5, engine="model")
    assert training.machine[-1].loss < 0.1 * training.machine[0].loss
