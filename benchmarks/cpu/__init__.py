"""The published learning problems on one core of a processor, in C."""
