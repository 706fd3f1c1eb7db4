"""What a run's reward pays for: totals of its terms, and whether one of them can be farmed."""
