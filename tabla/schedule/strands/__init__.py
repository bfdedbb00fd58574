"""Code generation: a mapped graph becomes strands, the loop nests that the units of the array run."""
