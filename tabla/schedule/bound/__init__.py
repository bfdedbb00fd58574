"""Lower bounds on the cycles of a sample, from the graph, the template and the number format alone.

:func:`quick` takes a few hundredths of a second, and is what every build prints. :func:`full` takes seconds: it also
asks in which way each statement could best be computed. :func:`plain_path` is a lower bound on the latency of a sample.
"""

from tabla.schedule.bound.answer import plain_path
from tabla.schedule.bound.lower_bound import Bound, full, quick

__all__ = ["Bound", "full", "plain_path", "quick"]
