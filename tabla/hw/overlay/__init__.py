"""The array without a program: its registers, its two banks of microcode, and what loads an image into them."""
