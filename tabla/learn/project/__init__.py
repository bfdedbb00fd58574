"""A project from a table: which columns a model reads, its program, and the settings with which it learns well."""
