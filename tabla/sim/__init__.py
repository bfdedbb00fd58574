"""What every machine can do, how two machines are compared, and the cycle model."""
