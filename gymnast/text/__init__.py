"""Formatting of numbers, durations, tables and curves as text."""
