"""From the checked tree of a notation to the graph.

Each notation has a folder; what several of them share lies beside.
"""
