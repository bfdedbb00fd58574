def X { int i; bits<3> b; string s; list<int> l; dag d; bit t; int j = ?; }
