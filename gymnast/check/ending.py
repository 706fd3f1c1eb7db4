"""How episodes end: truly, at a limit, as both, never."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import gymnasium as gym

from gymnast.check.finding import Finding
from gymnast.check.live import Moment
from gymnast.check.witness import FirstViolation
from gymnast.config.episode_limit import DEFAULT_EPISODE_STEPS
from gymnast.envs.build.make import stated_limit
from gymnast.text.wording import counted

_FEW = 4
"""Episodes from which on it is no coincidence that all of them are of one length."""
_LIMIT = re.compile(r"limit|horizon|max|length|duration|budget|timeout", re.IGNORECASE)
"""Attributes of an environment that may hold its time limit."""


NO_LIMIT = Finding(
    "time limit",
    "warning",
    f"none is declared: episodes are truncated after {DEFAULT_EPISODE_STEPS:,} steps "
    "(register it with max_episode_steps, or set env.max_episode_steps)",
)


class Ends:
    def __init__(self, env: gym.Env[Any, Any], limit: int | None, given: int | None = None) -> None:
        """`limit`: steps after which an episode is known to be cut short; `given`: a limit that the config
        applies in training."""
        self._env, self._limit, self._given, self._longest = env, limit, given, 0
        self._ended: list[Moment] = []
        self._late = FirstViolation("time limit")

    def sees(self, moment: Moment) -> None:
        self._longest = max(self._longest, moment.step)
        if self._limit is not None and moment.step > self._limit:
            self._late.at(moment, f"the episode goes on beyond its limit of {self._limit} steps")
        if moment.over:
            kept = Moment(moment.episode, moment.seed, moment.step, None)
            ends = {"terminated": moment.terminated, "truncated": moment.truncated}
            self._ended.append(Moment(**{**vars(kept), **ends}))

    def findings(self) -> Iterator[Finding]:
        yield self._told_apart()
        yield self._at_the_limit()

    def _told_apart(self) -> Finding:
        both = [end for end in self._ended if end.terminated and end.truncated]
        early = [end for end in both if end.step != self._limit]
        if not self._ended:
            what = f"no episode ended within {self._longest:,} steps"
            known = (
                f", {self._limit:,} is its limit" if self._limit else " and no limit is declared"
            )
            return Finding("ends", "note", f"{what}{known}")
        if early and len(both) == len(self._ended) and len(both) > 1:
            what = f"all {len(both)} ends are told as terminated and truncated at once"
            return Finding("ends", "wrong", what, both[0].where)
        if both:
            what = f"{len(both)} of {len(self._ended)} ends are told as terminated and truncated"
            return Finding("ends", "note", f"{what}: they count as terminated", both[0].where)
        true = sum(end.terminated for end in self._ended)
        return Finding("ends", "ok", f"{true} terminated, {len(self._ended) - true} truncated")

    def _at_the_limit(self) -> Finding:
        if self._late:
            return self._late.finding()
        if self._limit is not None:
            return self._at_known_limit(self._limit)
        lengths = {end.step for end in self._ended}
        true = [end for end in self._ended if end.terminated and not end.truncated]
        if len(true) < _FEW or len(true) < len(self._ended) or len(lengths) > 1 or lengths == {1}:
            return self._none_declared(one_step=lengths == {1})
        (length,) = lengths
        what = f"all {len(true)} episodes are terminated after exactly {length} steps"
        if name := self._attribute(length):
            what = f"{what}, its {name}: say truncated"
            return Finding("time limit", "wrong", what, true[0].where)
        return Finding("time limit", "note", f"{what}: if that is a limit, say truncated")

    def _none_declared(self, *, one_step: bool) -> Finding:
        if self._given is not None:
            return Finding("time limit", "ok", f"{self._given:,} steps (env.max_episode_steps)")
        if (stated := stated_limit(self._env)) is not None:
            return Finding("time limit", "ok", f"the environment applies its own, {stated:,}")
        if one_step:
            return Finding("time limit", "ok", "every episode ends after one step")
        return NO_LIMIT

    def _at_known_limit(self, limit: int) -> Finding:
        there = [end for end in self._ended if end.step == limit]
        if len(there) > 1 and all(end.terminated for end in there):
            what = f"all {len(there)} episodes that reach the limit of {limit} steps are terminated"
            return Finding("time limit", "wrong", what, there[0].where)
        seen = f", reached {counted(len(there), 'time')}" if there else ", not reached"
        return Finding("time limit", "ok", f"{limit:,} steps{seen}")

    def _attribute(self, length: int) -> str | None:
        """Of the environment, that says so."""
        inner = self._env.unwrapped
        classes = (vars(kind) for kind in reversed(type(inner).__mro__))
        named = {name: value for owner in (*classes, vars(inner)) for name, value in owner.items()}
        return next(
            (
                name
                for name, value in named.items()
                if _LIMIT.search(name) and isinstance(value, int) and value == length
            ),
            None,
        )
