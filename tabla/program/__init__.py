"""Schedule -> microcode words, and back."""
