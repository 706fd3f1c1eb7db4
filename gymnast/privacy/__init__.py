"""Finds and replaces what identifies a person or a machine, and what is secret, in texts and files."""
