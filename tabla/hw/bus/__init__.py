"""The accelerator on a host's bus: two AXI4-Stream ports, and control over AXI4-Lite."""
