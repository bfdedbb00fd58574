def X { string s = "a\tb\nc\\d\"e"; string t = "</script>"; }
