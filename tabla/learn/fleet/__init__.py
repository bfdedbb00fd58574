"""Several devices, one model: how a step is shared, who plays the devices, and what it costs.

:mod:`tabla.graph.fleet` is the definition, :mod:`tabla.learn.fleet.plan` evaluates it, and docs/decisions/0034-fleet.md
has the reasons.
"""
