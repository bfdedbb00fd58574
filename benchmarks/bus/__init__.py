"""The benchmark of ``make bench-bus``: the wrapper for a host's bus under a million beats and every kind of fault."""
