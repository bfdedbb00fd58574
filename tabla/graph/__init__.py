"""The dataflow graph: tensor statements over index domains, their text form and their meaning."""
