"""From the bare accelerator to a board: the link to the host, clock, reset, pins."""
