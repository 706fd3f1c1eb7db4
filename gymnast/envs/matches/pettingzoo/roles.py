"""Assigns the agents of an environment to roles. One policy plays all agents of a role, so they must have
the same observation and action space."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gymnast.envs.matches.matches import Role
from gymnast.errors import EnvError
from gymnast.spaces import spaces
from gymnast.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from pettingzoo import ParallelEnv

    AgentsEnv = ParallelEnv[Hashable, object, object]
    """A PettingZoo environment with any agents, observations and actions."""

AgentsByRole = dict[str, tuple[Hashable, ...]]
"""The agents of each role, in the environment's order."""


def agents_of(name: str, env: AgentsEnv) -> list[Hashable]:
    """Returns the names of all agents. Raises EnvError if the environment does not declare them."""
    agents: list[Hashable] = list(getattr(env, "possible_agents", ()))
    if not agents:
        what = f"{name} is not a PettingZoo ParallelEnv: it has no possible_agents"
        raise EnvError(what, fix="follow https://pettingzoo.farama.org/api/parallel")
    return agents


def group_agents(
    name: str, agents: Sequence[Hashable], patterns: Mapping[str, str] | None
) -> AgentsByRole:
    """Returns role -> its agents. `patterns`: role -> pattern such as `archer_*`; without patterns, agents
    are grouped by their names without the number: `archer_0` and `archer_1` have the role `archer`. `name`:
    the environment, for messages. Raises EnvError unless each agent matches exactly one pattern and each
    pattern an agent."""
    if not patterns:
        by_stem: dict[str, list[Hashable]] = {}
        for agent in agents:
            by_stem.setdefault(_stem(agent), []).append(agent)
        return {role: tuple(members) for role, members in by_stem.items()}
    # With patterns, each agent must match exactly one, and each pattern at least one agent.
    listed = f"the agents of {name} are {', '.join(map(str, agents))}"
    for agent in agents:
        fitting = [role for role, pattern in patterns.items() if fnmatchcase(str(agent), pattern)]
        if not fitting:
            raise EnvError(f"agent {agent} matches no role", at="roles", fix=listed)
        if len(fitting) > 1:
            what = f"agent {agent} matches several roles: {', '.join(fitting)}"
            raise EnvError(
                what, at="roles", fix="let each agent match the pattern of one role only"
            )
    seats = {
        role: tuple(agent for agent in agents if fnmatchcase(str(agent), pattern))
        for role, pattern in patterns.items()
    }
    for role, pattern in patterns.items():
        if not seats[role]:
            guess = did_you_mean(pattern.rstrip("*_"), map(str, agents))
            raise EnvError(f"{role}: no agent matches {pattern}{guess}", at="roles", fix=listed)
    return seats


def make_role(name: str, env: AgentsEnv, role: str, agents: Sequence[Hashable]) -> Role:
    """Returns the role of these agents. `name`, `role`: names of environment and role, for messages. Raises
    EnvError if the spaces of the agents differ or are not supported."""
    obs_space, action_space = env.observation_space(agents[0]), env.action_space(agents[0])
    try:
        obs, action = spaces.convert_obs_space(obs_space), spaces.convert_action_space(action_space)
    except EnvError as problem:
        raise EnvError(f"{name}, {agents[0]}: {problem.message}", fix=problem.fix) from None
    if "action_mask" in (getattr(obs_space, "spaces", None) or ()):
        raise EnvError(f"{name}: {MASK_UNSUPPORTED}")
    for agent in agents[1:]:
        for kind, first in (("observation", obs_space), ("action", action_space)):
            other = getattr(env, f"{kind}_space")(agent)
            if other != first:
                raise EnvError(
                    f"{name}: {agent} has the {kind} space {other}, but {agents[0]} of the same role "
                    f"{role} has {first}",
                    at="roles",
                    fix="give agents with different spaces roles of their own",
                )
    return Role(len(agents), obs, action)


MASK_UNSUPPORTED = "it uses an action_mask, which is not supported for multi-agent environments"


def _stem(agent: Hashable) -> str:
    """Returns the name of an agent without its number; `agent` for one whose name is only a number."""
    return re.sub(r"[_-]?\d+$", "", str(agent)) or "agent"
