"""Schedules without a fault that tests plant faults into.

Mutation testing runs these tests on many faults of the checker, none of which changes how a schedule is made. So it
names a folder in which the first run keeps what takes long to make.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

from tabla.schedule.placing.schedule import Schedule

KEPT_FOLDER = "TABLA_RIGHT_SCHEDULES"
"""The variable of the environment that names the folder. Nothing is kept where it is empty or not set."""


def kept(name: str, make: Callable[[], Schedule]) -> Schedule:
    """Return the schedule that `make` makes, or the one that was kept under this name."""
    folder = os.environ.get(KEPT_FOLDER, "")
    if not folder:
        return make()
    path = Path(folder) / f"{name}.pickle"
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pickle.dumps(make()))
    made: Schedule = pickle.loads(path.read_bytes())
    return made
