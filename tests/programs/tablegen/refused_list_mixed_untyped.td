defvar x = [1, "a"];
