"""Long runs that hold the tool against itself: builds, proofs, planted faults, drawn programs and texts."""
