"""The tensor language of the Tiny Tensor Compiler: functions of memrefs -> kernels."""
