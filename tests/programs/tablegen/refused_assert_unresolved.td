class C { string s; assert !eq(s, "a"), "s is " # s; }
def X : C;
