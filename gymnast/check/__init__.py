"""Is an environment what training takes it for? And do the presets that ship still work?"""
