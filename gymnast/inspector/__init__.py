"""The episode inspector: what an agent did in a stored episode, and why. See docs/inspector.md."""
