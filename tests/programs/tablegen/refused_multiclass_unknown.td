defm X : Nope;
