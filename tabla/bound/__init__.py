"""Lower bounds on the cycles of a sample, from the graph, the template and the number format alone."""
