"""The TABLA language: text -> checked syntax tree."""
