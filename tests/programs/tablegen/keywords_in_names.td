def in_x; def letter; def classes; def int32; def if0; def defm_;
