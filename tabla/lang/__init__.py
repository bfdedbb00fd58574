"""Front ends: one folder a notation, text -> checked syntax tree."""
