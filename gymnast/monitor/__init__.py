"""The monitor: an overview, charts and a manifest of runs by approach, after checking their columns."""
