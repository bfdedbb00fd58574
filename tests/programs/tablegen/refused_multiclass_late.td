class A<int n> { bits<2> v = n; }
multiclass M<int n> {
  def a : A<n>;
}
defm X : M<1>;
defm Y :
   M<9>;
