"""The text of a graph as a notation: ``tabla gen x.graph`` builds what ``--emit graph`` has printed."""
