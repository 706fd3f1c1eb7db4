"""Configuration: typed sections, preset files, and the origin of every value. Never imports torch."""
