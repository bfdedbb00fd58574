def op; class A<dag d> { dag e = d; } def X : A<(op ?:$a, $b)>; def Y : A<?>;
