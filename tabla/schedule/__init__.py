"""Start cycles of strands, the bound, and the checker that knows nothing of the scheduler."""
