"""Environments of PettingZoo, in which all agents move at once (its parallel API), as matches."""

from gymnast.envs.matches.pettingzoo.matches import PettingZooMatches

__all__ = ["PettingZooMatches"]
