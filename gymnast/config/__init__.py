"""Settings: typed sections, preset files and where each value came from; no torch here."""
