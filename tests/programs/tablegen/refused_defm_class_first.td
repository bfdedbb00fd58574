class XD; multiclass R { def rr; }
defm I : XD, R;
