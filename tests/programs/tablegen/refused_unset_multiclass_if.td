multiclass M<bit b> { if b then def _a; else def _b; }
defm X : M<?>;
