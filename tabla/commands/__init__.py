"""One file a command: each takes parsed arguments and a console, and returns an exit status."""
