"""The host's side of an accelerator: engines that play it, boards behind a line or a bus, and workers of a cluster."""
