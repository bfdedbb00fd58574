class C { list<int> l = [1]; } def X : C { let l = [1,2] # [3]; } def Y : C { let l = !listconcat(X.l, [9]); }
