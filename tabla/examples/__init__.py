"""The example programs with their data. They are part of the installed package."""
