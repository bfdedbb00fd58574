"""How many examples a random test draws whose examples take long: a part of them in ``make test``, all in
``make test-all``.
"""

from __future__ import annotations

import os

from hypothesis import settings


def draws(quick: int, every: int) -> settings:
    """Return the settings of a test that draws `quick` examples in ``make test``, and `every` in ``make test-all``."""
    return settings(max_examples=every if os.environ.get("TABLA_EXPLORE") else quick, deadline=None)
