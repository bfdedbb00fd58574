class C<code c> { code d = c; string e = c; } def X : C<[{body}]>; def Y : C<"text">;
