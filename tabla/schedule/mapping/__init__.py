"""The mapping: where each tensor lies in the array, and how each statement is computed there."""
