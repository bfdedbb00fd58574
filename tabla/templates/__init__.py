"""Hardware templates: TableGen records and their Python view."""
