"""The engines by name (`session`), and those that run the hardware itself.

They are Amaranth's simulator, CXXRTL, Icarus and Verilator through cocotb, and a simulated board.
"""
