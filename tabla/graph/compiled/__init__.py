"""Evaluations compiled to machine code: the graph as Python text, and the text through numba."""
