"""What overlays cost: each of their features, and the whole beside accelerators for one program."""
