"""Microcode: a schedule becomes words that hardware and simulators read, and arrays become the beats of a stream."""
