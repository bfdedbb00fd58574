class R; class S; def s : S; def X { list<R> l = [s]; }
