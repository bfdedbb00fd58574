"""What the notations share on the way to the graph.

These are the builder of graphs, constants that are held against the format, the learning rate, powers and whole
numbers.
"""
