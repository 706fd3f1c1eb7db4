"""Several agents in one environment: who plays each role, and against whom it learns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from gymnast.config.applies import Applies
from gymnast.config.cadence import Cadence
from gymnast.config.families import has_roles
from gymnast.config.numbers import OFF, Count, Maybe, Number, Share
from gymnast.config.section import UNSET, DottedKey, Section

LEARNER = "learner"
"""Who plays a role: the policy that learns it."""
OF_A_ROLE = ("algo.", "policy.", "shaping.", "normalize.", "transaction.")
"""Settings that a role may have for itself,"""
OF_ALL_ROLES = ("algo.name", "algo.n_steps")
"""but for these."""


def _role_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in ("eval", "agent"):
        raise ValueError(f"{name!r} cannot name a role (expected a word other than eval or agent)")
    return name


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


RoleName = Annotated[str, AfterValidator(_role_name)]
Players = Annotated[tuple[str, ...], BeforeValidator(_several), Field(min_length=1)]


class RoleConfig(Section):
    agents: Maybe[str] = OFF
    """Names of its agents in a PettingZoo environment, as a pattern: `archer_*`. Off: the role's name
    and a number."""
    plays: Players = (LEARNER,)
    """Who plays it: `learner`, `scripted:medium`, `random`, or a policy of another run, `RUN[:CHECKPOINT]`.
    Several are a ladder: the next one once the other role wins enough (`league.gate`)."""
    set: dict[DottedKey, JsonValue] = {}
    """Settings that are its own: `{algo.lr: 1e-4}`."""

    @property
    def learns(self) -> bool:
        return self.plays == (LEARNER,)


WITH_REMEDIES = Applies(
    "with league.balance.remedies", lambda on: bool(on.config.league.balance.remedies)
)
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
    "with past selves (league.snapshot)", lambda on: on.config.league.snapshot is not None
)
WITH_A_LADDER = Applies(
    "where a role is played by several opponents (roles.NAME.plays)",
    lambda on: any(len(role.plays) > 1 for role in on.config.roles.values()),
)
Remedy = Literal["alone", "handicap", "reward", "warm_start"]


class BalanceConfig(Section):
    band: Annotated[tuple[Share, Share], Field()] = (Share(0.25), Share(0.75))
    """Where the rolling win rate of either role should stay; an alert tells when it does not."""
    aim: Annotated[Maybe[tuple[Share, Share]], WITH_REMEDIES] = OFF
    """Remedies keep it within this; off: within the band."""
    patience: Annotated[Count, WITH_REMEDIES] = 20
    """Rollouts outside before the first remedy, and from each to the next."""
    remedies: tuple[Remedy, ...] = ()
    """What is done, one after the other, while a role is dominated; taken back in reverse once it is not.
    alone: only the weaker role learns. handicap: the stronger one is slower, where the environment
    allows it. reward: the weaker role's own terms count more. warm_start: it takes back its best-rated
    snapshot."""
    handicap: Annotated[Share, Field(gt=0), WITH_HANDICAP] = Share(0.85)
    """Speed of the stronger role while it has one."""
    reward: Annotated[Number, Field(gt=0), WITH_REWARD] = 3.0
    """Factor of the weaker role's shaping weights."""


class LeagueConfig(Section):
    learning: Literal["simultaneous", "alternating"] = "simultaneous"
    """All roles learn from every rollout, or one after the other."""
    turn: Annotated[Count, WITH_TURNS] = 10
    """Rollouts of a role's turn, where they alternate."""
    live_share: Annotated[Share, WITH_A_POOL] = Share(0.6)
    """Share of the matches in which all roles are played by those who learn; in the others one of them
    meets a past self of its opponent."""
    draw: Annotated[Literal["uniform", "recent", "loss"], WITH_A_POOL] = "loss"
    """Which past self: any, rather the newer, or rather those that are lost against."""
    snapshot: Maybe[Cadence] = Cadence.parse("5%")
    """How often the policies are added to the pool of past selves."""
    keep: Annotated[Count, WITH_A_POOL] = 20
    """Past selves of a role, at most."""
    entry: Annotated[Maybe[Share], WITH_A_POOL] = OFF
    """A policy enters the pool only if it surely wins more than this share of its matches."""
    gate: Annotated[Share, WITH_A_LADDER] = Share(0.7)
    """A ladder's next opponent comes once this share of matches is surely won against the present one."""
    opponents: tuple[str, ...] = ("weak", "medium", "strong")
    """Scripted opponents of every evaluation. Training never meets them, unless a role is told to."""
    window: Count = 200
    """Matches that a rolling win rate is over."""
    balance: BalanceConfig = UNSET
    """What happens when one role dominates."""


def role_conflicts(roles: Mapping[str, RoleConfig], env_id: str) -> Iterator[tuple[str, str]]:
    """What is wrong with these roles: (dotted key, what)."""
    if roles and not has_roles(env_id):
        yield "roles", f"{env_id} has no roles: a single agent acts in it (expected none)"
    for name, role in roles.items():
        if LEARNER in role.plays and len(role.plays) > 1:
            yield f"roles.{name}.plays", "learner cannot be part of a ladder (expected it alone)"
        for key in role.set:
            if not key.startswith(OF_A_ROLE) or key in OF_ALL_ROLES:
                known = ", ".join(f"{start}*" for start in OF_A_ROLE)
                yield f"roles.{name}.set", f"{key} is not a role's own (expected {known})"
