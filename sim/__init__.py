"""The independent cycle model and the runs of simulators."""
