"""The link to a board, on the side of the host: the serial line, its frames, its requests, and the board as an engine.

The *link* is the serial line between a host and a board, with the protocol that both sides speak
(`docs/decisions/0012-board.md`). The codes of the protocol are in :mod:`tabla.program.protocol`, because the hardware
of the board uses them, too.
"""
