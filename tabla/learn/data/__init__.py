"""The data of a run: what is read, what it means, how it is prepared, and how it is split."""
