"""PettingZoo environments with the parallel API, where all agents act at once, as matches."""

from gymnast.envs.matches.pettingzoo.matches import PettingZooMatches

__all__ = ["PettingZooMatches"]
