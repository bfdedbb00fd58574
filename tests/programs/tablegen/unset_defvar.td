defvar x = ?; def X { int y = x; }
