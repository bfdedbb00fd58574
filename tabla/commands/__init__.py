"""The commands of ``tabla``, one module each. A command takes parsed arguments and a console and returns a status."""
