class inst<int opc, string s> { int o = opc; string t = s; }
multiclass ri<int opc, string asm> { def _rr : inst<opc, !strconcat(asm, " rr")>; def _ri : inst<opc, !strconcat(asm, " ri")>; }
defm ADD : ri<0b111, "add">; defm SUB : ri<0b101, "sub">; defm MUL : ri<0b100, "mul">;
