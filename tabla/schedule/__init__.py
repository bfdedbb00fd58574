"""From a graph to its schedule: the legal graph, mapping, strands, their times, the proof that they are right, and a
lower bound.
"""
