"""The config of one role of a match, with the names that its environment declares."""

from __future__ import annotations

from gymnast.config.config import Config
from gymnast.config.facts import Component, Facts
from gymnast.config.resolve import apply_overrides
from gymnast.envs.matches.matches import Matches, Role
from gymnast.spaces.observations import BoxObs


def config_of_role(cfg: Config, role: str, matches: Matches | None) -> Config:
    """Returns the config of one role: with its `roles.ROLE.set` applied, and with facts about the agents of
    that role. `matches`: the environment; None if it cannot be opened."""
    own = cfg.roles.get(role)
    if own is not None and own.set:
        cfg = apply_overrides(cfg, own.set, origin=f"roles.{role}.set")[0]
    if matches is None:
        return cfg
    facts = facts_of_role(cfg.facts, matches.roles[role], has_winners=bool(matches.outcomes))
    return cfg.model_copy(update={"facts": facts})


def facts_of_role(facts: Facts, role: Role, *, has_winners: bool) -> Facts:
    """Returns the facts about an agent of a role: with the names that the environment declares, where the
    preset has none. If matches have winners, scores are win rates, so threshold and optimum say nothing about
    returns and are left out."""
    changed: dict[str, object] = {}
    if has_winners:
        changed |= {"threshold": None, "optimum": None}
    if role.action_names and not facts.actions:
        changed["actions"] = role.action_names
    if role.obs_names and not facts.observations and isinstance(role.obs, BoxObs):
        changed["observations"] = tuple(
            Component(name=name, low=low, high=high)
            for name, low, high in zip(role.obs_names, role.obs.low, role.obs.high, strict=True)
        )
    return facts.model_copy(update=changed)
