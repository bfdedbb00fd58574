class C<string n>; multiclass M<string s> { def NAME # s : C<s>; }
defm X : M<?>;
