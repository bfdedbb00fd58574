"""What an array takes of an FPGA: estimated from its image, without synthesis."""

from tabla.build.cost.estimate import Estimate, clock_on, estimate

__all__ = ["Estimate", "clock_on", "estimate"]
