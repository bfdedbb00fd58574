/* outer /* inner */ still */ def X; // line
def /* here */ Y /* and */ { /* there */ int /**/ a = /* */ 1; }
