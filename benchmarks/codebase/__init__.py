"""Counts how large and how readable the code is, the same way for any revision."""
