"""Learning on a machine: data, what to measure, the loop over epochs."""
