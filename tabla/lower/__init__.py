"""Syntax tree -> graph, one file a notation."""
