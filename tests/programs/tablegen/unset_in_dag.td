def op; class C<int b> {dag d = (op b:$x, (op b)); list<int> l = [b, 1]; } def X : C<?>;
