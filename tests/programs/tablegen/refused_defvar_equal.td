defvar a;
