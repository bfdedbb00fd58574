"""Measurements of the tool itself: ``make bench``."""
