foreach i = [1] def X#i;
