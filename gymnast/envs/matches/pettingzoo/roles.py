"""Which agents of an environment play which role: one policy plays all of a role, so they must see
and do the same kinds of things."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from gymnast.envs.matches.matches import Role
from gymnast.errors import EnvError
from gymnast.spaces import spaces
from gymnast.text.closest import closest

Seats = dict[str, tuple[Any, ...]]
"""Role -> its agents, in the environment's order."""


def seats_of(name: str, agents: Sequence[Any], patterns: Mapping[str, str] | None) -> Seats:
    """By patterns such as `archer_*`, or, without any, by name: `archer_0` and `archer_1` are of the
    role `archer`."""
    if not patterns:
        found: dict[str, list[Any]] = {}
        for agent in agents:
            found.setdefault(_stem(agent), []).append(agent)
        return {role: tuple(members) for role, members in found.items()}
    listed = f"the agents of {name} are {', '.join(map(str, agents))}"
    for agent in agents:
        of = [role for role, pattern in patterns.items() if fnmatchcase(str(agent), pattern)]
        if not of:
            raise EnvError(f"no role is for the agent {agent}", at="roles", fix=listed)
        if len(of) > 1:
            what = f"the agent {agent} would be of several roles: {', '.join(of)}"
            raise EnvError(what, at="roles", fix="let each agent fit the pattern of one role")
    seats = {
        role: tuple(agent for agent in agents if fnmatchcase(str(agent), pattern))
        for role, pattern in patterns.items()
    }
    for role, pattern in patterns.items():
        if not seats[role]:
            guess = closest(pattern.rstrip("*_"), map(str, agents))
            raise EnvError(f"{role}: no agent is called {pattern}{guess}", at="roles", fix=listed)
    return seats


def role_of(name: str, env: Any, role: str, agents: Sequence[Any]) -> Role:
    seen, taken = env.observation_space(agents[0]), env.action_space(agents[0])
    try:
        obs, action = spaces.observation(seen), spaces.action(taken)
    except EnvError as problem:
        raise EnvError(f"{name}, {agents[0]}: {problem.message}", fix=problem.fix) from None
    if "action_mask" in (getattr(seen, "spaces", None) or ()):
        raise EnvError(f"{name}: {MASKED}")
    for agent in agents[1:]:
        for kind, ours in (("observation", seen), ("action", taken)):
            its = getattr(env, f"{kind}_space")(agent)
            if its != ours:
                raise EnvError(
                    f"{name}: {agent} has the {kind} space {its}, and {agents[0]} of the same role "
                    f"{role} has {ours}",
                    at="roles",
                    fix="give agents with different spaces roles of their own",
                )
    return Role(len(agents), obs, action)


MASKED = (
    "it rules actions out by an action_mask, which is not heeded where there are several agents"
)


def _stem(agent: Any) -> str:
    return re.sub(r"[_-]?\d+$", "", str(agent)) or "agent"
