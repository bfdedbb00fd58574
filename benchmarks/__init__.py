"""The benchmarks of the tool: ``make bench`` and ``make bench-fpga``."""

import os

# What is measured is the search for a schedule, not the reading of one that is kept.
os.environ.setdefault("TABLA_CACHE_KINDS", "compiled,simulators")
