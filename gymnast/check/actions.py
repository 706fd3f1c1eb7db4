"""Checks of actions: masks, extreme actions, labels and keyboard keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy

import gymnasium as gym
import numpy as np

from gymnast.check.checked_env import CheckedEnv, EnvBroken, Timestep
from gymnast.check.finding import Finding
from gymnast.check.observer import FirstViolation
from gymnast.config.facts import Facts
from gymnast.envs.backends.backend import random_actions
from gymnast.errors import UsageError
from gymnast.play.keys import KeyBindings
from gymnast.spaces.spaces import (
    Action,
    BoxAction,
    DiscreteAction,
    MultiBinaryAction,
    MultiDiscreteAction,
    mask_width,
    put_mask,
)
from gymnast.text.formatting import count_noun

Array = np.ndarray
_MAX_ACTIONS = 64
"""Maximum number of single actions that are tried one by one."""
_STEPS = 20
"""Steps for which each bound of a Box action is held."""


class MaskCheck:
    """Checks `info["action_mask"]`. `used` is True if the config uses masks (`env.action_mask`)."""

    def __init__(self, kind: Action, *, used: bool) -> None:
        self._kind, self._used = kind, used
        self._wrong = FirstViolation("mask")
        self._present = self._absent = 0

    def observe(self, timestep: Timestep) -> None:
        """Checks the mask of this timestep: valid, and present exactly if the timesteps before had one."""
        # After the end of an episode no action is chosen, so that its mask does not matter.
        if timestep.over or not self._used:
            self._present += "action_mask" in timestep.info
            return
        if timestep.info.get("action_mask") is None:
            self._absent += 1
            if self._present:
                self._wrong.record(
                    timestep, 'info["action_mask"] is missing here, but was present before'
                )
            return
        # Masks must be present in every step or in none: a missing mask would allow everything.
        if self._absent and not self._present:
            self._wrong.record(
                timestep, 'info["action_mask"] is present here, but was missing before'
            )
        self._present += 1
        problem = mask_of(self._kind, timestep.info)[1]
        if problem is not None:
            self._wrong.record(timestep, problem)

    def findings(self) -> Iterator[Finding]:
        if not self._used and self._present:
            yield Finding("mask", "note", "info has masks, but env.action_mask is off")
        elif self._present:
            yield self._wrong.finding_or_ok("every mask allows an action")


class UnchangedActionCheck:
    """Checks that step() does not modify the action array."""

    def __init__(self) -> None:
        self._wrong = FirstViolation("actions")

    def observe(self, timestep: Timestep) -> None:
        if not timestep.action_unchanged:
            self._wrong.record(timestep, "step() modified its action argument (work on a copy)")

    def findings(self) -> Iterator[Finding]:
        return iter([self._wrong.finding()] if self._wrong else [])


def random_policy(kind: Action, rng: np.random.Generator) -> Callable[[Timestep], Array]:
    """Returns a function that samples uniformly from the valid actions."""

    def act(timestep: Timestep) -> Array:
        mask = mask_of(kind, timestep.info)[0]
        return random_actions(kind, (1,), rng, None if mask is None else mask[None])[0]

    return act


def mask_of(kind: Action, info: Mapping[str, object]) -> tuple[Array | None, str | None]:
    """Returns (mask as a boolean row [options], None), (None, what is wrong with the mask), or (None, None)
    without a mask. `info`: that of a reset or step."""
    mask = info.get("action_mask")
    if mask is None:
        return None, None
    row = np.ones((1, mask_width(kind)), dtype=bool)
    problem = put_mask(kind, row, 0, mask)
    return (None, problem) if problem is not None else (row[0], None)


def check_extreme_actions(copy: CheckedEnv, kind: Action, seed: int) -> Finding:
    """Takes every discrete action, or every bound of a Box, and returns whether step() survives it. `seed`:
    that of every reset."""
    # Each action starts from a reset. A bound is held for a while: it may break only after some steps.
    tried = 0
    for action in extreme_actions(kind):
        try:
            timestep = copy.reset(seed)
        except EnvBroken:
            break  # reported by the check of reset()
        for _ in range(_STEPS if isinstance(kind, BoxAction) else 1):
            mask = mask_of(kind, timestep.info)[0]
            if timestep.over or _ruled_out(kind, action, mask):
                break
            try:
                timestep = copy.step(deepcopy(action))
            except EnvBroken as broken:
                where = copy.location
                copy.recreate()
                return Finding("actions", "wrong", broken.message, where, broken.traceback)
        tried += 1
    if isinstance(kind, BoxAction) and not kind.is_bounded:
        return Finding(
            "actions",
            "note",
            "the Box is unbounded, so a policy may take arbitrarily large actions",
        )
    what = "extreme actions" if isinstance(kind, BoxAction) else "actions"
    return Finding("actions", "ok", f"{tried} {what} were taken")


def extreme_actions(kind: Action) -> Iterator[Array | np.int64]:
    """Yields the actions to try: the bounds of a Box, all at once and one dimension at a time; every Discrete
    action, up to a maximum."""
    match kind:
        case DiscreteAction():
            yield from (np.int64(kind.first + i) for i in range(min(kind.n, _MAX_ACTIONS)))
        case MultiDiscreteAction():
            first = np.array(kind.first).reshape(kind.shape)
            yield from (first, first + np.array(kind.n).reshape(kind.shape) - 1)
        case MultiBinaryAction():
            yield from (np.zeros(kind.shape, np.int8), np.ones(kind.shape, np.int8))
        case BoxAction():
            yield from _bounds(kind)


def _bounds(kind: BoxAction) -> Iterator[Array]:
    """Yields the corners of a Box, then each bound alone with the other dimensions in the middle. Infinite
    bounds count as 0."""
    low, high = (np.array(end, np.float32) for end in (kind.low, kind.high))
    low, high = (np.where(np.isfinite(end), end, 0).astype(np.float32) for end in (low, high))
    yield from (low.reshape(kind.shape), high.reshape(kind.shape))
    middle = ((low + high) / 2).astype(np.float32)
    for i in range(min(kind.size, _MAX_ACTIONS // 2)):
        for end in (low, high):
            action = middle.copy()
            action[i] = end[i]
            yield action.reshape(kind.shape)


def check_action_labels(space: gym.Space[object], kind: Action, facts: Facts) -> Iterator[Finding]:
    """Checks the declared labels and keyboard keys of the actions."""
    n = _labels(kind)
    if facts.actions and len(facts.actions) != n:
        what = f"{len(facts.actions)} labels for {n} actions"
        yield Finding("facts.actions", "wrong", what)
    elif facts.actions and len(set(facts.actions)) != n:
        yield Finding("facts.actions", "wrong", "two actions have the same label")
    elif facts.actions:
        yield Finding("facts.actions", "ok", ", ".join(facts.actions)[:60])
    if facts.keys:
        try:
            KeyBindings(space, facts)
        except (UsageError, ValueError) as problem:
            what = problem.message if isinstance(problem, UsageError) else str(problem)
            yield Finding("facts.keys", "wrong", what)
        else:
            yield Finding("facts.keys", "ok", count_noun(len(facts.keys), "key"))


def _labels(kind: Action) -> int:
    """Returns how many labels an action space needs: one per option, or one per element."""
    match kind:
        case DiscreteAction():
            return kind.n
        case MultiDiscreteAction():
            return len(kind.n)
        case _:
            return kind.size


def _ruled_out(kind: Action, action: Array | np.int64, mask: Array | None) -> bool:
    """True if the mask (None: there is none) forbids an action. With a mask, actions of other spaces than
    Discrete are always skipped, because these extremes combine several elements and may be invalid."""
    if mask is None:
        return False
    return not (isinstance(kind, DiscreteAction) and mask[int(action) - kind.first])
