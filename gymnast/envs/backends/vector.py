"""The backends `vector` and `envpool`: an environment's own `VectorEnv` behind the `Backend` interface.

Its autoreset mode (`metadata["autoreset_mode"]`) decides how episodes start:
- NEXT_STEP: the step after the end of an episode only starts the next one; `Step.stepped` marks it.
- SAME_STEP: the last step of an episode starts the next one, whose observation appears after `reset`.
- DISABLED: it resets only when asked, like our other backends.
With autoreset, no per-episode seed reaches the environment: only a reset of all copies seeds it, and the
actions since then are kept (`history.py`) so that it can be restored. Single copies cannot be stepped.
Where they cannot be reset either, one fault ends the running episodes of all copies.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from gymnasium import error
from gymnasium.vector import AutoresetMode

from gymnast.envs.backends import active_calls
from gymnast.envs.backends.active_calls import ActiveCall
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX, Fault, Step, any_true
from gymnast.envs.backends.history import History
from gymnast.envs.backends.step_info import read_vector_info
from gymnast.envs.backends.vector_obs import (
    LastInfos,
    Problems,
    VectorInfo,
    VectorObs,
    check_columns,
)
from gymnast.envs.env_types import Info, VectorEnv
from gymnast.errors import EnvError

Array = np.ndarray


class VectorBackend:
    """Implements `Backend` with a Gymnasium `VectorEnv`, whatever its autoreset mode."""

    restore_mode: Literal["replay", "together", "history", "none"]

    def __init__(
        self,
        make: Callable[[], VectorEnv],
        name: str,
        *,
        info_keys: Sequence[str] = (),
        step_keys: Sequence[str] = (),
        masked: bool = True,
    ) -> None:
        self.name, self._make, self._info_keys = name, make, info_keys
        self._step_keys = tuple(step_keys)
        self._vector = make()
        self._mode = _mode_of(self._vector, name)
        self.n_envs = n = self._vector.num_envs
        self._state = state = VectorObs(self._vector, masked=masked)
        self.obs_space, self.action_space = state.obs_space, state.action_space
        self.obs, self._next = state.obs, state.obs.copy()
        """`_next`: first observations of the episodes that SAME_STEP has already started, [N, ...]."""
        obs_space, action_space = (
            self._vector.single_observation_space,
            self._vector.single_action_space,
        )
        self.space_texts = (" ".join(str(obs_space).split()), str(action_space))
        self.time_limit, self.has_default_limit = _time_limit(self._vector), False
        self._age = np.zeros(n, dtype=np.int64)
        self._over = np.zeros(n, dtype=bool)
        """Copies whose episode has ended and whose next one has not started yet, [N]."""
        self._was_reset = self._broken = self.in_fork = False
        """`_broken`: the vector must be created again before its next reset."""
        self._calls, self._busy = 0, ""
        """`_busy`: name of the vector's method that is being called, empty if none is."""
        self._pending_faults: dict[int, Fault] = {}
        """Faults of copies that were restarted with the whole vector when only others were reset. They are
        reported by the next step."""
        self._seed_each = None if self._mode is AutoresetMode.DISABLED else False
        """Whether `reset` accepts one seed per copy; None until that has been tried."""
        self._seed_every: int = getattr(self._vector, "seed_every", 0)
        """Number of steps after which a copy gets a new seed at its next reset (0: at every reset)."""
        self.restore_mode = "together" if self._mode is AutoresetMode.DISABLED else "history"
        self.history = History(self.action_space, n)
        active_calls.register(self)

    @property
    def mask(self) -> Array | None:
        return self._state.mask

    def reset_all(self, seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Resets all copies with these seeds, or with the first seed if the vector takes only one."""
        self._was_reset = False
        return self._reset(list(range(self.n_envs)), seeds)

    def reseed(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Resets single copies, each with its seed."""
        self.history.forget(
            copies
        )  # makes their age infinite, so that `seed_every` causes no delay
        return self.reset(copies, seeds)

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Starts a new episode in each of these copies and returns their faults. Each seed is used as far as
        the vector allows it: with autoreset, only a reset of all copies is seeded. Faults of other copies are
        reported by the next step."""
        if not len(copies):
            return ()
        self._calls, self._busy = self._calls + 1, "reset"
        try:
            all_faults = self._reset(list(copies), seeds)
        finally:
            self._busy = ""
        if self.in_fork:
            active_calls.end_fork(self.name)
        if not (all_faults or self._pending_faults):
            return ()
        # Only faults of the requested copies are returned; the others are reported by the next step.
        requested, faults = set(copies), {fault.copy: fault for fault in all_faults}
        self._pending_faults = {
            i: f for i, f in (self._pending_faults | faults).items() if i not in requested
        }
        return tuple(fault for i, fault in faults.items() if i in requested)

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        """Steps all copies with the actions [N, ...] and returns the result. If a reset left faults of other
        copies, no copy is stepped and the result contains only those. Raises EnvError for `copies` other than
        all, which a vector cannot step."""
        if copies is not None and len(copies) < self.n_envs:
            what = f"{self.name}: a vector implementation cannot step single copies"
            raise EnvError(what, fix=OTHER_BACKEND_FIX)
        if self._pending_faults:
            # No copy is stepped: the caller does not know yet that these copies play new episodes.
            pending, self._pending_faults = tuple(self._pending_faults.values()), {}
            return replace(self._empty_step(pending), stepped=np.zeros(self.n_envs, dtype=bool))
        # 1. Call the vector. Copies whose episode has ended ignore their action and start the next one.
        only_starts, self._over = self._over, np.zeros(self.n_envs, dtype=bool)
        self._age += 1
        self._age[only_starts] = 0
        self.history.record_actions(action)
        try:
            self._calls, self._busy = self._calls + 1, "step"
            given = self.action_space.unpack_batch(action)
            obs, *numbers, info = self._vector.step(given)
            self._busy = ""
            if self.in_fork:
                active_calls.end_fork(self.name)
            columns = list(check_columns(numbers, self.n_envs))
        except (Exception, SystemExit) as cause:
            self._busy = ""
            if self.in_fork:
                active_calls.end_fork(self.name)
            return self._empty_step(self._raised("step", cause))
        # 2. Validate what it returned: first the columns of all copies, then each observation.
        problem = next((text for _, text in columns if text is not None), None)
        if problem is not None:
            return self._empty_step(self._faults(dict.fromkeys(range(self.n_envs), problem)))
        reward, terminated, truncated = (column for column, _ in columns)
        reward, over = reward.astype(np.float64), terminated | truncated
        problems = self._store(obs, info, reward, over)
        # With SAME_STEP, `info` already belongs to the next episode and `final_info` to the one that ended.
        final_info: VectorInfo = info.get("final_info", info)
        infos = LastInfos(final_info, self._info_keys, over.copy() if problems else over)
        faults = self._faults(problems)
        if self._broken:
            return self._empty_step(faults)
        # 3. A faulty copy neither gets a reward nor ends: its step will be discarded.
        if problems:
            faulty = list(problems)
            reward[faulty], over[faulty] = 0.0, False
            terminated, truncated = terminated & over, truncated & over
        self._over = over
        stepped = ~only_starts if any_true(only_starts) else None
        step = Step(self.obs, reward, terminated, truncated, infos, stepped, faults)
        if self._step_keys:
            step.info_values = self._numbers(info, final_info, over)
        return step

    def close(self) -> None:
        self._vector.close()

    def active_call(self) -> ActiveCall | None:
        if not self._busy:
            return None
        step = int(self._age.max()) if self._busy == "step" else 0
        return ActiveCall(self.name, None, step, self._calls)

    def _numbers(self, info: VectorInfo, final_info: VectorInfo, over: Array) -> Array:
        """Returns the values of step_keys in this step's info, [N, keys]. For episodes that ended in
        SAME_STEP mode they come from the final info."""
        arguments = self._step_keys, self.n_envs, self.name
        values = read_vector_info(info, *arguments)
        if final_info is not info and any_true(over):
            values[over] = read_vector_info(final_info, *arguments)[over]
        return values

    def _store(self, obs: object, info: VectorInfo, reward: Array, over: Array) -> Problems:
        """Stores the observations and masks of a step and returns what is wrong with them. `over`: copies
        whose episode ended, [N]. In SAME_STEP mode the returned observation of an ended copy is the next
        episode's first: it is kept in `_next`, and the final observation takes its place."""
        state, same_step = self._state, self._mode is AutoresetMode.SAME_STEP
        problems = state.write(obs)
        if same_step and any_true(over):
            ended, final = np.flatnonzero(over).tolist(), info.get("final_obs")
            self._next[ended] = self.obs[ended]
            if final is None:
                problems |= dict.fromkeys(ended, 'the episode ended without info["final_obs"]')
            else:
                problems |= state.write_each(final, ended)
        if state.mask is not None or "action_mask" in info:
            # After the end of an episode no action is chosen, unless SAME_STEP has started the next one.
            problems |= state.record_masks(info, np.flatnonzero(~over | same_step))
        return problems | state.not_finite(reward)

    # ---- resets ------------------------------------------------------------------------------

    def _reset(self, chosen: list[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Starts new episodes in these copies and returns the faults, possibly also of other copies."""
        try:
            if self._broken:
                self._recreate()
            if not self._was_reset:
                return self._start_all(chosen, seeds)
            if self._mode is AutoresetMode.DISABLED:
                return self._start_some(chosen, seeds)
        except (Exception, SystemExit) as cause:
            self._age[chosen] = 0
            return self._raised("reset", cause)
        # With autoreset, an ended copy starts by itself; only a reset in mid-episode needs the vector.
        if not (self._over[chosen] | (self._age[chosen] == 0)).all():
            if len(chosen) < self.n_envs:
                raise EnvError(f"{self.name}: a vector implementation cannot reset single copies")
            return self._start_all(chosen, seeds)
        self._age[chosen] = 0
        if self._mode is not AutoresetMode.SAME_STEP:
            return ()
        # SAME_STEP has started these episodes already: show their first observations now.
        started = [copy for copy in chosen if self._over[copy]]
        self.obs[started], self._over[started] = self._next[started], False
        return self._faults(self._state.not_finite())

    def _start_all(self, chosen: list[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Resets the whole vector and returns the faults. `seeds` are those of the chosen copies; other
        copies get none, unless the vector takes a single seed for all."""
        obs, info = self._reset_vector(chosen, seeds, None)
        self._was_reset = True
        every = list(range(self.n_envs))
        self.history.forget(every)
        if self._seed_each:
            self.history.record_reset(chosen, seeds)
        else:  # one seed was given for the whole vector
            self.history.record_reset(every, [int(seeds[0])] * self.n_envs)
        self._over[:], self._age[:] = False, 0
        problems = self._state.write(obs) | self._state.record_masks(info, np.arange(self.n_envs))
        return self._faults(problems | self._state.not_finite())

    def _start_some(self, chosen: list[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Starts new episodes in some copies (DISABLED mode, with Gymnasium's `reset_mask`) and returns the
        faults. A copy gets its seed only if it was last seeded `seed_every` steps ago."""
        reset_mask = np.zeros(self.n_envs, dtype=bool)
        reset_mask[chosen] = True
        # Seeding may be expensive (ALE reloads the ROM), so a copy is seeded only every `seed_every` steps.
        due = {
            copy: seed
            for copy, seed in zip(chosen, seeds, strict=True)
            if self.history.steps_since_seed(copy) >= self._seed_every
        }
        obs, info = self._reset_vector(list(due), list(due.values()), reset_mask)
        if self._seed_each:
            self.history.record_reset(list(due), list(due.values()))
        else:
            self.history.forget(chosen)
        self._over[chosen], self._age[chosen] = False, 0
        problems = self._state.write(obs, chosen) | self._state.record_masks(info, np.array(chosen))
        return self._faults(problems | self._state.not_finite())

    def _reset_vector(
        self, chosen: list[int], seeds: Sequence[int], reset_mask: Array | None
    ) -> tuple[object, VectorInfo]:
        """Resets the vector and returns its observations and infos: with a seed per chosen copy if it accepts
        that, else with one seed for all. `reset_mask`: mask of the copies to reset, bool [N]; None for
        all."""
        options = {} if reset_mask is None else {"options": {"reset_mask": reset_mask}}
        if self._seed_each is not False:
            seed_of = dict(zip(chosen, seeds, strict=True))
            # Gymnasium declares int | None, although its own vectors accept a list.
            seed_per_copy: Any = [seed_of.get(copy) for copy in range(self.n_envs)]
            try:
                result = self._vector.reset(seed=seed_per_copy, **options)
                self._seed_each = True
                return result
            except (TypeError, ValueError, error.Error):
                # A vector does not declare whether it accepts a list of seeds: only trying shows it.
                if self._seed_each:
                    raise
                self._seed_each = False
        seed = int(seeds[0]) if reset_mask is None else None
        return self._vector.reset(seed=seed, **options)

    def _recreate(self) -> None:
        """Replaces the whole vector after a fault that its copies cannot recover from one by one."""
        with suppress(Exception):  # the vector is discarded anyway
            self._vector.close()
        self._vector, self._was_reset = self._make(), False
        self._broken = False

    # ---- faults ------------------------------------------------------------------------------

    def _raised(self, call: str, cause: BaseException) -> tuple[Fault, ...]:
        """Returns the faults of all copies for an exception, which does not say which copy caused it. `call`:
        the method that raised, for the message."""
        what = f"{call} of the whole vector raised {type(cause).__name__}: {cause}"
        self._broken = True
        text = "".join(traceback.format_exception(cause))
        return self._faults(dict.fromkeys(range(self.n_envs), what), text)

    def _faults(self, problems: Problems, text: str = "") -> tuple[Fault, ...]:
        """Returns the faults of the copies that have a problem; of all copies if the vector must be created
        again because of it. `text`: the traceback, if the vector raised."""
        if not problems:
            return ()
        # Only a vector without autoreset can reset the faulty copies and leave the others alone.
        can_reset_alone = self._mode is AutoresetMode.DISABLED and len(problems) < self.n_envs
        bystanders = set[int]()
        if not can_reset_alone:
            self._broken = True
            why = f"its vector is created again because of copy {min(problems)}"
            bystanders = set(range(self.n_envs)) - set(problems)
            problems = dict.fromkeys(range(self.n_envs), why) | problems
        self._state.blank(list(problems))
        self.history.forget(list(problems))
        ages, culprit = self._age.tolist(), min(problems.keys() - bystanders)
        return tuple(
            Fault(i, ages[i], what, text, caused_by=culprit if i in bystanders else None)
            for i, what in sorted(problems.items())
        )

    def _empty_step(self, faults: tuple[Fault, ...]) -> Step:
        """Returns a step in which nothing happened except these faults."""
        none, never = np.zeros(self.n_envs), np.zeros(self.n_envs, dtype=bool)
        return Step(self.obs, none, never, never, _NO_INFO * self.n_envs, faults=faults)


_NO_INFO: list[Info] = [{}]


def _mode_of(vector: VectorEnv, name: str) -> AutoresetMode:
    """Returns the declared autoreset mode. It cannot be guessed: a wrong one would mix up episodes."""
    mode = vector.metadata.get("autoreset_mode")
    try:
        return mode if isinstance(mode, AutoresetMode) else AutoresetMode(mode)
    except ValueError:
        what = f"{name}: its vector implementation does not declare an autoreset mode"
        fix = f'set metadata["autoreset_mode"], or {OTHER_BACKEND_FIX}'
        raise EnvError(what, fix=fix) from None


def _time_limit(vector: VectorEnv) -> int | None:
    """Returns the maximum number of steps per episode, as far as the vector or its spec declares it."""
    limit = getattr(
        vector, "time_limit", None
    )  # an attribute of our own adapters, such as EnvPool's
    if limit is not None or vector.spec is None:
        return limit
    return vector.spec.kwargs.get("max_episode_steps", vector.spec.max_episode_steps)
