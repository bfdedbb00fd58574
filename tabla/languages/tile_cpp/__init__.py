"""Tile in C++: functions of ``Tensor``, ``TensorDim`` and ``TensorIndex`` -> the programs that Tile in Python makes."""
