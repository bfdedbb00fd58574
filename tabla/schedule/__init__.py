"""From a legal graph to its schedule: mapping, strands, their times, the proof that they are right, and a
lower bound.
"""
