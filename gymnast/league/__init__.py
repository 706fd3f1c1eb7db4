"""Matches between two roles: who played whom, how good each is, whom to play next."""
