"""The host's side of a board: the serial line, its frames, and the machine behind them."""
