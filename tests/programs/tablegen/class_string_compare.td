class C<string s> { bit is = !eq(s, "yes"); int n = !if(is, 1, 2); }
def X : C<"yes">; def Y : C<"no">;
