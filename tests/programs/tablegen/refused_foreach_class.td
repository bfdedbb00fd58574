foreach i = [1] in { class Q; }
