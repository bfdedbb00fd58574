"""From a program and its options to a build: all stages from the text to Verilog, and the files that hold them."""
