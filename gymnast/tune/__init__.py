"""Measures which settings are fastest on this machine."""
