def X {
  int y = 1;
  bits<2> a = 0b101;
}
