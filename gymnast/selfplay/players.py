"""Finds the player of a role by the name that configs and commands use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gymnast.collect.matchmaking import Player, random_player, scripted_player
from gymnast.config.config import Config
from gymnast.envs.matches.matches import Matches, ScriptedPolicy
from gymnast.errors import ConfigError
from gymnast.evaluation.rescore import find_checkpoint, load_policy
from gymnast.policy.policy import Policy
from gymnast.text.suggestions import did_you_mean

SCRIPTED, RANDOM = "scripted:", "random"
"""Prefixes of player names. Any other name is `learner` or refers to a policy of another run."""


def builtin_player(matches: Matches, role: str, name: str) -> Player | None:
    """Returns the player for `random` or `scripted:NAME`, or None for names that refer to a policy."""
    if name == RANDOM:
        return random_player(matches.roles[role])
    if name.startswith(SCRIPTED):
        return scripted_player(find_scripted(matches, role, name.removeprefix(SCRIPTED)))
    return None


def find_scripted(matches: Matches, role: str, name: str) -> ScriptedPolicy:
    """Returns the environment's scripted player of this name for a role; raises ConfigError if it has
    none."""
    known = matches.scripted.get(role, {})
    if name not in known:
        listed = ", ".join(known) or "none"
        what = f"{matches.name} has no scripted {role} {name!r} (known: {listed}){did_you_mean(name, known)}"
        raise ConfigError(what, fix="change roles or league.opponents")
    return known[name]


def policy_from_run(matches: Matches, role: str, ref: str, runs_dir: Path) -> Policy:
    """Returns the policy of another run, `ref`, that plays a role in this one. Raises ConfigError if it has
    no policy for the role or other spaces."""
    _, saved = find_checkpoint(ref, runs_dir)
    if role not in saved.document("policy"):
        roles = ", ".join(saved.document("policy"))
        raise ConfigError(f"roles.{role}.plays: {ref} has no policy for {role} (it has: {roles})")
    policy, here = load_policy(saved, role), matches.roles[role]
    if policy.action_space != here.action or policy.obs_space.shape != here.obs.shape:
        raise ConfigError(f"roles.{role}.plays: {ref} has another observation or action space")
    return policy


def refuse_unknown_players(
    cfg: Config, matches: Matches, learners: Sequence[str], runs_dir: Path
) -> None:
    """Raises an error if a player that the config names cannot be found; called before a run is created.
    `learners`: the roles that learn; `runs_dir`: where other runs are looked up."""
    # 1. Roles that do not learn: every rung of their ladders.
    others = [role for role in matches.roles if role not in learners]
    for role in others:
        for name in cfg.roles[role].plays:
            if builtin_player(matches, role, name) is None:
                policy_from_run(matches, role, name, runs_dir)
    # 2. Opponents in evaluations, which are used only if every other role has scripted players.
    for learner in learners:
        opponents = [role for role in matches.roles if role != learner]
        if all(matches.scripted.get(role) for role in opponents):
            for role in opponents:
                for name in cfg.league.opponents:
                    find_scripted(matches, role, name)
