"""Speed of the episode inspector in a browser."""
