"""The reward audit: totals of a run's reward terms, and whether one of them can be farmed."""
