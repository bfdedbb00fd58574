def a;
defvar a = 6;
