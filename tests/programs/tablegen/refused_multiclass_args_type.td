multiclass M<int n> { def a { int v = n; } }
defm X : M<"s">;
