assert ?, "x";
