def X { string a = "a\qb"; }
