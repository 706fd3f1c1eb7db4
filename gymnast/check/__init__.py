"""`gymnast check`: tests environments against what training relies on, and presets end to end."""
