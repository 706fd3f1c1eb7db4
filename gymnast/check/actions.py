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
from gymnast.errors import UsageError
from gymnast.play.keys import KeyBindings
from gymnast.spaces.spaces import Action
from gymnast.text.formatting import count_noun

Array = np.ndarray
_MAX_ACTIONS = 64
"""Maximum number of single actions that are tried one by one."""
_STEPS = 20
"""Steps for which each bound of a continuous element is held."""


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


def random_policy(kind: Action, rng: np.random.Generator) -> Callable[[Timestep], object]:
    """Returns a function that samples uniformly from the valid actions."""

    def act(timestep: Timestep) -> object:
        mask = mask_of(kind, timestep.info)[0]
        return kind.unpack_each(kind.random((1,), rng, None if mask is None else mask[None]))[0]

    return act


def mask_of(kind: Action, info: Mapping[str, object]) -> tuple[Array | None, str | None]:
    """Returns (mask as a boolean row [options], None), (None, what is wrong with the mask), or (None, None)
    without a mask. `info`: that of a reset or step."""
    mask = info.get("action_mask")
    if mask is None:
        return None, None
    row = np.ones((1, kind.mask_width), dtype=bool)
    problem = kind.put_mask(row, 0, mask)
    return (None, problem) if problem is not None else (row[0], None)


def check_extreme_actions(copy: CheckedEnv, kind: Action, seed: int) -> Finding:
    """Takes every discrete action, or every bound of continuous elements, and returns whether step() survives
    it. `seed`: that of every reset."""
    # Each action starts from a reset. A bound is held for a while: it may break only after some steps.
    tried = 0
    for flat in kind.extremes(_MAX_ACTIONS):
        action = kind.unpack_each(kind.unflatten(flat[None]))[0]
        try:
            timestep = copy.reset(seed)
        except EnvBroken:
            break  # reported by the check of reset()
        for _ in range(_STEPS if kind.has_continuous else 1):
            mask = mask_of(kind, timestep.info)[0]
            if timestep.over or (mask is not None and not kind.is_allowed(flat, mask)):
                break
            try:
                timestep = copy.step(deepcopy(action))
            except EnvBroken as broken:
                where = copy.location
                copy.recreate()
                return Finding("actions", "wrong", broken.message, where, broken.traceback)
        tried += 1
    if not kind.is_bounded:
        return Finding(
            "actions",
            "note",
            f"the {kind.name} is unbounded, so a policy may take arbitrarily large actions",
        )
    what = "extreme actions" if kind.has_continuous else "actions"
    return Finding("actions", "ok", f"{tried} {what} were taken")


def check_action_labels(space: gym.Space[object], kind: Action, facts: Facts) -> Iterator[Finding]:
    """Checks the declared labels and keyboard keys of the actions."""
    n = len(kind.default_names)
    if facts.actions and len(facts.actions) != n:
        what = f"{len(facts.actions)} labels for {n} actions"
        yield Finding("facts.actions", "wrong", what)
    elif facts.actions and len(set(facts.actions)) != n:
        yield Finding("facts.actions", "wrong", "two actions have the same label")
    elif facts.actions:
        yield Finding("facts.actions", "ok", ", ".join(facts.actions)[:60])
    named = zip(kind.names(facts.actions), kind.elements, strict=False)
    sizes = {} if kind.n_choices is not None else {name: e.n for name, e in named}
    for name, options in facts.options.items():
        if len(set(options)) != sizes.get(name, 0):
            what = (
                f"{len(set(options))} different labels for {sizes.get(name, 0)} options of {name}"
            )
            yield Finding("facts.options", "wrong", what)
        else:
            yield Finding("facts.options", "ok", f"{name}: {', '.join(options)}"[:60])
    if facts.keys:
        try:
            KeyBindings(space, facts)
        except (UsageError, ValueError) as problem:
            what = problem.message if isinstance(problem, UsageError) else str(problem)
            yield Finding("facts.keys", "wrong", what)
        else:
            yield Finding("facts.keys", "ok", count_noun(len(facts.keys), "key"))
