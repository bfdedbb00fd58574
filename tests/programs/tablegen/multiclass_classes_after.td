class XD { bits<4> Prefix = 11; } class XS { bits<4> Prefix = 12; } class I<bits<4> op> { bits<4> opcode = op; }
multiclass R { def rr : I<4>; def rm : I<2>; }
multiclass Y { defm SS : R, XD; defm SD : R, XS; }
defm Instr : Y;
