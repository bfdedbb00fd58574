def X { code c = [{x}]; code d = "plain"; string e = [{multi
 line "quoted" }]; code f = [{ } ] }]; string g = [{a}] # "b"; }
