"""Runs on disk: the directory of one run, its checkpoints and traces, and the store of all runs."""
