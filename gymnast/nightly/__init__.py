"""Nightly checks: unattended steps in child processes, one report, and every finding as the text of a task.

`steps.py` is the registry: one more check is one more entry. See docs/nightly.md.
"""
