"""Graph -> graph; none may change a result bit."""
