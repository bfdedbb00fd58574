"""TableGen: text -> records."""
