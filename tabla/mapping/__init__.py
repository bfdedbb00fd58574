"""Which tensor lies where in the array, and which index of a statement runs over lanes."""
