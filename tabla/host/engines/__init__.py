"""The engines that run the hardware itself: Amaranth's simulator, CXXRTL, and Icarus and Verilator through cocotb."""
