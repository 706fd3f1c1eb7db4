"""Tag, a game of seekers and hiders: our reference for learning against others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gymnast.envs.matches.tag.arena import TagMatches

if TYPE_CHECKING:
    from gymnast.envs.matches.tag.parallel import TagParallel

__all__ = ["TagMatches", "parallel_env"]


def parallel_env(**settings: Any) -> TagParallel:
    """One arena for PettingZoo, which need not be installed for anything else."""
    from gymnast.envs.matches.tag.parallel import TagParallel

    return TagParallel(**settings)
