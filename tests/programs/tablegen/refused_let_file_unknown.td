class C;
let
  a = 1 in def X : C;
