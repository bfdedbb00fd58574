"""Passes from graph to graph. A pass changes no bit of a result or of a model."""
