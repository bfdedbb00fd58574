"""Amaranth components of the machine."""
