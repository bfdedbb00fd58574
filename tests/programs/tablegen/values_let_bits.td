class I { bits<8> Inst = 0; }
def X : I { let Inst{7-4} = 0b1010; let Inst{0} = 1; }
def Y : I { let Inst{0-3} = 0b0011; let Inst{7,5} = {1,1}; }
class P<bits<4> o> : I { let Inst{7-4} = o; bits<3> rd; let Inst{2-0} = rd; }
def Z : P<5>;
def W : P<6> { let rd = 3; }
