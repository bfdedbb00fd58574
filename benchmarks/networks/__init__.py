"""Networks compiled from ONNX: the cycles, the memory of the array, and the time and peak memory of ``gen``."""
