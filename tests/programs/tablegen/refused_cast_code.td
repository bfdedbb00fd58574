def X { code a = !cast<code>("x"); }
