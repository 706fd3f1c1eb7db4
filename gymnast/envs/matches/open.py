"""Creates the matches of a multi-agent config: the built-in game of tag, or a PettingZoo environment."""

from __future__ import annotations

from gymnast.config.config import Config
from gymnast.envs.matches.matches import Matches
from gymnast.errors import ConfigError
from gymnast.text.suggestions import did_you_mean


def open_matches(cfg: Config, n_matches: int) -> Matches:
    """Returns `n_matches` matches. Raises ConfigError for a role that the environment does not have."""
    env = cfg.env
    # Imported on demand: only the game that is played has to be installed.
    if env.id == "tag":
        from gymnast.envs.matches.tag.arena import TagMatches

        try:
            matches: Matches = TagMatches(n_matches, **env.kwargs)  # type: ignore[arg-type]
        except TypeError as problem:
            raise ConfigError(f"env.kwargs: {problem}", at="tag") from None
    else:
        from gymnast.envs.matches.pettingzoo import PettingZooMatches

        patterns = {name: role.agents for name, role in cfg.roles.items() if role.agents}
        matches = PettingZooMatches(env.id, n_matches, env.kwargs, patterns, cfg.training_limit())
    for name in cfg.roles:
        if name not in matches.roles:
            known = ", ".join(matches.roles)
            problem = f"roles.{name}: {env.id} has no such role (known: {known})"
            raise ConfigError(f"{problem}{did_you_mean(name, matches.roles)}")
    return matches
