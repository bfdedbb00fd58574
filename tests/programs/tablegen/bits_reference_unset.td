class I { bits<8> Inst; bits<4> rd; bits<3> rs; let Inst{3-0} = rd; let Inst{6-4} = rs; let Inst{7} = 1; }
def X : I; def Y : I { let rd = 5; }
