defvar e = ["a"]<int>;
