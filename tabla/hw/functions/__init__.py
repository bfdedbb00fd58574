"""The pipelines of the function unit, one a file; bit for bit as ``docs/decisions/0004-functions.md`` says."""
