"""Passes that rewrite a graph into one that the machine can run; they change no word of any result or model."""
