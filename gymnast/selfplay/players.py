"""Finding who is to play a role: by the names that configs and commands use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gymnast.collect.casting import Player, random_player, scripted_player
from gymnast.config.config import Config
from gymnast.envs.matches.matches import Matches
from gymnast.errors import ConfigError
from gymnast.evaluation.rescore import find, policy_of
from gymnast.policy.policy import Policy
from gymnast.text.closest import closest

SCRIPTED, RANDOM, STEP = "scripted:", "random", "step:"
"""How names of players begin; anything else is `learner`, or a policy of another run."""


def by_name(matches: Matches, role: str, name: str) -> Player | None:
    """Who needs no policy: `random` or `scripted:NAME`; None for all others."""
    if name == RANDOM:
        return random_player(matches.roles[role])
    if name.startswith(SCRIPTED):
        return scripted_player(scripted(matches, role, name.removeprefix(SCRIPTED)))
    return None


def scripted(matches: Matches, role: str, name: str) -> Any:
    known = matches.scripted.get(role, {})
    if name not in known:
        listed = ", ".join(known) or "none"
        what = f"{matches.name} has no scripted {role} {name!r} (known: {listed}){closest(name, known)}"
        raise ConfigError(what, fix="set roles or league.opponents")
    return known[name]


def from_elsewhere(matches: Matches, role: str, ref: str, runs_dir: Path) -> Policy:
    """The policy of another run that plays a role here."""
    _, saved = find(ref, runs_dir)
    if role not in saved.document("policy"):
        roles = ", ".join(saved.document("policy"))
        raise ConfigError(f"roles.{role}.plays: {ref} has no {role} (it has: {roles})")
    policy, here = policy_of(saved, role), matches.roles[role]
    if policy.action != here.action or policy.obs.shape != here.obs.shape:
        raise ConfigError(f"roles.{role}.plays: {ref} knows other observations or actions")
    return policy


def refuse_unknown_players(
    cfg: Config[Any], matches: Matches, learners: Sequence[str], runs_dir: Path
) -> None:
    """While there is no run yet: everybody who is to play here can be found."""
    others = [role for role in matches.roles if role not in learners]
    for role in others:
        for name in cfg.roles[role].plays:
            if by_name(matches, role, name) is None:
                from_elsewhere(matches, role, name, runs_dir)
    for learner in learners:
        rivals = [role for role in matches.roles if role != learner]
        if all(matches.scripted.get(role) for role in rivals):
            for role in rivals:
                for name in cfg.league.opponents:
                    scripted(matches, role, name)
