"""The dataflow graph: what it may be, what it means, in words and in reals, and the passes over it."""
