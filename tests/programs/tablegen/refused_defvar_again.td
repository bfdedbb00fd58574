defvar a = 5;
defvar a = 6;
