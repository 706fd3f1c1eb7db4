"""Measuring what is fastest on this machine."""
