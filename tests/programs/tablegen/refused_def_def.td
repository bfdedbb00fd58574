class C { int p; }
let q = 2 in {
def def a;
}
