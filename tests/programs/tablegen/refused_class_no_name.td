class { int a; }
