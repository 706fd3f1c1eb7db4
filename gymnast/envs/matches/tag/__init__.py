"""Tag, a game of seekers and hiders: the reference environment for self-play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gymnast.envs.matches.tag.arena import TagMatches

if TYPE_CHECKING:
    from gymnast.envs.matches.tag.parallel import TagParallel

__all__ = ["TagMatches", "parallel_env"]


def parallel_env(**settings: Any) -> TagParallel:
    """Returns a single match of tag as a PettingZoo ParallelEnv. Nothing else in tag needs PettingZoo."""
    from gymnast.envs.matches.tag.parallel import TagParallel

    return TagParallel(**settings)
