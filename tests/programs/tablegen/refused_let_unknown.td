def X {
  let a = 1;
}
