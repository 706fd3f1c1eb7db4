"""Finds the stored policy that had a role in a match."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gymnast.config.config import Config
from gymnast.config.sections.league import LEARNER
from gymnast.errors import CheckpointError, GymnastError, RunError
from gymnast.evaluation.rescore import find_checkpoint, load_policy
from gymnast.league.results import STEP
from gymnast.policy.policy import Policy
from gymnast.runs import checkpoint
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.requested_episodes import PERSON
from gymnast.runs.run import Run
from gymnast.selfplay.players import RANDOM, SCRIPTED
from gymnast.selfplay.snapshots import Snapshots


@dataclass(frozen=True, eq=False)
class RolePlayer:
    """The player that had a role in a match."""

    name: str
    """Name of the player in the cast of the match."""
    policy: Policy | None
    """Its policy; None for players without one, and for policies that are no longer stored."""
    checkpoint: Checkpoint | None
    """The checkpoint of that policy, if the role's learner played and its checkpoint is stored."""
    note: str
    """The reason why there is no policy; empty if there is one."""


def find_player(run: Run, cfg: Config, trace: MatchTrace, role: str) -> RolePlayer:
    """Returns who had the role in this match: the learner of that time, a past self, a policy of another run
    or a player without a policy. `cfg`: the config of the run."""
    name = trace.cast[role]
    if name == LEARNER:
        return _learner(run, trace.version, role)
    if name == PERSON and trace.version:
        # Not the person's decisions, but what the policy would have decided: it is there to compare.
        return replace(_learner(run, trace.version, role), name=PERSON)
    if name in (RANDOM, PERSON) or name.startswith(SCRIPTED):
        return _without_policy(role, name)
    try:
        return RolePlayer(name, _opponent(run, cfg, role, name), None, "")
    except GymnastError:
        return _without_policy(role, name)


def _opponent(run: Run, cfg: Config, role: str, name: str) -> Policy:
    """Returns the policy of an opponent: a past self, the run's own copy of a policy of another run, or that
    policy itself. Raises an error if it is not stored."""
    ladder = cfg.roles[role].plays if role in cfg.roles else ()
    snapshots = Snapshots(run.path)
    if name.startswith(STEP):
        return snapshots.read(int(name.removeprefix(STEP)), role)
    if name in ladder:
        copy = Snapshots.guest_name(role, ladder.index(name))
        if snapshots.file(copy).exists():
            return snapshots.read(copy, role)
    return load_policy(find_checkpoint(name, run.path.parent)[1], role)


def _learner(run: Run, version: int, role: str) -> RolePlayer:
    """Returns the learner of a role after `version` env steps: from its checkpoint or, if that was removed,
    from the snapshot of the league at that step."""
    try:
        saved = checkpoint.find(run.path, str(version))
    except (CheckpointError, RunError):
        saved = None
    if saved is not None and role in saved.document("policy"):
        return RolePlayer(LEARNER, load_policy(saved, role), saved, "")
    try:
        return RolePlayer(LEARNER, Snapshots(run.path).read(version, role), None, "")
    except RunError:
        pass
    note = (
        f"the policy after {version:,} env steps is not stored (checkpoint.keep, league.snapshot), and a "
        "match does not store probabilities and values itself"
    )
    return RolePlayer(LEARNER, None, None, note)


def _without_policy(role: str, name: str) -> RolePlayer:
    note = f"{name} played the {role}; it has no stored policy, so there are no probabilities and values"
    return RolePlayer(name, None, None, note)
