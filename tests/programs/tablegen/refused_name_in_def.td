class B<string s> { string t = s; }
def Z : B<NAME>;
