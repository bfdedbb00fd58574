"""A fleet of accelerators from their folders: the words of the evaluation, and nothing lost when a device dies."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partialmethod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.graph.words import to_real
from tabla.host import workers as cluster_machines
from tabla.host.runtime import DeviceFault, Fleet, connect, on_workers
from tabla.host.runtime.accelerator import Accelerator
from tabla.host.runtime.folder import BuildFolder
from tabla.learn.fleet.share import share_of
from tests.host.runtime.made import Made

Cases = Callable[[str], Made]
WORKER = cluster_machines.WorkerMachine.__init__


def expected(case: Made, devices: int) -> tuple[dict[str, Any], int]:
    """What the evaluation of a fleet says of all samples, and the samples of a step."""
    own = case.build.options.minibatch
    whole = tabla.compile(
        case.build.reading.text.original.name,
        **{"pes": 4, "effort": 0, "minibatch": own * devices, "model_guard": case.build.options.model_guard},
        results=("h",),
    )
    assert share_of(whole, devices).options.minibatch == own
    return whole.evaluate({**case.samples, **case.models}, devices=devices), own * devices


def test_a_fleet_gives_the_words_of_the_evaluation(case: Cases) -> None:
    made = case("batch")
    found, step = expected(made, 3)
    with Fleet([connect(made.folder, "model") for _ in range(3)]) as fleet:
        fleet.load(made.models)
        assert fleet.step == step == 12
        results = fleet.run(made.samples)
        models = fleet.models()
    np.testing.assert_array_equal(results["h"], found["h"])
    for name in made.models:
        np.testing.assert_array_equal(models[name], found[name])


def test_a_device_that_dies_is_named_and_loses_nothing(case: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    made = case("batch")
    found, step = expected(made, 2)
    devices = [connect(made.folder, "model") for _ in range(2)]
    run, calls = devices[1].run, list[int]()

    def dying(*given: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise DeviceFault("the device does not answer", hint="look at it")
        return run(*given)

    monkeypatch.setattr(devices[1], "run", dying)
    fleet = Fleet(devices)
    fleet.load(made.models)
    with pytest.raises(DeviceFault, match="device 2 of 2: the device does not answer") as told:
        fleet.run(made.samples)
    assert told.value.samples == 2 * step and len(told.value.results["h"]) == 2 * step
    # Another fleet goes on where the last one was.
    with Fleet([connect(made.folder, "model") for _ in range(2)]) as again:
        again.load(fleet.models())
        again.run({name: array[2 * step :] for name, array in made.samples.items()})
        for name in made.models:
            np.testing.assert_array_equal(again.models()[name], found[name])


def test_devices_that_do_not_belong_together_are_refused(case: Cases) -> None:
    made, other = case("batch"), case("wide")
    one = connect(made.folder, "model")
    with pytest.raises(TablaError, match=r"device 2 runs .*: these are different builds"):
        Fleet([one, connect(other.folder, "model")])
    with pytest.raises(TablaError, match="each of them once"):
        Fleet([one, one])
    no_lists: tuple[Any, ...] = (one, None, 5, {one}, (each for each in (one,)))
    for devices in no_lists:
        with pytest.raises(TablaError, match="a fleet is a list of accelerators"):
            Fleet(devices)
    fleet = Fleet([one, connect(made.folder, "model")])
    with pytest.raises(TablaError, match="no models have been loaded"):
        fleet.run(made.samples)
    fleet.load(made.models)
    with pytest.raises(TablaError, match="0 samples do not fill steps of 8"):
        fleet.run({name: array[:0] for name, array in made.samples.items()})
    with pytest.raises(TablaError, match="20 samples do not fill steps of 8, the minibatches of 2 devices"):
        fleet.run({name: array[:20] for name, array in made.samples.items()})
    no_mapping: Any = 5
    with pytest.raises(TablaError, match="load takes arrays by their names, not one object of type int"):
        fleet.load(no_mapping)
    with pytest.raises(TablaError, match="run takes arrays by their names, not one object of type int"):
        fleet.run(no_mapping)
    with pytest.raises(TablaError, match="is no array of numbers"):
        fleet.run({**made.samples, next(iter(made.samples)): [[1], [1, 2]]})


@pytest.mark.parametrize(
    ("scheduler", "count", "engine", "said"),
    [
        (5, 1, "model", "scheduler: 5 is not a text"),
        ("tcp://s:1", 0, "model", "count: 0 is less than 1"),
        ("tcp://s:1", "x", "model", "count: 'x' is not a whole number"),
        ("tcp://s:1", 1, "steam", "unknown engine 'steam'"),
    ],
)
def test_workers_are_asked_for_by_an_address_a_number_and_an_engine(
    case: Cases, monkeypatch: pytest.MonkeyPatch, scheduler: Any, count: Any, engine: str, said: str
) -> None:
    monkeypatch.setattr(cluster_machines, "client_of", lambda *_: pytest.fail("a client was made"))
    folder = case("narrow").folder
    with pytest.raises(TablaError, match=said), on_workers(folder, scheduler, count, engine=engine):
        pass


class Client:
    """A client of a cluster whose worker never answers. Without a scheduler it knows of no workers any more."""

    def __init__(self, status: str, **info: Any) -> None:
        self.status, self.info = status, info

    def submit(self, *_: Any, **options: Any) -> Client:
        return self

    def result(self, timeout: float) -> Any:
        raise TimeoutError

    def cancel(self, *, force: bool) -> None:
        """Do nothing: the worker does not answer."""

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        return self.info


@pytest.mark.parametrize(
    ("client", "said"),
    [
        (Client("closed"), "the Dask scheduler has gone"),
        (Client("connecting"), "the Dask scheduler has gone"),
        (Client("running", workers={}), "it has gone"),
        (Client("running", workers={"tcp://a:1": {}}), "it has not answered for 0 s"),
    ],
)
def test_a_cluster_that_fails_is_an_error_that_names_the_worker(
    case: Cases, monkeypatch: pytest.MonkeyPatch, client: Client, said: str
) -> None:
    monkeypatch.setattr(cluster_machines, "client_of", lambda *_: nullcontext(client))
    monkeypatch.setattr(cluster_machines, "workers_of", lambda *_: ["tcp://a:1"])
    monkeypatch.setattr(cluster_machines, "ANSWER", 0)
    monkeypatch.setattr(cluster_machines.WorkerMachine, "__init__", partialmethod(WORKER, patience=0))
    with (
        pytest.raises(TablaError, match=f"the worker at 'tcp://a:1': {said}"),
        on_workers(case("narrow").folder, "tcp://s:1", 1),
    ):
        pass


@pytest.mark.slow
def test_workers_of_a_cluster_play_devices(case: Cases, tmp_path: Path) -> None:
    """Two workers learn the words of the evaluation, in a folder and in training; the other takes the shares of
    one that is killed; the last one that is killed is named in time.
    """
    distributed = pytest.importorskip("distributed")
    from tests.learn.explore.test_cluster import cluster

    made = case("batch")
    found, _ = expected(made, 2)
    whole = tabla.compile(
        made.build.reading.text.original.name, **{"pes": 4, "effort": 0, "minibatch": 8, "model_guard": 4}
    )
    with cluster(tmp_path, 2) as (address, workers):
        with distributed.Client(address) as client:
            client.wait_for_workers(2, timeout=60)
        with (
            pytest.raises(TablaError, match=r"has \d workers, and 9 devices are asked for"),
            on_workers(made.folder, address, 9),
        ):
            pass
        with on_workers(made.folder, address, 2) as devices:
            fleet = Fleet(devices)
            fleet.load(made.models)
            fleet.run(made.samples)
            for name in made.models:
                np.testing.assert_array_equal(fleet.models()[name], found[name])
        options: dict[str, Any] = {"epochs": 3, "weights": made.models, "engine": "model"}
        away = whole.train(made.samples, devices=4, scheduler=address, **options)
        here = whole.train(made.samples, devices=4, **options)
        assert away.engine == "engine model on the workers of a cluster"
        for name, words in here.words.items():
            np.testing.assert_array_equal(away.words[name], words)
        assert replace(away, engine=here.engine).as_json() == here.as_json()
        died, left = list[float](), list(workers)

        def kill(_: object) -> None:
            if not died:
                died.append(time.monotonic())
                os.kill(left.pop().pid, signal.SIGKILL)

        # The other worker takes the shares of the one that was killed, and the words are the same.
        away = whole.train(made.samples, devices=2, scheduler=address, report=kill, **options)
        assert died and re.fullmatch(r"the worker at 'tcp://.*': it has gone, and others took its shares", away.remark)
        for name, words in whole.train(made.samples, devices=2, **options).words.items():
            np.testing.assert_array_equal(away.words[name], words)
        died[:] = []
        with pytest.raises(TablaError, match=r"device . of 2, the worker at 'tcp://.*': it has gone \(\d+ steps were"):
            whole.train(made.samples, devices=2, scheduler=address, report=kill, **{**options, "epochs": 500})
        assert time.monotonic() - died[0] < 2
    began = time.monotonic()
    with pytest.raises(TablaError, match=r"there is no Dask scheduler at 'tcp://127\.0\.0\.1:1'"):
        whole.train(made.samples, devices=2, scheduler="tcp://127.0.0.1:1", **options)
    assert time.monotonic() - began < 2
    assert isinstance(devices[0], Accelerator) and isinstance(devices[0].folder, BuildFolder)
    assert to_real(here.words["b"], whole.format, guard=4) == here.models["b"]
