"""The version of the tool, in the one place that packaging, manifests and ``tabla --version`` read."""

VERSION = "0.1.0"
