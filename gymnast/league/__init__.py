"""Matches between two roles: results, ratings, and the choice of opponents."""
