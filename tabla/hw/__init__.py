"""The machine as components of Amaranth, and its Verilog (`emit`)."""
