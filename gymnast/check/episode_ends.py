"""Checks of episode ends: terminated, truncated at a time limit, both at once, or never."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gymnast.check.checked_env import Timestep
from gymnast.check.finding import Finding
from gymnast.check.observer import FirstViolation
from gymnast.config.episode_limit import DEFAULT_EPISODE_STEPS
from gymnast.envs.build.make import internal_time_limit
from gymnast.envs.env_types import Env
from gymnast.text.formatting import count_noun

_FEW = 4
"""Number of episodes from which equal lengths are no longer a coincidence."""
_LIMIT = re.compile(r"limit|horizon|max|length|duration|budget|timeout", re.IGNORECASE)
"""Pattern of attribute names that may hold the time limit of an environment."""


NO_LIMIT = Finding(
    "time limit",
    "warning",
    f"none is declared: episodes are truncated after {DEFAULT_EPISODE_STEPS:,} steps "
    "(register it with max_episode_steps, or set env.max_episode_steps)",
)


class EpisodeEndCheck:
    """Checks how episodes end. A time limit that is returned as terminated is the most common mistake: the
    critic then learns that no reward follows (Pardo et al. 2018)."""

    def __init__(self, env: Env, limit: int | None, config_limit: int | None = None) -> None:
        """`limit` is the known time limit of the environment; `config_limit` is the limit that the config
        applies in training."""
        self._env, self._limit, self._config_limit, self._longest = env, limit, config_limit, 0
        self._ended: list[Timestep] = []
        self._late = FirstViolation("time limit")

    def observe(self, timestep: Timestep) -> None:
        """Records the end of an episode, and whether it continues beyond its limit."""
        self._longest = max(self._longest, timestep.step)
        if self._limit is not None and timestep.step > self._limit:
            self._late.record(
                timestep, f"the episode continues beyond its limit of {self._limit} steps"
            )
        if timestep.over:
            # Only the place and the kind of the end are kept: observations may be large.
            place = Timestep(timestep.episode, timestep.seed, timestep.step, None)
            ends = {"terminated": timestep.terminated, "truncated": timestep.truncated}
            self._ended.append(Timestep(**{**vars(place), **ends}))

    def findings(self) -> Iterator[Finding]:
        yield self._terminated_or_truncated()
        yield self._at_the_limit()

    def _terminated_or_truncated(self) -> Finding:
        """Checks that ends are terminated or truncated, not both."""
        both = [end for end in self._ended if end.terminated and end.truncated]
        # At the time limit, both may be true by coincidence; before it, only by mistake.
        early = [end for end in both if end.step != self._limit]
        if not self._ended:
            what = f"no episode ended within {self._longest:,} steps"
            known = (
                f", its limit is {self._limit:,}" if self._limit else " and no limit is declared"
            )
            return Finding("ends", "note", f"{what}{known}")
        if early and len(both) == len(self._ended) and len(both) > 1:
            what = f"all {len(both)} ends are both terminated and truncated"
            return Finding("ends", "wrong", what, both[0].location)
        if both:
            what = f"{len(both)} of {len(self._ended)} ends are both terminated and truncated"
            return Finding("ends", "note", f"{what}: they count as terminated", both[0].location)
        terminated = sum(end.terminated for end in self._ended)
        truncated = len(self._ended) - terminated
        return Finding("ends", "ok", f"{terminated} terminated, {truncated} truncated")

    def _at_the_limit(self) -> Finding:
        """Checks the time limit: that there is one, that it is kept, and that it truncates."""
        if self._late:
            return self._late.finding()
        if self._limit is not None:
            return self._at_known_limit(self._limit)
        lengths = {end.step for end in self._ended}
        terminated = [end for end in self._ended if end.terminated and not end.truncated]
        few = len(terminated) < _FEW or len(terminated) < len(self._ended)
        # Episodes of one step (bandits) all have the same length without any limit.
        if few or len(lengths) > 1 or lengths == {1}:
            return self._none_declared(one_step=lengths == {1})
        # Equal lengths suggest a time limit that is returned as terminated.
        (length,) = lengths
        what = f"all {len(terminated)} episodes are terminated after exactly {length} steps"
        if name := self._attribute(length):
            what = f"{what}, its {name}: return truncated instead"
            return Finding("time limit", "wrong", what, terminated[0].location)
        return Finding("time limit", "note", f"{what}: if this is a limit, return truncated")

    def _none_declared(self, *, one_step: bool) -> Finding:
        """Judges an environment that declares no limit: does anything else end its episodes? `one_step`:
        every episode lasted one step."""
        truncated = [end.step for end in self._ended if end.truncated and not end.terminated]
        if self._config_limit is not None:
            what = f"{self._config_limit:,} steps (env.max_episode_steps)"
            return Finding("time limit", "ok", what)
        if (stated := internal_time_limit(self._env)) is not None:
            return Finding("time limit", "ok", f"the environment applies its own limit, {stated:,}")
        if one_step:
            return Finding("time limit", "ok", "every episode ends after one step")
        return undeclared_limit(truncated, self._longest)

    def _at_known_limit(self, limit: int) -> Finding:
        """Checks that episodes which reach the declared limit are truncated there, not terminated."""
        # One episode may happen to terminate in its last possible step; all of them do not.
        at_limit = [end for end in self._ended if end.step == limit]
        if len(at_limit) > 1 and all(end.terminated for end in at_limit):
            what = (
                f"all {len(at_limit)} episodes that reach the limit of {limit} steps are terminated"
            )
            return Finding("time limit", "wrong", what, at_limit[0].location)
        reached = f", reached {count_noun(len(at_limit), 'time')}" if at_limit else ", not reached"
        earlier = [end.step for end in self._ended if end.truncated and end.step < limit]
        if earlier:
            reached += f"; the environment truncates episodes earlier, after {_span(earlier)}"
        return Finding("time limit", "ok", f"{limit:,} steps{reached}")

    def _attribute(self, length: int) -> str | None:
        """Returns the name of an attribute of the environment that looks like a limit and equals `length`."""
        inner = self._env.unwrapped
        classes = (vars(kind) for kind in reversed(type(inner).__mro__))  # overrides win
        named = {name: value for owner in (*classes, vars(inner)) for name, value in owner.items()}
        return next(
            (
                name
                for name, value in named.items()
                if _LIMIT.search(name) and isinstance(value, int) and value == length
            ),
            None,
        )


def undeclared_limit(truncated: list[int], longest: int) -> Finding:
    """Judges an environment that declares no limit: it may truncate its episodes itself. `truncated`: the
    steps at which episodes were truncated; `longest`: the length of the longest episode."""
    if truncated and longest <= max(truncated):
        what = f"none is declared; the environment truncates episodes after {_span(truncated)}"
        return Finding("time limit", "ok", what)
    return NO_LIMIT


def _span(steps: list[int]) -> str:
    """Returns the range of these numbers of steps as text."""
    low, high = min(steps), max(steps)
    return count_noun(low, "step") if low == high else f"{low:,} to {high:,} steps"
