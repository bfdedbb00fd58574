"""Programs to start from, with the real data that they learn from; shipped inside the package."""
