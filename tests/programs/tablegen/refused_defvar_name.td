defvar n = "dyn";
def n;
def n;
