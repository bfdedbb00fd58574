"""The cycle model: an independent witness, written from the documents of the machine and not from its hardware."""
