"""Frozen records -> text, JSON, HTML, pictures."""
