"""Kernels in Tensor Comprehensions: cycles per call, use of the multipliers, and the busiest unit."""
