"""The kernel: one tree for what every notation says, its text, its proof, its meaning, and its way to the graph."""
