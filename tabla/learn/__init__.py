"""Training on an engine: reading the data, choosing what to measure, and the loop over the epochs."""
