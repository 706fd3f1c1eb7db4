"""Trajectories: whole episodes and matches as JSON lines, with positions. See docs/trajectories.md."""
