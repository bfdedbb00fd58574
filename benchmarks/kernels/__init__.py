"""Kernels in Tensor Comprehensions: cycles a call in steady state, multiplier use, and the unit that binds."""
