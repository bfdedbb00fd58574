"""The benchmarks of the tool: ``make bench`` and ``make bench-fpga``."""
