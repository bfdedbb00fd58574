"""The work of one run of the playground, in a process of its own, so that Stop can end it at any moment.

``python -m tabla.commands.playground.job`` reads a request from standard input as JSON, and writes what it finds to
standard output, a line of JSON for each message. Files are written to the temporary folder alone.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tabla.base.kinds import SIZES
from tabla.base.progress import listening
from tabla.base.source import Source, TablaError
from tabla.build.files.graph_picture import svg
from tabla.build.files.outlook import outlook
from tabla.build.files.schedule_page import schedule_page
from tabla.build.options import Options
from tabla.commands.playground.examples import SHARE, data_names, data_of
from tabla.commands.playground.made_up import made_up
from tabla.commands.playground.request import EPOCHS, MADE_UP, NOTHING, TABLA, TENSOR_COMPREHENSIONS, Request
from tabla.driver import Build, build
from tabla.learn.auto_format import is_automatic
from tabla.learn.data.dataset import Data
from tabla.learn.loop import Progress
from tabla.learn.notebook import loss_curves

OFTEN = 0.2
"""Seconds between two messages about progress."""
Tell = Callable[[dict[str, Any]], None]


def main() -> None:
    """Carry out the request of standard input. A fault of the user is a message, and no failure of the process."""
    request = Request.of(json.load(sys.stdin))
    try:
        with listening(_Steps()):
            carry_out(request, _tell)
    except TablaError as fault:
        _tell(_fault(fault, request))
    except MemoryError:
        _tell({"fault": "error: the memory of this machine is not enough\nhint: use smaller sizes"})


def _fault(fault: TablaError, request: Request) -> dict[str, Any]:
    """Return the message about a fault, with its lines and columns in the program, counted from 1."""
    spans = [each.span for one in (fault, *fault.more) for each in one.labels[:1]]
    own = [(span.line, span.column) for span in spans if span.source.name == request.file]
    return {"fault": str(fault), "places": own}


def _tell(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class _Steps:
    """A listener that tells of the progress of work, and not too often."""

    def __init__(self) -> None:
        self._last, self._stage = 0.0, ""

    def __call__(self, stage: str, done: int, total: int | None, unit: str) -> None:
        now = time.monotonic()
        if stage != self._stage or now - self._last > OFTEN:
            self._last, self._stage = now, stage
            _tell({"step": f"{stage} {done}/{total}" if total else stage})


def carry_out(request: Request, tell: Tell) -> None:
    """Build the program, and learn if the request says so. Each result is told when it has been found.

    A fault of the program or of an option is a `TablaError`. One of the data is told, and the Verilog is written still.
    """
    epochs = EPOCHS.checked("epochs", request.epochs)
    options = Options.of(
        {
            "pes": request.pes,
            "format": request.format,
            "minibatch": request.minibatch,
            "saturate": request.data == MADE_UP,  # nobody chose that data for the format
            **_of_kernel(request),
        }
    )
    if is_automatic(options):
        raise TablaError(f"the playground chooses no format, and '{request.format}' asks for that", hint="write q6.10")
    tell({"step": "reading the program"})
    made = build(_program(request), options)
    made.refuse_too_large()
    _show(made, tell)
    if request.data == NOTHING:
        tell({"note": "No data is chosen, so nothing is learnt."})
    elif not made.lowered.updates:
        lacks = "has no gradient" if request.language == TABLA else "does not say what learns"
        tell({"note": f"The program {lacks}, so nothing is learnt."})
    else:
        try:
            _learn(made, request, epochs, tell)
        except TablaError as fault:
            tell(_fault(fault, request))
    tell({"step": "writing Verilog"})
    tell({"result": "verilog.v", "text": made.verilog})


def _program(request: Request) -> Source | Path:
    """Return the program as `build` takes it. A kernel is written to a file in the folder of the run."""
    if request.language == TABLA:
        return Source.from_text(request.text, request.file)
    if request.language != TENSOR_COMPREHENSIONS:
        raise TablaError(f"the playground does not know the language '{request.language}'", hint="write t or tc")
    if not re.fullmatch(r"[A-Za-z]\w{0,63}", request.name):
        raise TablaError(f"'{request.name}' is no name of a program", hint="use letters and digits")
    path = Path(request.file)
    path.write_text(request.text, encoding="utf-8", errors="replace")
    return path


def _of_kernel(request: Request) -> dict[str, Any]:
    """Return the options that kernels alone have. A kernel of which nothing learns has no loss and no learning rate."""
    if request.language != TENSOR_COMPREHENSIONS:
        return {}
    sizes, learns = (re.findall(r"[^\s,]+", text) for text in (request.sizes, request.learns))
    found: dict[str, Any] = {"sizes": dict(map(SIZES.read, sizes))}
    learning = {"train": learns, "loss": "mse", "learning_rate": request.rate.strip() or None}
    return found | learning if learns else found


def _show(made: Build, tell: Tell) -> None:
    """Tell the graph, the schedule and the report."""
    for warning in made.warnings:
        tell({"warning": f"warning: {warning}"})
    tell({"result": "graph.svg", "text": svg(made.graph)})
    tell({"step": "looking for a schedule"})
    page = schedule_page(made.schedule, made.bound, made.reading.text.locate)
    tell({"result": "schedule.html", "text": page})
    tell({"result": "report.txt", "text": "\n".join([made.report().text(), *outlook(made).lines()])})


def _learn(made: Build, request: Request, epochs: int, tell: Tell) -> None:
    """Learn, and tell the losses so far again and again; in the end, tell the curves and scores."""
    tell({"step": "making the data"})
    if request.data == MADE_UP:
        data = Data(made_up(made), split=SHARE)
        tell({"note": "The data is made up: random inputs, with the labels that hidden models predict for them."})
    elif request.data in data_names():
        data = data_of(request.data)
    else:
        raise TablaError(f"there is no data '{request.data}'", hint=f"there is {', '.join(data_names())}")
    tell({"step": "learning"})
    training = made.train(data, epochs=epochs, engine=request.engine, report=_Losses(made.name, tell))
    tell({"result": "training.html", "text": training._repr_html_()})
    tell({"result": "training.txt", "text": training.text(unicode=True, width=None)})


class _Losses:
    """Collects the loss after each epoch, and draws the curve of the epochs so far."""

    def __init__(self, name: str, tell: Tell) -> None:
        self._name, self._tell = name, tell
        self._losses: list[float] = []
        self._last = 0.0

    def __call__(self, progress: object) -> None:
        assert isinstance(progress, Progress)
        now = time.monotonic()
        known = len(self._losses) == progress.epoch
        if not known:
            self._losses.append(progress.loss)
        if now - self._last < OFTEN:
            return
        self._last = now
        self._tell({"step": f"learning: {progress}"})
        title = f"loss of {self._name} after each epoch, so far"
        curve = loss_curves({"training": (self._losses, ())}, label="loss", title=title)
        self._tell({"result": "curve.svg", "text": curve})


if __name__ == "__main__":
    main()
