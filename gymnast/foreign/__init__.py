"""Runs that other programs made: TensorBoard event files, SB3's CSV files, offline W&B runs.

Their metrics get the names of gymnast by declared tables (`libraries.py`). A number that a file does not have
is missing, never guessed. See docs/foreign-runs.md.
"""
