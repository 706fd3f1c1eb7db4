"""Reviews: a bundle about a run is given to a command of the user, whose answer is stored with the run.

Nothing leaves the machine unless the user's settings file names a command. See docs/review.md.
"""
