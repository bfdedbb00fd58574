"""Accuracy on held-out data by number format: the problems, the measurements, the table and its aims."""
