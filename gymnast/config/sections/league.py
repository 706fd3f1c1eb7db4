"""Self-play and leagues: who plays each role of a multi-agent environment, and against which opponents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from gymnast.config.applies import Applies
from gymnast.config.cadence import Cadence
from gymnast.config.families import is_multi_agent
from gymnast.config.numbers import OFF, Count, Maybe, Number, PlainField, Share
from gymnast.config.section import SECTION_DEFAULT, DottedKey, Section

LEARNER = "learner"
"""The player of a role that is being trained."""
ROLE_PREFIXES = ("algo.", "policy.", "shaping.", "normalize.", "transaction.")
"""Prefixes of the settings that a role may override in `roles.NAME.set`, except SHARED_SETTINGS."""
SHARED_SETTINGS = ("algo.name", "algo.n_steps", "algo.episodes")
"""Settings that are the same for all roles."""


def _role_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in ("eval", "agent"):
        raise ValueError(f"{name!r} cannot name a role (expected a word other than eval or agent)")
    return name


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, str) else value


RoleName = Annotated[str, AfterValidator(_role_name)]
Players = Annotated[tuple[str, ...], BeforeValidator(_as_tuple), Field(min_length=1)]


class RoleConfig(Section):
    agents: Maybe[str] = OFF
    """Pattern of the names of the role's agents in a PettingZoo environment, such as `archer_*`. off: the
    role's name followed by a number."""
    plays: Players = (LEARNER,)
    """Player of the role: `learner`, `scripted:medium`, `random`, or the policy of another run,
    `RUN[:CHECKPOINT]`. Several players form a ladder: the next one plays once the other role wins often
    enough (`league.gate`)."""
    set: dict[DottedKey, PlainField] = {}
    """Settings for this role only, such as `{algo.lr: 1e-4}`."""

    @property
    def is_learner(self) -> bool:
        return self.plays == (LEARNER,)


WITH_REMEDIES = Applies(
    "with league.balance.remedies", lambda on: bool(on.config.league.balance.remedies)
)
# `remedy=remedy` binds the loop variable now; without it both lambdas would see the last remedy.
WITH_HANDICAP, WITH_REWARD = (
    Applies(
        f"where {remedy} is among league.balance.remedies",
        lambda on, remedy=remedy: remedy in on.config.league.balance.remedies,
    )
    for remedy in ("handicap", "reward")
)
WITH_TURNS = Applies(
    "with league.learning=alternating", lambda on: on.config.league.learning == "alternating"
)
WITH_A_POOL = Applies(
    "with a pool of snapshots (league.snapshot)", lambda on: on.config.league.snapshot is not None
)
WITH_A_LADDER = Applies(
    "where a role is played by several opponents (roles.NAME.plays)",
    lambda on: any(len(role.plays) > 1 for role in on.config.roles.values()),
)
Remedy = Literal["alone", "handicap", "reward", "warm_start"]


class BalanceConfig(Section):
    band: Annotated[tuple[Share, Share], Field()] = (Share(0.25), Share(0.75))
    """Range in which the rolling win rate of each role should stay; an alert is raised when it leaves it."""
    aim: Annotated[Maybe[tuple[Share, Share]], WITH_REMEDIES] = OFF
    """Range of the win rate that remedies aim for. off: the band."""
    patience: Annotated[Count, WITH_REMEDIES] = 20
    """Rollouts outside of the range before the first remedy is applied, and between one remedy and the
    next."""
    remedies: tuple[Remedy, ...] = ()
    """Remedies applied one after the other while a role is dominated, and reverted in reverse order once it
    is not. alone: only the weaker role learns. handicap: the stronger role is slowed down, if the
    environment supports it. reward: the shaping weights of the weaker role are increased. warm_start: the
    weaker role restarts from its snapshot that does best against the current opponent."""
    handicap: Annotated[Share, Field(gt=0), WITH_HANDICAP] = Share(0.85)
    """Speed of the stronger role while it is handicapped, as a share of its normal speed."""
    reward: Annotated[Number, Field(gt=0), WITH_REWARD] = 3.0
    """Factor by which the shaping weights of the weaker role are multiplied."""


class LeagueConfig(Section):
    learning: Literal["simultaneous", "alternating"] = "simultaneous"
    """Update all roles from every rollout, or take turns."""
    turn: Annotated[Count, WITH_TURNS] = 10
    """Length of a role's turn in rollouts."""
    live_share: Annotated[Share, WITH_A_POOL] = Share(0.6)
    """Share of the matches in which every role is played by its current policy. In the others, one of the
    roles plays against a snapshot of its opponent."""
    draw: Annotated[Literal["uniform", "recent", "loss"], WITH_A_POOL] = "loss"
    """How a snapshot is sampled: uniformly, newer ones more often, or ones that win against the learner more
    often."""
    snapshot: Maybe[Cadence] = Cadence.parse("5%")
    """How often the current policies are added to the pool of snapshots."""
    keep: Annotated[Count, WITH_A_POOL] = 20
    """Maximum number of snapshots per role."""
    entry: Annotated[Maybe[Share], WITH_A_POOL] = OFF
    """A policy enters the pool only if it wins more than this share of its matches with confidence."""
    gate: Annotated[Share, WITH_A_LADDER] = Share(0.7)
    """A ladder moves on to its next opponent once this share of matches against the current one is won with
    confidence."""
    opponents: tuple[str, ...] = ("weak", "medium", "strong")
    """Scripted opponents of every evaluation. They are never used in training, unless `roles.NAME.plays`
    names them."""
    window: Count = 200
    """Number of recent matches in a rolling win rate."""
    balance: BalanceConfig = SECTION_DEFAULT
    """Remedies when one role dominates."""


def role_conflicts(roles: Mapping[str, RoleConfig], env_id: str) -> Iterator[tuple[str, str]]:
    """Yields what is wrong with these roles, as (dotted key, message)."""
    if roles and not is_multi_agent(env_id):
        yield (
            "roles",
            f"{env_id} has no roles: it is a single-agent environment (leave `roles` out)",
        )
    for name, role in roles.items():
        if LEARNER in role.plays and len(role.plays) > 1:
            yield (
                f"roles.{name}.plays",
                "learner cannot be part of a ladder (expected learner alone)",
            )
        for key in role.set:
            if not key.startswith(ROLE_PREFIXES) or key in SHARED_SETTINGS:
                known = ", ".join(f"{start}*" for start in ROLE_PREFIXES)
                yield f"roles.{name}.set", f"{key} cannot differ between roles (expected {known})"
