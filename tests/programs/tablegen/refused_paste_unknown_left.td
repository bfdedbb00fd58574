def X { string g = unknown#"a"; }
