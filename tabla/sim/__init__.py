"""What runs an accelerator: the protocol of every machine, the cycle model, and the simulators of the hardware."""
