"""The workers of a Dask cluster, as explorations and fleets use them: a scheduler at an address, and its workers.

All machines have to have the same versions of the tool and of Python, because objects travel between them.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from tabla._version import VERSION
from tabla.base.source import TablaError, extra


def identity() -> str:
    """Return what has to be the same on all machines: the versions of the tool and of Python."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"tabla {VERSION} on Python {python}"


@contextmanager
def client_of(address: str, within: float) -> Iterator[Any]:
    """Give a client of the Dask scheduler at `address`. One that does not answer `within` so many seconds is a
    `TablaError`.
    """
    try:
        import distributed
    except ImportError:
        raise TablaError("the Python package distributed is not installed", hint=extra("explore")) from None
    try:
        make: Any = distributed.Client
        client = make(address, timeout=within, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as fault:
        said = str(fault).partition("\n")[0] or type(fault).__name__
        raise TablaError(
            f"there is no Dask scheduler at '{address}': {said}",
            hint="start one with 'dask scheduler --host 127.0.0.1', and name the address that it prints: tcp://127.0.0.1:8786",
        ) from None
    try:
        yield client
    finally:
        # A client waits long for data that a dead worker had. Nobody else waits for the client.
        closing = threading.Thread(target=client.close, kwargs={"timeout": within}, daemon=True)
        closing.start()
        closing.join(within)


def workers_of(client: Any, address: str, within: float) -> list[str]:
    """Return the addresses of the workers, sorted. Raises `TablaError` if none comes `within` so many seconds, and for
    a worker with another version of the tool.
    """
    end = time.monotonic() + within
    while not workers_there(client):
        if time.monotonic() > end:
            raise TablaError(
                f"the Dask scheduler at '{address}' has no worker", hint=f"start some with 'dask worker {address}'"
            )
        time.sleep(0.2)
    found: dict[str, Any] = client.run(identity, on_error="return")
    for worker, name in sorted(found.items()):
        if name != identity():
            raise stranger(worker, name if isinstance(name, str) else "no tabla that this one can talk to")
    return sorted(found)


def workers_there(client: Any) -> Collection[str] | None:
    """Return the addresses of the workers that the scheduler knows; None if the scheduler itself has gone."""
    found: Collection[str] | None = client.scheduler_info(n_workers=-1).get("workers")
    return found


def scheduler_gone() -> TablaError:
    """Return the error of a scheduler that has gone during a training."""
    return TablaError("the Dask scheduler has gone", hint="start it again, and the training too")


def stranger(worker: str, name: str) -> TablaError:
    """Return the error of a worker with another version, which says of itself that it is `name`."""
    return TablaError(
        f"the worker at '{worker}' has {name}, and this is {identity()}",
        hint="install the same version of both on all machines, and start the worker again",
    )
