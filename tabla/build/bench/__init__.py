"""The test bench that is written beside the Verilog: samples, the words that must come of them, and its programs."""
